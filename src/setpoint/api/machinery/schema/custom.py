"""Custom kinds as OpenAPI publishes them: their own schema, with what every object has.

Version 3 says all of it; where a value may be an integer or a string, that is spelt out. Version 2 leaves out what it cannot say,
and what would make kubectl refuse objects that are good: alternatives, nullable fields, and the fields of objects that keep what
they do not know. Schemas are those of a definition that was accepted, and are not changed. Source: apiextensions-apiserver
`pkg/controller/openapi/builder`, `pkg/controller/openapi/v2/conversion.go`, `pkg/apiserver/schema/unfold.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Schema = Mapping[str, Any]
Written = dict[str, Any]

_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_IOS = "x-kubernetes-int-or-string"
_LISTS = ("allOf", "anyOf", "oneOf")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_API_VERSION = (
    "apiVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to"
    f" the latest internal value, and may reject unrecognized values. More info: {_CONVENTIONS}#resources"
)
_KIND = (
    "kind is a string value representing the type of this object. Servers may infer this from the endpoint the client submits"
    f" requests to. Cannot be updated. In CamelCase. More info: {_CONVENTIONS}#types-kinds"
)


class Meta(Struct, frozen=True):
    """The references to ObjectMeta and ListMeta and the descriptions of TypeMeta's fields, in a dialect's form."""

    object_meta: Written
    list_meta: Written
    api_version: str = _API_VERSION
    kind: str = _KIND

    def types(self) -> Written:
        return {
            "apiVersion": {"description": self.api_version, "type": "string"},
            "kind": {"description": self.kind, "type": "string"},
        }

    def metadata(self) -> Written:
        return {"description": f"Standard object's metadata. More info: {_CONVENTIONS}#metadata", **self.object_meta}


def published(schema: Schema | None, meta: Meta, *, older: bool) -> Written:
    """The definition of a kind, without its group, version and kind; `older` for version 2.

    Without known fields nothing is said, not even metadata: kubectl would take all else for unknown.
    """
    if not schema or (older and schema.get(_PRESERVE)):
        return {"type": "object"}
    out = _older(schema, meta) if older else _newer(schema, meta)
    out["properties"] = {**(out.get("properties") or {}), **meta.types(), "metadata": meta.metadata()}
    return out


def published_list(kind: str, list_kind: str, plural: str, item: Written, meta: Meta) -> Written:
    """The definition of a collection, without its group, version and kind."""
    return {
        "description": f"{list_kind} is a list of {kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **meta.types(),
            "items": {"description": f"List of {plural}. More info: {_CONVENTIONS}", "type": "array", "items": item},
            "metadata": {
                "description": f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds",
                **meta.list_meta,
            },
        },
    }


def _kept(schema: Schema) -> Written:
    """What is set, but examples."""
    return {
        key: value
        for key, value in schema.items()
        if value is not None and key != "example" and (key == "default" or (value is not False and value != ""))
    }


def _newer(schema: Schema, meta: Meta) -> Written:
    out = _kept(schema)
    if isinstance(items := out.get("items"), Mapping):
        out["items"] = _newer(items, meta)
    if isinstance(values := out.get("additionalProperties"), Mapping):
        out["additionalProperties"] = _newer(values, meta)
    if known := out.get("properties"):
        out["properties"] = {name: _newer(field, meta) for name, field in known.items()}
    if out.get(_IOS):
        _unfold(out)
    return _embedded(out, meta)


def _unfold(out: Written) -> None:
    """An integer or a string, in the words of OpenAPI."""
    if out.get("anyOf") == _INT_OR_STRING or ((out.get("allOf") or [{}])[0].get("anyOf") == _INT_OR_STRING):
        return
    if out.get("anyOf"):
        out["allOf"] = [{"anyOf": _INT_OR_STRING}, *(out.get("allOf") or ())]
    else:
        out["anyOf"] = _INT_OR_STRING


def _older(schema: Schema, meta: Meta) -> Written:
    out = {key: value for key, value in _kept(schema).items() if key not in {*_LISTS, "not", "nullable"}}
    if schema.get("nullable"):
        for key in ("type", "items", "properties"):
            out.pop(key, None)
    if schema.get(_PRESERVE):
        out.pop("items", None)
        out.pop("properties", None)
        if out.get("type") == "object":
            del out["type"]
    if out.get("type") == "array" and "items" not in out:
        del out["type"]
    _required(out)
    if isinstance(items := out.get("items"), Mapping):
        out["items"] = _older(items, meta)
    if isinstance(values := out.get("additionalProperties"), Mapping):
        out["additionalProperties"] = _older(values, meta)
    if known := out.get("properties"):
        out["properties"] = {name: _older(field, meta) for name, field in known.items()}
    return out if out.get(_PRESERVE) else _embedded(out, meta)


def _required(out: Written) -> None:
    """Fields that may be null may seem absent to clients of version 2."""
    known, values = out.get("properties") or {}, out.get("additionalProperties")
    if "required" not in out:
        return
    names = [name for name in out["required"] if not (known.get(name) or {}).get("nullable")]
    if not names or (isinstance(values, Mapping) and values.get("nullable")):
        del out["required"]
    else:
        out["required"] = names


def _embedded(out: Written, meta: Meta) -> Written:
    if not out.get(_EMBEDDED):
        return out
    more = {"apiVersion": _API_VERSION, "kind": _KIND}
    fields: Written = {name: {"description": text, "type": "string"} for name, text in more.items()}
    out["properties"] = {**(out.get("properties") or {}), **fields, "metadata": meta.metadata()}
    needed = list(out.get("required") or ())
    out["required"] = needed + [name for name in ("kind", "apiVersion") if name not in needed]
    return out
