"""Definitions and operations in the two dialects of OpenAPI.

Both are written from the rows of a pack (`hatch_build.py` documents them). They differ in where references and bodies stand,
in how a referenced field is documented (v3 wraps the reference), and in int-or-string and quantities, which v2 can only call
strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from setpoint.api.machinery.schema import custom
from setpoint.api.machinery.schema.parameters import Parameter
from setpoint.api.machinery.schema.trees import Pack

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_SCALARS: dict[str, dict[str, Any]] = {
    "s": {"type": "string"},
    "i": {"type": "integer", "format": "int32"},
    "l": {"type": "integer", "format": "int64"},
    "b": {"type": "boolean"},
    "d": {"type": "number", "format": "double"},
    "y": {"type": "string", "format": "byte"},
    "t": {"type": "string", "format": "date-time"},
    "T": {"type": "string", "format": "date-time"},
    "a": {"type": "object"},
    "A": {},
    "B": {},
    "S": {},
}
_TAGS = {
    "lt": "x-kubernetes-list-type",
    "lk": "x-kubernetes-list-map-keys",
    "ps": "x-kubernetes-patch-strategy",
    "mk": "x-kubernetes-patch-merge-key",
    "mt": "x-kubernetes-map-type",
}
#: definitions that stand for any JSON, of which the published form says no type
_ANYTHING = {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"}


class Custom(Protocol):
    """What is needed to know of a kind that no pack defines."""

    @property
    def group(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def definition(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def list_kind(self) -> str: ...
    @property
    def schema(self) -> Mapping[str, Any] | None: ...


class Dialect:
    """Version 3; version 2 overrides what differs."""

    refs = "#/components/schemas/"
    scalars: Mapping[str, dict[str, Any]] = _SCALARS | {
        "q": {"oneOf": [{"type": "string"}, {"type": "number"}]},
        "I": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    }

    def field_ref(self, ref: dict[str, Any]) -> dict[str, Any]:
        """A reference in a place that has a description of its own."""
        return {"allOf": [ref]}

    def parameter(self, known: Parameter) -> dict[str, Any]:
        out: dict[str, Any] = {"name": known.name, "in": known.place, "description": known.description}
        if known.place == "path":
            out["required"] = True
        return out | {"schema": {"type": known.type, "uniqueItems": True}}

    def complete(
        self,
        operation: dict[str, Any],
        known: list[dict[str, Any]],
        body: dict[str, Any] | None,
        consumed: Sequence[str],
        answers: Mapping[str, dict[str, Any]],
        produced: Sequence[str],
    ) -> None:
        """Adds parameters, the body and the answers to an operation."""
        if known:
            operation["parameters"] = known
        if body:
            operation["requestBody"] = {"content": {media: {"schema": body} for media in consumed}, "required": True}
        operation["responses"] = {
            code: {"description": _REASONS[code], "content": {media: {"schema": schema} for media in produced}}
            for code, schema in answers.items()
        } | {"401": {"description": "Unauthorized"}}


class _Older(Dialect):
    refs = "#/definitions/"
    scalars = _SCALARS | {"q": {"type": "string"}, "I": {"type": "string", "format": "int-or-string"}}

    def field_ref(self, ref: dict[str, Any]) -> dict[str, Any]:
        return ref

    def parameter(self, known: Parameter) -> dict[str, Any]:
        out: dict[str, Any] = {"name": known.name, "in": known.place, "description": known.description}
        if known.place == "path":
            out["required"] = True
        return out | {"type": known.type, "uniqueItems": True}

    def complete(
        self,
        operation: dict[str, Any],
        known: list[dict[str, Any]],
        body: dict[str, Any] | None,
        consumed: Sequence[str],
        answers: Mapping[str, dict[str, Any]],
        produced: Sequence[str],
    ) -> None:
        if body:
            known = [{"name": "body", "in": "body", "required": True, "schema": body}, *known]
        operation |= {"consumes": list(consumed), "produces": list(produced), "schemes": ["https"]}
        if known:
            operation["parameters"] = known
        operation["responses"] = {code: {"description": _REASONS[code], "schema": schema} for code, schema in answers.items()} | {
            "401": {"description": "Unauthorized"}
        }


_REASONS = {"200": "OK", "201": "Created", "202": "Accepted"}
V3: Dialect = Dialect()
V2: Dialect = _Older()


class Schemas:
    """The definitions that a document needs, gathered as they are referred to."""

    def __init__(self, pack: Pack, dialect: Dialect, custom: Mapping[str, Custom]) -> None:
        self.pack = pack
        self.dialect = dialect
        self.custom = custom
        self._written: dict[str, dict[str, Any]] = {}
        self._makers: dict[str, Callable[[], dict[str, Any]]] = {}

    def ref(self, definition: str) -> dict[str, Any]:
        """A reference; what it refers to will be in the document."""
        if definition not in self._written:
            self._written[definition] = {}
            self._written[definition] = self._write(definition)
        return {"$ref": self.dialect.refs + definition}

    def finished(self) -> dict[str, Any]:
        return dict(sorted(self._written.items()))

    def list_of(self, resource: Custom) -> str:
        """The definition of a resource's collection; made here for custom kinds."""
        name = resource.definition + "List"
        if resource.schema is not None and resource.list_kind:
            name = f"{resource.definition.rpartition('.')[0]}.{resource.list_kind}"
        if name not in self.pack.definitions and name not in self._makers:
            self._makers[name] = lambda: self._custom_list(resource)
        return name

    def _write(self, definition: str) -> dict[str, Any]:
        if definition in self._makers:
            return self._makers[definition]()
        if definition in self.custom:
            return self._custom(self.custom[definition])
        facts = self.pack.definitions.get(definition)
        if facts is None:
            return {"type": "object"}
        out: dict[str, Any] = {}
        if text := self.pack.descriptions.of(definition):
            out["description"] = text
        out |= (
            {} if definition in _ANYTHING else self._struct(definition, facts) if "as" not in facts else self._type(facts["as"])
        )
        if "map" in facts:
            out["x-kubernetes-map-type"] = facts["map"]
        if kinds := facts.get("gvk"):
            out["x-kubernetes-group-version-kind"] = [_kind(*kind) for kind in kinds]
        return out

    def _struct(self, definition: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: self._field(definition, name, row) for name, row in facts.get("f", {}).items()}
        required = sorted(name for name, row in facts.get("f", {}).items() if len(row) > 1 and "r" in row[1])
        out: dict[str, Any] = {"type": "object"}
        if required:
            out["required"] = required
        return out | ({"properties": fields} if fields else {})

    def _field(self, definition: str, name: str, row: Sequence[Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if text := self.pack.descriptions.of_field(definition, name):
            out["description"] = text
        found = self._type(row[0])
        out |= self.dialect.field_ref(found) if "$ref" in found else found
        more = row[2] if len(row) > 2 else {}
        return out | {tag: more[key] for key, tag in _TAGS.items() if key in more}

    def _type(self, text: str) -> dict[str, Any]:
        if text[0] == "@":
            return self.ref(text[1:])
        if text[0] == "[":
            return {"type": "array", "items": self._type(text[1:])}
        if text[0] == "{":
            return {"type": "object", "additionalProperties": self._type(text[1:])}
        return dict(self.dialect.scalars[text])

    def _custom(self, kind: Custom) -> dict[str, Any]:
        """A custom kind's own schema, with the fields that every object has."""
        out = custom.published(kind.schema, self._meta(), older=self.dialect is V2)
        return out | {"x-kubernetes-group-version-kind": [_kind(kind.group, kind.version, kind.kind)]}

    def _custom_list(self, kind: Custom) -> dict[str, Any]:
        list_kind = kind.list_kind or kind.kind + "List"
        out = custom.published_list(kind.kind, list_kind, kind.plural, self.ref(kind.definition), self._meta())
        return out | {"x-kubernetes-group-version-kind": [_kind(kind.group, kind.version, list_kind)]}

    def _meta(self) -> custom.Meta:
        object_meta, list_meta = (self.dialect.field_ref(self.ref(_META + name)) for name in ("ObjectMeta", "ListMeta"))
        described = (self.pack.descriptions.of_field(_META + "Status", name) for name in ("apiVersion", "kind"))
        return custom.Meta(object_meta, list_meta, *described)


def _kind(group: str, version: str, kind: str) -> dict[str, str]:
    return {"group": group, "kind": kind, "version": version}
