"""Columns of custom kinds. Source: apiextensions-apiserver `customresource/tableconvertor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.jsonpath import JsonPath, JsonPathError
from setpoint.api.machinery.patch.json_values import go_print
from setpoint.api.machinery.schema import times
from setpoint.kit import logs
from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables import printing

log = logs.get_logger("apiserver.custom_resources.columns")

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_NAME = Column("Name", "string", format="name", documents=f"{_META}.name")
_AGE = Column("Age", "date", documents=f"{_META}.creationTimestamp")
#: what Go's JSON writes by its number
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
_AGE_SHOWN = (_AGE, JsonPath(".metadata.creationTimestamp"))


def table_of(columns: Sequence[Mapping[str, Any]] | None) -> Table:
    """The name and the definition's columns; where it has none, the age."""
    return _table(_shown(columns) if columns else [_AGE_SHOWN])


def _table(shown: Sequence[tuple[Column, JsonPath]]) -> Table:
    def cells(obj: Object, now: float) -> list[Any]:
        return [obj["metadata"].get("name", ""), *(_cell(column.type, path.find(obj), now) for column, path in shown)]

    return Table((_NAME, *(column for column, _ in shown)), cells)


def _columns_of_scale() -> Table:
    desired = {"name": "Desired", "type": "integer", "description": "Number of desired replicas", "jsonPath": ".spec.replicas"}
    actual = {"name": "Available", "type": "integer", "description": "Number of actual replicas", "jsonPath": ".status.replicas"}
    return _table([*_shown([desired, actual]), _AGE_SHOWN])


def _shown(columns: Sequence[Mapping[str, Any]]) -> list[tuple[Column, JsonPath]]:
    """The definition's columns; those before the first that cannot be read, which must not keep the kind away."""
    shown: list[tuple[Column, JsonPath]] = []
    for given in columns:
        try:
            shown.append((_column(given), JsonPath(given.get("jsonPath", ""))))
        except JsonPathError as error:
            log.debug("a column of a definition cannot be read", error=str(error))
            break
    return shown


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
    if value in {"", "null"}:
        return "<unknown>"
    try:
        return printing.duration(now - times.parse(value).timestamp())
    except ValueError:
        return "<invalid>"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, (dict, list)):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode().translate(_ESCAPED)
    return go_print(value)


#: of the Scale of every custom kind
SCALE = _columns_of_scale()
