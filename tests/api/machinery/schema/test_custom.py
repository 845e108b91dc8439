"""Custom kinds as OpenAPI publishes them."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.schema import openapi, trees
from setpoint.api.machinery.schema.custom import Meta, published

Json = dict[str, Any]
META = Meta({"$ref": "ObjectMeta"}, {"$ref": "ListMeta"})
PRESERVE = "x-kubernetes-preserve-unknown-fields"


def newer(**field: Any) -> Any:
    return published({"type": "object", "properties": {"a": field}}, META, older=False)["properties"]["a"]


def older(**field: Any) -> Any:
    return published({"type": "object", "properties": {"a": field}}, META, older=True)["properties"]["a"]


def test_every_object_has_types_and_metadata() -> None:
    out = published({"type": "object", "description": "a widget"}, META, older=False)
    assert out["description"] == "a widget"
    assert set(out["properties"]) == {"apiVersion", "kind", "metadata"}
    assert out["properties"]["metadata"]["$ref"] == "ObjectMeta"
    assert published(None, META, older=False) == {"type": "object"}
    assert published({"type": "object", PRESERVE: True}, META, older=True) == {"type": "object"}


def test_version_3_says_all() -> None:
    schema = {"type": "integer", "minimum": 0, "default": 0, "nullable": True, "anyOf": [{"minimum": 1}]}
    assert newer(**schema) == schema
    both = [{"type": "integer"}, {"type": "string"}]
    assert newer(**{"x-kubernetes-int-or-string": True})["anyOf"] == both
    given = newer(**{"x-kubernetes-int-or-string": True, "anyOf": [{"minimum": 1}]})
    assert given["anyOf"] == [{"minimum": 1}]
    assert given["allOf"] == [{"anyOf": both}]
    assert newer(type="string", example="x") == {"type": "string"}


def test_version_2_leaves_out_what_it_cannot_say() -> None:
    assert older(type="string", oneOf=[{"minLength": 1}], **{"not": {"pattern": "x"}}) == {"type": "string"}
    assert older(type="object", nullable=True, properties={"b": {"type": "string"}}) == {}
    assert older(type="object", properties={"b": {"type": "string"}}, **{PRESERVE: True}) == {PRESERVE: True}
    assert older(type="array", items={"type": "string"}, **{PRESERVE: True}) == {PRESERVE: True}
    schema: Json = {"type": "object", "required": ["b", "c"], "properties": {"b": {"type": "string", "nullable": True}}}
    assert older(**schema)["required"] == ["c"]


def test_embedded_resources_have_metadata() -> None:
    schema: Json = {"type": "object", "properties": {"spec": {"type": "string"}}, "x-kubernetes-embedded-resource": True}
    assert newer(**schema)["required"] == ["kind", "apiVersion"]
    assert set(newer(**schema)["properties"]) == {"spec", "apiVersion", "kind", "metadata"}
    assert set(older(**schema)["properties"]) == {"spec", "apiVersion", "kind", "metadata"}


def test_documents_name_kind_and_list_kind() -> None:
    resource = openapi.Published(
        group="demo-x.test",
        version="v1",
        plural="widgets",
        kind="Widget",
        namespaced=True,
        verbs=("get", "list", "watch", "create"),
        definition="test.demo-x.v1.Widget",
        schema={"type": "object", "properties": {"spec": {"type": "string"}}},
        list_kind="WidgetPile",
    )
    document = openapi.document_v3(trees.load(), [resource])
    schemas, get = document["components"]["schemas"], document["paths"]["/apis/demo-x.test/v1/widgets"]["get"]
    assert schemas["test.demo-x.v1.WidgetPile"]["x-kubernetes-group-version-kind"] == [
        {"group": "demo-x.test", "kind": "WidgetPile", "version": "v1"}
    ]
    assert schemas["test.demo-x.v1.Widget"]["properties"]["metadata"]["allOf"]
    assert get["operationId"] == "listDemoXTestV1WidgetForAllNamespaces"
    assert list(get["responses"]["200"]["content"]) == ["application/json", "application/yaml"]
    assert not any("/watch/" in path for path in document["paths"])
    older = openapi.document_v2(trees.load(), [resource])
    assert older["definitions"]["test.demo-x.v1.WidgetPile"]["required"] == ["items"]
