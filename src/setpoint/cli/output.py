"""Printing: the server's tables, JSON and YAML."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.resource import Resource

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
FORMS = ("", "wide", "json", "yaml", "name")


def print_table(table: Mapping[str, Any], *, wide: bool = False, namespaces: bool = False, header: bool = True) -> None:
    """A `meta.k8s.io/v1 Table`, columns as wide as they need to be."""
    chosen = [(index, column) for index, column in enumerate(table["columnDefinitions"]) if wide or not column["priority"]]
    rows = [[_cell(row["cells"][index]) for index, _ in chosen] for row in table.get("rows") or ()]
    heads = [column["name"].upper() for _, column in chosen]
    if namespaces:
        heads = ["NAMESPACE", *heads]
        spaces = [row["object"]["metadata"].get("namespace", "") for row in table.get("rows") or ()]
        rows = [[space, *row] for space, row in zip(spaces, rows, strict=True)]
    print_rows(heads if header else None, rows)


def print_rows(heads: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> None:
    """Columns three blanks apart, as kubectl prints them."""
    lines = [list(heads), *map(list, rows)] if heads is not None else [list(row) for row in rows]
    if not lines:
        return
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    for line in lines:
        write("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_object(obj: Any, form: str) -> None:
    """An object as JSON or YAML."""
    if form == "json":
        write(orjson.dumps(obj, option=orjson.OPT_INDENT_2).decode())
    else:
        import yaml

        write(yaml.safe_dump(obj, sort_keys=False, allow_unicode=True).rstrip())


def named(resource: Resource[Any], name: str) -> str:
    """An object as kubectl names it: `deployment.apps/web`."""
    kind = resource.kind.lower()
    return f"{kind}.{resource.group}/{name}" if resource.group else f"{kind}/{name}"


def write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "<none>" if value is None else str(value)
