"""What the expressions of webhooks and admission policies may mention.

What `object`, `oldObject` and `params` are is known only when a request comes, so they fit everywhere, unless their types are
given.
Sources: apiserver `pkg/admission/plugin/cel/compile.go`, `composition.go`, `pkg/admission/plugin/policy/mutating/patch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

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
    """What the expressions of one configuration may mention; a policy's variables join one after the other.

    `known` are the types of `object`, `oldObject` and `params`, where they are known.
    """

    def __init__(self, *, params: bool = False, variables: bool = False, known: Mapping[str, Type] | None = None) -> None:
        self._params = params
        self._variables: dict[str, Type] | None = {} if variables else None
        self._known = known or {}

    def type_of(self, text: str, *, authorizer: bool = True) -> Type:
        """The type of an expression. Raises CompileError."""
        from setpoint.api.machinery.cel.checker import check
        from setpoint.api.machinery.cel.parser import parse

        return check(text, parse(text), self.names(authorizer=authorizer), _constructed)

    def add(self, name: str, text: str) -> None:
        """Let the expressions after it use a variable. Raises CompileError; then it fits everywhere."""
        from setpoint.api.machinery.cel.types import DYN

        found = DYN
        try:
            found = self.type_of(text)
            if not self._known:
                found = _plain(found)
        finally:
            if self._variables is not None:
                self._variables[name] = found

    def compile(self, text: str, *, authorizer: bool = True) -> Expression:
        """The expression, ready to run. Raises CompileError."""
        from setpoint.api.machinery import cel

        return cel.compile_expression(text, self.names(authorizer=authorizer), _constructed)

    def names(self, *, authorizer: bool = True) -> Mapping[str, Type]:
        """Every variable with its type, in the order in which an evaluation gets their values."""
        from setpoint.api.machinery.cel.types import DYN, ObjectScope, Type, object_type

        names = {
            "object": self._known.get("object", DYN),
            "oldObject": self._known.get("oldObject", DYN),
            "request": _object("kubernetes.AdmissionRequest"),
            "namespaceObject": _object("kubernetes.Namespace"),
        }
        if self._params:
            names["params"] = self._known.get("params", DYN)
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
