"""A node of a schema tree: what one field holds.

Worked example, `spec` of a Pod: kind `object`, fields `containers`, `volumes` …; `fields["containers"]` is kind `list` with
list_type `map`, list_keys `("name",)`, merge_key `name`, whose `items` is the object node of a Container. Trees of recursive
types (JSONSchemaProps) are endless and therefore made as they are walked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Fields = Mapping[str, "Node"]


class Node:
    """One field, list item or map value, with its place's facts (presence, list kind, patch tags) and its type's.

    `kind` is object, list, map, string, integer, number, boolean, int-or-string, quantity, time, micro-time, bytes, or any
    (JSON that nobody looks into). `fields` belongs to objects (empty for the others), `items` to lists and maps. `go` is the
    type as Kubernetes' messages print it. `builtin` says which rules of presence hold: a Go struct's (pointer, always,
    omitzero) or a structural schema's (nullable, default, preserve_unknown, validations in `schema`). `choices` are the forms
    that a field takes besides free JSON: a schema that may also be a boolean or a list (`"object"`, `"list"` → node).
    """

    __slots__ = (
        "_fields",
        "_make_fields",
        "always",
        "builtin",
        "choices",
        "default",
        "definition",
        "embedded",
        "format",
        "go",
        "items",
        "kind",
        "list_keys",
        "list_type",
        "map_type",
        "merge_key",
        "nullable",
        "omitzero",
        "patch_strategy",
        "pointer",
        "preserve_unknown",
        "required",
        "schema",
    )

    def __init__(self, kind: str, *, go: str = "", definition: str = "", builtin: bool = True) -> None:
        self.kind = kind
        self.go = go
        self.definition = definition
        self.builtin = builtin
        self.items: Node | None = None
        self.choices: Fields = {}
        self.list_type = "atomic" if kind == "list" else ""
        self.list_keys: tuple[str, ...] = ()
        self.map_type = ""
        self.patch_strategy = ""
        self.merge_key = ""
        self.required = False
        self.pointer = False
        self.always = False
        self.omitzero = False
        self.nullable = False
        self.default: Any = None
        self.preserve_unknown = False
        self.embedded = False
        self.format = ""
        self.schema: Mapping[str, Any] = {}
        self._fields: Fields | None = None
        self._make_fields: Callable[[], Fields] | None = None

    @property
    def fields(self) -> Fields:
        """The fields of an object by their JSON name; made when first asked for."""
        found = self._fields
        if found is None:
            found = self._fields = self._make_fields() if self._make_fields else {}
        return found

    def child(self, name: str) -> Node | None:
        """The node below: a field of an object, the value of a map."""
        return self.items if self.kind == "map" else self.fields.get(name)

    @property
    def atomic(self) -> bool:
        """Whether server-side apply owns it as one whole."""
        if self.kind == "list":
            return self.list_type == "atomic"
        return self.kind not in {"object", "map"} or self.map_type == "atomic"

    def lazily(self, make: Callable[[], Fields]) -> Node:
        """The same node, with fields that `make` gives when they are first asked for."""
        self._make_fields = make
        self._fields = None
        return self

    def __repr__(self) -> str:
        return f"<Node {self.kind} {self.definition or self.go}>"
