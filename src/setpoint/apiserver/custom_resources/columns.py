"""Columns of custom kinds. Source: apiextensions-apiserver `customresource/tableconvertor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.jsonpath import JsonPath, JsonPathError
from setpoint.kit import logs
from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables import printing

log = logs.get_logger("apiserver.custom_resources.columns")

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_NAME = Column("Name", "string", format="name", documents=f"{_META}.name")
_AGE = Column("Age", "date", documents=f"{_META}.creationTimestamp")
_AGE_PATH = JsonPath(".metadata.creationTimestamp")


def table_of(columns: Sequence[Mapping[str, Any]] | None) -> Table:
    """The name and the definition's columns; where it has none, the age."""
    shown = _shown(columns or ()) or [(_AGE, _AGE_PATH)]

    def cells(obj: Object, now: float) -> list[Any]:
        return [obj["metadata"].get("name", ""), *(_cell(column.type, path.find(obj), now) for column, path in shown)]

    return Table((_NAME, *(column for column, _ in shown)), cells)


def _shown(columns: Sequence[Mapping[str, Any]]) -> list[tuple[Column, JsonPath]]:
    """The definition's columns; none where one of them cannot be read, which must not keep the kind away."""
    try:
        return [(_column(given), JsonPath(given.get("jsonPath", ""))) for given in columns]
    except JsonPathError as error:
        log.debug("columns of a definition cannot be read", error=str(error))
        return []


def _column(given: Mapping[str, Any]) -> Column:
    description = given.get("description") or ""
    if not description:
        description = f"Custom resource definition column (in JSONPath format): {given.get('jsonPath', '')}"
    return Column(
        given.get("name", ""), given.get("type", ""), description, given.get("format") or "", int(given.get("priority") or 0)
    )


def _cell(kind: str, found: list[Any], now: float) -> Any:
    """A value in its column's type; nothing where it is absent or of another."""
    if not found:
        return None
    if kind == "string":
        return _text(found[0])
    value = found[0]
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return int(value) if kind == "integer" else value
    return _age(value, now) if kind == "date" and isinstance(value, str) else None


def _age(value: str, now: float) -> str:
    try:
        return printing.since(value, now)
    except ValueError:
        return "<invalid>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
