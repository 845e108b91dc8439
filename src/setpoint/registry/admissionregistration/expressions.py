"""The expressions of webhooks and policies, checked for their types before they are stored.

What `object`, `oldObject` and `params` are is known only when a request comes, so they fit everywhere here.
Sources: Kubernetes' `pkg/apis/admissionregistration/validation`, apiserver `pkg/admission/plugin/cel/compile.go` and
`pkg/admission/plugin/policy/mutating/patch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import invalid
from setpoint.registry.fields import Errors

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.api.machinery.cel.types import Type

#: object types: their fields as `name: type`, where a type may be another object's name
_OBJECTS = {
    "kubernetes.GroupVersionKind": "group: string, version: string, kind: string",
    "kubernetes.GroupVersionResource": "group: string, version: string, resource: string",
    "kubernetes.UserInfo": "username: string, uid: string, groups: list(string), extra: map(string; list(string))",
    "kubernetes.AdmissionRequest": (
        "kind: kubernetes.GroupVersionKind, resource: kubernetes.GroupVersionResource, subResource: string,"
        " requestKind: kubernetes.GroupVersionKind, requestResource: kubernetes.GroupVersionResource,"
        " requestSubResource: string, name: string, namespace: string, operation: string,"
        " userInfo: kubernetes.UserInfo, dryRun: bool, options: dyn"
    ),
    "kubernetes.NamespaceMetadata": (
        "name: string, generateName: string, namespace: string, labels: map(string; string), annotations: map(string; string),"
        " UID: string, creationTimestamp: timestamp, deletionGracePeriodSeconds: int, deletionTimestamp: timestamp,"
        " generation: int, resourceVersion: string, finalizers: list(string)"
    ),
    "kubernetes.NamespaceSpec": "finalizers: list(string)",
    "kubernetes.NamespaceStatus": "phase: string",
    "kubernetes.Namespace": (
        "metadata: kubernetes.NamespaceMetadata, spec: kubernetes.NamespaceSpec, status: kubernetes.NamespaceStatus"
    ),
    "JSONPatch": "op: string, path: string, from: string, value: dyn",
}
_AUTHORIZER = "kubernetes.authorization.Authorizer"


class Environment:
    """What the expressions of one configuration may mention; a policy's variables join one after the other."""

    def __init__(self, *, params: bool = False, variables: bool = False) -> None:
        self._params = params
        self._variables: dict[str, Type] | None = {} if variables else None

    def complaints(self, path: str, text: str, *results: str, authorizer: bool = True) -> Errors:
        """What is wrong with an expression that must evaluate to one of the types named."""
        from setpoint.api.machinery.cel.source import CompileError

        try:
            found = self._type(text, authorizer=authorizer)
        except CompileError as error:
            return [invalid(path, text, f"compilation failed: {error}")]
        kind = "null_type" if found.name == "null" else str(found)
        if kind in results:
            return []
        wanted = results[0] if len(results) == 1 else f"one of [{' '.join(results)}]"
        return [invalid(path, text, f"must evaluate to {wanted} but got {kind}")]

    def define(self, path: str, name: str, text: str) -> Errors:
        """Check a variable and let the expressions after it use it, whatever is wrong with it."""
        from setpoint.api.machinery.cel.source import CompileError
        from setpoint.api.machinery.cel.types import DYN

        errors: Errors = []
        known = DYN
        try:
            known = _plain(self._type(text, authorizer=True))
        except CompileError as error:
            errors = [invalid(path, text, f"compilation failed: {error}")]
        if self._variables is not None:
            self._variables[name] = known
        return errors

    def names(self, *, authorizer: bool = True) -> Mapping[str, Type]:
        """Every variable with its type, in the order in which an evaluation gets their values."""
        return self._names(authorizer=authorizer)

    def compile(self, text: str, *, authorizer: bool = True) -> Expression:
        """The expression, ready to run. Raises CompileError."""
        from setpoint.api.machinery import cel

        return cel.compile_expression(text, self._names(authorizer=authorizer), _constructed)

    def _type(self, text: str, *, authorizer: bool) -> Type:
        from setpoint.api.machinery.cel.checker import check
        from setpoint.api.machinery.cel.parser import parse

        return check(text, parse(text), self._names(authorizer=authorizer), _constructed)

    def _names(self, *, authorizer: bool) -> Mapping[str, Type]:
        from setpoint.api.machinery.cel.types import DYN, ObjectScope, Type, object_type

        names = {
            "object": DYN,
            "oldObject": DYN,
            "request": _object("kubernetes.AdmissionRequest"),
            "namespaceObject": _object("kubernetes.Namespace"),
        }
        if self._params:
            names["params"] = DYN
        if authorizer:
            names["authorizer"] = Type(_AUTHORIZER)
            names["authorizer.requestResource"] = Type("kubernetes.authorization.ResourceCheck")
        if self._variables is not None:
            names["variables"] = object_type(ObjectScope("kubernetes.variables", dict(self._variables), nulls=True))
        return names


@cache
def _object(name: str) -> Type:
    from setpoint.api.machinery.cel.types import ObjectScope, object_type

    fields = dict(field.split(": ") for field in _OBJECTS[name].split(", "))
    return object_type(ObjectScope(name, {field: _field(kind) for field, kind in fields.items()}))


def _field(kind: str) -> Type:
    from setpoint.api.machinery.cel.types import parse_type

    return _object(kind) if kind in _OBJECTS else parse_type(kind.replace(";", ","))


def _plain(found: Type) -> Type:
    """Objects lose their type in a variable; lists and maps keep those of their items."""
    from setpoint.api.machinery.cel.types import DYN, Type

    if found.name in {"list", "map"}:
        return Type(found.name, tuple(map(_plain, found.params)))
    return DYN if found.params or found.scope is not None or "." in found.name else found


class _AnyField(Mapping[str, Any]):
    """The fields of objects whose schema nobody knows."""

    def __getitem__(self, key: str) -> Any:
        from setpoint.api.machinery.cel.types import DYN

        return DYN

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@cache
def _constructed(name: str) -> Type | None:
    """`Object`, `Object.spec`, … of apply configurations, and the operations of JSON patches."""
    from setpoint.api.machinery.cel.types import ObjectScope, object_type

    if name == "JSONPatch":
        return _object(name)
    known = name == "Object" or name.startswith("Object.")
    return object_type(ObjectScope(name, _AnyField())) if known else None
