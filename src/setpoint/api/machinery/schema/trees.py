"""Schema trees of the built-in kinds, made lazily from the pack of one Kubernetes minor.

`load("1.36").tree("io.k8s.api.core.v1.Pod")`. The packs are made at build time (`hatch_build.py`, which documents their format).
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from setpoint.api.machinery.schema.node import Fields, Node

#: type characters of a pack → kind, format, Go type
_SCALARS = {
    "s": ("string", "", "string"),
    "i": ("integer", "int32", "int32"),
    "l": ("integer", "int64", "int64"),
    "b": ("boolean", "", "bool"),
    "d": ("number", "double", "float64"),
    "y": ("bytes", "byte", "[]uint8"),
    "q": ("quantity", "", "resource.Quantity"),
    "I": ("int-or-string", "", "intstr.IntOrString"),
    "t": ("time", "date-time", "v1.Time"),
    "T": ("micro-time", "date-time", "v1.MicroTime"),
    "a": ("any", "", ""),
}
_PACKS = Path(__file__).parent / "packs"
#: the one recursive type
SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class PackMissing(FileNotFoundError):
    """No pack of this minor: the package was neither built nor installed, or the minor is unknown."""


@functools.cache
def load(minor: str = "1.36") -> Pack:
    """The facts of one minor. Costs a few milliseconds; trees are made as they are asked for."""
    return Pack(minor, _read(f"{minor}.pack", zlib.decompress)["definitions"])


def minors() -> tuple[str, ...]:
    """The minors that have a pack, oldest first."""
    names = (file.stem for file in _PACKS.glob("1.*.pack"))
    return tuple(sorted(names, key=lambda name: int(name.partition(".")[2])))


def _read(name: str, decompress: Callable[[bytes], bytes]) -> Any:
    try:
        data = (_PACKS / name).read_bytes()
    except FileNotFoundError as error:
        raise PackMissing(f"no schema pack {name}: install the package, or run `python hatch_build.py`") from error
    return orjson.loads(decompress(data))


def go_name(definition: str) -> str:
    """`v1.PodSpec`: a definition as Go prints the type."""
    package, _, name = definition.rpartition(".")
    return f"{package.rpartition('.')[2]}.{name}"


class Pack:
    """The definitions of one minor and the trees made from them."""

    def __init__(self, minor: str, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self.minor = minor
        self.definitions = definitions
        self._trees: dict[str, Node] = {}
        self._fields: dict[str, Fields] = {}
        self._kinds: dict[tuple[str, str, str], str] = {}

    def tree(self, definition: str) -> Node:
        """The tree of a definition, always the same object. KeyError if this minor has none of that name."""
        found = self._trees.get(definition)
        if found is None:
            found = self._trees[definition] = self._of_definition(definition)
        return found

    def definition_of(self, group: str, version: str, kind: str) -> str | None:
        """The definition of a kind, as `x-kubernetes-group-version-kind` names it."""
        if not self._kinds:
            self._kinds.update((gvk, name) for name, gvk in self._all_kinds())
        return self._kinds.get((group, version, kind))

    def _all_kinds(self) -> Iterator[tuple[str, tuple[str, str, str]]]:
        for name, definition in self.definitions.items():
            for group, version, kind in definition.get("gvk", ()):
                yield name, (group, version, kind)

    def fields_of(self, definition: str) -> Fields:
        """The fields of a struct, each with the facts of its place."""
        found = self._fields.get(definition)
        if found is None:
            rows = self.definitions[definition].get("f", {})
            found = self._fields[definition] = {name: self._field(row) for name, row in rows.items()}
        return found

    def _field(self, row: list[Any]) -> Node:
        node = self._of_type(row[0])
        flags = row[1] if len(row) > 1 else ""
        node.required = "r" in flags
        node.always = "a" in flags
        node.pointer = "*" in flags
        node.omitzero = "0" in flags
        more = row[2] if len(row) > 2 else {}
        node.go = more.get("go", node.go)
        if node.go.startswith("[]") and node.items is not None and "go" in more:
            node.items.go = node.go[2:]
        node.patch_strategy = more.get("ps", "")
        node.merge_key = more.get("mk", "")
        node.map_type = more.get("mt", node.map_type)
        if node.kind == "list":
            node.list_keys = tuple(more.get("lk", ()))
            node.list_type = more.get("lt") or _list_type_of_patch(node)
        return node

    def _of_type(self, text: str) -> Node:
        if text[0] == "@":
            return self._of_definition(text[1:])
        if text[0] in "[{":
            items = self._of_type(text[1:])
            listed = text[0] == "["
            node = Node("list" if listed else "map", go=("[]" if listed else "map[string]") + items.go)
            node.items = items
            return node
        if text in _SCALARS:
            kind, form, go = _SCALARS[text]
            node = Node(kind, go=go)
            node.format = form
            return node
        return self._of_choice(text)

    def _of_choice(self, text: str) -> Node:
        """`B`, `A`, `S`: a JSON schema, or a boolean, a list of schemas, a list of names."""
        node = Node("any")
        node.format = text
        schema = self.tree(SCHEMA)
        node.choices = {"object": schema}
        if text == "A":
            schemas = Node("list", go="[]v1.JSONSchemaProps")
            schemas.items = schema
            node.choices = {"object": schema, "list": schemas}
        return node

    def _of_definition(self, definition: str) -> Node:
        facts = self.definitions[definition]
        if "as" in facts:
            node = self._of_type(facts["as"])
            node.go = go_name(definition)
        else:
            node = Node("object", go=go_name(definition))
            node.lazily(functools.partial(self.fields_of, definition))
        node.definition = definition
        node.map_type = facts.get("map", "")
        return node

    @functools.cached_property
    def descriptions(self) -> Descriptions:
        """The texts of this minor; reading them takes tens of milliseconds."""
        return Descriptions(self.minor)


class Stored:
    """A minor's trees; those that it lacks and objects are stored in (a newer version of the kind) are the default minor's."""

    def __init__(self, minor: str) -> None:
        self._own = load(minor)

    def tree(self, definition: str) -> Node:
        """As `Pack.tree`."""
        try:
            return self._own.tree(definition)
        except KeyError:
            return load().tree(definition)


def _list_type_of_patch(node: Node) -> str:
    """Lists of older minors have only patch tags; apply reads those as Kubernetes does (a merge key is the map's only key)."""
    if "merge" not in node.patch_strategy:
        return "atomic"
    if node.merge_key:
        node.list_keys = (node.merge_key,)
        return "map"
    return "set"


class Descriptions:
    """The documentation of every definition and field of one minor."""

    def __init__(self, minor: str) -> None:
        import lzma

        whole = _read("descriptions.pack", lzma.decompress)
        self._texts: list[str] = whole["texts"]
        self._definitions: Mapping[str, Any] = whole["minors"][minor]

    def of(self, definition: str) -> str:
        own, _ = self._definitions.get(definition, (None, {}))
        return "" if own is None else self._texts[own]

    def of_field(self, definition: str, name: str) -> str:
        _, fields = self._definitions.get(definition, (None, {}))
        return self._texts[fields[name]] if name in fields else ""
