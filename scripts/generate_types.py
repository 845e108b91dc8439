"""Writes `src/setpoint/api/types/`: one module of frozen Structs and Resource constants per served group and version.

Run `.venv/bin/python scripts/generate_types.py` after the presence facts, the table of resources or the newest pack changed; what
it writes is committed, and a test compares. Types come from the schema trees (1.36), resources from `registry.table`.
"""

from __future__ import annotations

import keyword
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.schema.node import Node
from setpoint.registry.resource import ServedResource
from setpoint.registry.table import RESOURCES

MINOR = "1.36"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
#: kinds that are in no published definition but every server answers with
EXTRA = """

class PartialObjectMetadata(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class PartialObjectMetadataList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: ListMeta = ListMeta()
    items: tuple[PartialObjectMetadata, ...] = ()
"""
HEADER = '''"""{title}: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
{imports}from setpoint.api.types.base import Nullable, View
'''
_WORD = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
#: attributes of these names would hide the types of those after them
_ANNOTATIONS = {"bool", "float", "int", "str", "tuple"}
#: what no component reads and every object has: half the time of decoding a pod, and most of its garbage
_UNREAD = {("ObjectMeta", "managedFields")}
_SPELLED = {"openAPIV3Schema": "open_api_v3_schema"}
_SCALARS = {
    "string": ("str", '""'),
    "integer": ("int", "0"),
    "number": ("float", "0.0"),
    "boolean": ("bool", "False"),
    "int-or-string": ("int | str", "0"),
    "quantity": ("str", '"0"'),
    "time": ("str", '""'),
    "micro-time": ("str", '""'),
    "bytes": ("str", '""'),
    "any": ("Any", "None"),
}


def snake(name: str) -> str:
    """`podIP` → `pod_ip`, `clusterIPs` → `cluster_ips`, `from` → `from_`, `x-kubernetes-map-type` → `x_kubernetes_map_type`."""
    spelled = _SPELLED.get(name) or "_".join(_WORD.findall(name)).lower()
    return spelled + "_" if keyword.iskeyword(spelled) or spelled in _ANNOTATIONS else spelled


def module_of(definition: str) -> str:
    """`io.k8s.api.core.v1.Pod` → `core_v1`."""
    return "_".join(definition.split(".")[-3:-1])


class Writer:
    """Collects the Structs of one module, each after those that it holds."""

    def __init__(self, pack: trees.Pack, module: str) -> None:
        self.pack = pack
        self.module = module
        self.imports: set[str] = set()
        self.classes: dict[str, str] = {}

    def reference(self, definition: str) -> str:
        """How this module names a Struct; writes it first if it is its own."""
        module, name = module_of(definition), definition.rpartition(".")[2]
        if module != self.module:
            self.imports.add(module)
            return f"{module}.{name}"
        self.add(definition)
        return name

    def add(self, definition: str) -> None:
        name = definition.rpartition(".")[2]
        if name not in self.classes:
            body = self._struct(name, self.pack.tree(definition))
            self.classes[name] = body

    def _struct(self, name: str, node: Node) -> str:
        fields = [
            (snake(wire), wire, *self._field(sub), sub)
            for wire, sub in sorted(node.fields.items())
            if (name, wire) not in _UNREAD
        ]
        renamed = ", ".join(f'"{attribute}": "{wire}"' for attribute, wire, *_ in fields if attribute != wire)
        lines = [f"class {name}(View, frozen=True, kw_only=True{f', rename={{{renamed}}}' if renamed else ''}):"]
        lines += [f"    {attribute}: {annotation} = {default}" for attribute, _, annotation, default, _ in fields] or ["    pass"]
        zeros = [(attribute, default) for attribute, _, _, default, sub in fields if nullable(sub)]
        if zeros:
            lines += ["", "    def __post_init__(self) -> None:"]
        for attribute, default in zeros:
            lines += [f"        if self.{attribute} is None:", f'            force_setattr(self, "{attribute}", {default})']
        return "\n".join(lines)

    def _field(self, node: Node) -> tuple[str, str]:
        """Annotation and default of a field."""
        annotation, default = self._type(node)
        if nullable(node):
            return f"Nullable[{annotation}]", default
        if node.pointer and annotation != "Any":
            return f"{annotation} | None", "None"
        return annotation, default

    def _type(self, node: Node) -> tuple[str, str]:
        if node.kind in _SCALARS:
            return _SCALARS[node.kind]
        if node.definition == trees.SCHEMA:
            return "Mapping[str, Any]", "{}"  # a recursive type; components read schemas as JSON
        if node.kind == "object":
            name = self.reference(node.definition)
            return name, f"{name}()"
        if node.items is None:
            raise ValueError(f"{node} has no items")
        inner, _ = self._type(node.items)
        return (f"tuple[{inner}, ...]", "()") if node.kind == "list" else (f"Mapping[str, {inner}]", "{}")


def nullable(node: Node) -> bool:
    """Whether a server writes null for the field's zero: times by value, nil lists and maps that are always written."""
    if node.pointer or node.omitzero:
        return False
    return node.kind in {"time", "micro-time"} or (node.always and node.kind in {"list", "map"})


def constants(module: str) -> Iterator[str]:
    """`PODS: Resource[Pod] = …` for each resource that is served with kinds of this module."""
    for resource in RESOURCES:
        for version, definition in resource.definitions.items():
            if module_of(definition) == module and definition in trees.load(MINOR).definitions:
                yield _constant(resource, version, definition.rpartition(".")[2])


def _constant(resource: ServedResource, version: str, name: str) -> str:
    words = f'"{resource.group}", "{version}", "{resource.plural}", "{resource.kind}", {resource.namespaced}, {name}'
    return f"{resource.plural.upper()}: Resource[{name}] = Resource({words})"


def modules(pack: trees.Pack) -> dict[str, list[str]]:
    """Which definitions go into which module: whole packages of everything served, and meta/v1."""
    packages = {definition.rpartition(".")[0] for resource in RESOURCES for definition in resource.definitions.values()}
    found: dict[str, list[str]] = {}
    for definition in sorted(pack.definitions):
        package = definition.rpartition(".")[0]
        if package in packages | {META} and pack.tree(definition).kind == "object" and definition != trees.SCHEMA:
            found.setdefault(module_of(definition), []).append(definition)
    return found


def text_of(pack: trees.Pack, module: str, definitions: list[str]) -> str:
    writer = Writer(pack, module)
    for definition in definitions:
        writer.add(definition)
    imports = f"from setpoint.api.types import {', '.join(sorted(writer.imports))}\n" if writer.imports else ""
    header = HEADER.format(title=module.replace("_", "/"), imports=imports)
    body = "\n\n\n".join(writer.classes.values())
    resources = "\n".join(constants(module))
    extra = "\n" + EXTRA if module == "meta_v1" else "\n"
    return f"{header}\n\n{body}{extra}\n\n{resources}\n"


def formatted(text: str) -> str:
    """As `make check` wants it."""
    ruff = [sys.executable, "-m", "ruff"]
    command = [*ruff, "format", "--stdin-filename", "core_v1.py", "-"]
    clean = [*ruff, "check", "--isolated", "--select", "F401", "--fix", "-q", "--stdin-filename", "core_v1.py", "-"]
    used = subprocess.run(clean, input=text, capture_output=True, text=True, check=True).stdout
    return subprocess.run(command, input=used, capture_output=True, text=True, check=True).stdout


def main() -> None:
    folder = Path(__file__).parent.parent / "src/setpoint/api/types"
    pack = trees.load(MINOR)
    for module, definitions in modules(pack).items():
        (folder / f"{module}.py").write_text(formatted(text_of(pack, module, definitions)), encoding="utf-8")
        print(module, len(definitions))


if __name__ == "__main__":
    main()
