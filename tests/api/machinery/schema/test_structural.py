"""Trees of custom resources."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery import decode
from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.schema.structural import compile_schema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "format": "int32", "default": 1},
                "port": {"x-kubernetes-int-or-string": True},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "inner": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
                "nothing": {"type": "string", "nullable": True},
            },
        },
    },
}


def test_a_structural_schema() -> None:
    root = compile_schema(SCHEMA, trees.load())
    spec = root.fields["spec"]
    assert not root.builtin
    assert root.fields["metadata"].builtin
    assert root.fields["metadata"].fields["labels"].kind == "map"
    assert (spec.fields["size"].kind, spec.fields["size"].default, spec.fields["size"].required) == ("integer", 1, True)
    assert spec.fields["port"].kind == "int-or-string"
    assert spec.fields["labels"].items is not None
    assert spec.fields["labels"].items.kind == "string"
    assert (spec.fields["parts"].list_type, spec.fields["parts"].list_keys) == ("map", ("name",))
    assert spec.fields["free"].preserve_unknown
    assert spec.fields["inner"].fields["metadata"].definition.endswith("ObjectMeta")
    assert spec.fields["nothing"].nullable
    assert spec.child("size") is spec.fields["size"]
    assert not spec.fields["parts"].atomic


def test_custom_objects_keep_zeros_and_their_metadata_is_canonical() -> None:
    root = compile_schema(SCHEMA, trees.load())
    body = b'{"metadata":{"name":"w","labels":{},"creationTimestamp":null},"spec":{"size":0,"nothing":null,"n":1.0},"odd":""}'
    found = decode.decode(body, "application/json", root, kind="Widget", api_version="demo.test/v1")
    assert found.obj == {
        "metadata": {"name": "w"},
        "spec": {"size": 0, "nothing": None, "n": 1},
        "odd": "",
        "kind": "Widget",
        "apiVersion": "demo.test/v1",
    }


def test_no_schema_keeps_everything() -> None:
    root = compile_schema(None, trees.load())
    assert root.preserve_unknown
    assert set(root.fields) == {"metadata", "kind", "apiVersion"}
