"""Columns of definitions, those that cannot be read included."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.apiserver.custom_resources import columns

_OBJ: dict[str, Any] = {"metadata": {"name": "a"}, "spec": {"l": [5, 6, 7]}}


def _table(path: str) -> tuple[list[str], list[Any]]:
    table = columns.table_of([{"name": "L", "type": "integer", "jsonPath": path}])
    return [column.name for column in table.columns], table.cells(_OBJ, 0.0)


@pytest.mark.parametrize(
    ("path", "cell"), [(".spec.l[1]", 6), (".spec.l[2,0]", 7), (".spec['x','l'][0]", 5), (".spec.l[1::2]", 6)]
)
def test_a_column_shows_what_its_path_finds(path: str, cell: int) -> None:
    assert _table(path) == (["Name", "L"], ["a", cell])


@pytest.mark.parametrize("path", [".spec.l[::0]", ".spec.l[::-1]", ".spec.l[0,]", ".spec.l[x]"])
def test_columns_end_before_a_path_that_cannot_be_read(path: str) -> None:
    assert _table(path)[0] == ["Name"]
    given = [
        {"name": name, "type": "integer", "jsonPath": where} for name, where in (("L", ".spec.l[1]"), ("X", path), ("Y", ".a"))
    ]
    assert [column.name for column in columns.table_of(given).columns] == ["Name", "L"]


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("date", "", "<unknown>"),
        ("date", "soon", "<invalid>"),
        ("date", "1970-01-01", "<invalid>"),
        ("date", "1970-01-01T00:00:00+02:00", "120m"),
        ("string", {"a": "<b>"}, '{"a":"\\u003cb\\u003e"}'),
        ("string", 1.5, "1.5"),
    ],
)
def test_odd_values(kind: str, value: Any, cell: str) -> None:
    table = columns.table_of([{"name": "X", "type": kind, "jsonPath": ".spec"}])
    assert table.cells({"metadata": {"name": "a"}, "spec": value}, 0.0) == ["a", cell]


def test_a_scale_shows_its_replicas_and_its_age() -> None:
    scale = {"metadata": {"name": "a", "creationTimestamp": "1970-01-01T00:00:00Z"}, "spec": {}, "status": {"replicas": 2}}
    assert [column.name for column in columns.SCALE.columns] == ["Name", "Desired", "Available", "Age"]
    assert columns.SCALE.cells(scale, 5.0) == ["a", None, 2, "5s"]
