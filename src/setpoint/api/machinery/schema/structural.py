"""Trees of custom resources, from the structural schema of a CustomResourceDefinition.

`compile_schema(schema, pack)` reads `openAPIV3Schema` of one version. At the root, and wherever `x-kubernetes-embedded-resource`
stands, `metadata` is the built-in ObjectMeta; `kind` and `apiVersion` are strings. Everything else follows the schema:
nullable, defaults, list kinds, unknown fields kept or pruned. Validations stay in `Node.schema` for those who check them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.schema.node import Fields, Node
from setpoint.api.machinery.schema.trees import Pack

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_KINDS = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "array": "list"}
_GO = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


def compile_schema(schema: Mapping[str, Any] | None, pack: Pack) -> Node:
    """The tree of a custom resource; without a schema everything is kept as it comes."""
    root = _compile(schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, pack)
    if root.kind != "object":
        root = _object(root.schema, pack)
    root.embedded = True
    return root


def _compile(schema: Mapping[str, Any], pack: Pack) -> Node:
    node = _of_type(schema, pack)
    node.nullable = bool(schema.get("nullable"))
    node.default = schema.get("default")
    node.preserve_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    node.format = str(schema.get("format") or "")
    node.map_type = str(schema.get("x-kubernetes-map-type") or "")
    node.schema = schema
    if node.kind == "list":
        node.list_type = str(schema.get("x-kubernetes-list-type") or "atomic")
        node.list_keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    return node


def _of_type(schema: Mapping[str, Any], pack: Pack) -> Node:
    if schema.get("x-kubernetes-int-or-string"):
        return Node("int-or-string", go="intstr.IntOrString", builtin=False)
    kind = schema.get("type")
    if kind == "object" or schema.get("x-kubernetes-embedded-resource"):
        return _of_object(schema, pack)
    if kind == "array":
        node = Node("list", go="[]interface {}", builtin=False)
        node.items = _compile(schema.get("items") or {}, pack)
        return node
    if kind in _KINDS:
        return Node(_KINDS[kind], go=_GO[kind], builtin=False)
    return Node("any", builtin=False)


def _of_object(schema: Mapping[str, Any], pack: Pack) -> Node:
    values = schema.get("additionalProperties")
    if values and not schema.get("properties") and not schema.get("x-kubernetes-embedded-resource"):
        node = Node("map", go="map[string]interface {}", builtin=False)
        node.items = _compile(values if isinstance(values, Mapping) else {}, pack)
        return node
    return _object(schema, pack)


def _object(schema: Mapping[str, Any], pack: Pack) -> Node:
    node = Node("object", go="map[string]interface {}", builtin=False)
    node.schema = schema
    node.embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    return node.lazily(lambda: _fields(node, schema, pack))


def _fields(node: Node, schema: Mapping[str, Any], pack: Pack) -> Fields:
    required = set(schema.get("required") or ())
    fields = {name: _compile(field, pack) for name, field in (schema.get("properties") or {}).items()}
    for name, field in fields.items():
        field.required = name in required
    if node.embedded:
        fields["metadata"] = _metadata(pack)
        for name in ("kind", "apiVersion"):
            fields.setdefault(name, Node("string", go="string", builtin=False))
    return fields


def _metadata(pack: Pack) -> Node:
    """ObjectMeta with the presence of a struct by value."""
    shared = pack.tree(_META)
    node = Node("object", go=shared.go, definition=shared.definition)
    return node.lazily(lambda: shared.fields)
