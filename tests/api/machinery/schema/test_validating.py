"""What custom objects are told of single values."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.schema import list_types, scale_fields, validating


@pytest.mark.parametrize(
    ("schema", "value", "details"),
    [
        ({"type": "string", "format": "date"}, 5, ['must be of type date: "int64"']),
        ({"type": "string", "format": "date"}, True, ['must be of type date: ""']),
        ({"type": "string", "format": "date"}, [1], []),
        ({"type": "string", "format": "odd"}, 5, ['must be of type string: "integer"']),
        ({"type": "integer", "format": "int32"}, "x", ['must be of type integer: "string"']),
        ({"type": "integer", "format": "int32"}, True, ['must be of type int32: ""']),
        ({"type": "integer", "format": "int16"}, True, ['must be of type integer: "boolean"']),
        (
            {"type": "number", "minimum": 5, "multipleOf": 2, "maximum": 0},
            3,
            ["a multiple of 2", "than or equal to 5", "or equal to 0"],
        ),
        ({"type": "number", "maximum": 1.5}, 1, []),
        ({"type": "number", "maximum": 1.5}, 2, ["should be less than or equal to 1"]),
        ({"type": "number", "maximum": 1.5, "exclusiveMaximum": True}, 1, ["should be less than 1"]),
        ({"type": "integer", "maximum": 1.5}, 2, ["Maximum boundary value must be of type integer", "or equal to 1.5"]),
        ({"type": "number", "multipleOf": 0.1}, 1.1, []),
        ({"type": "number", "multipleOf": 0.1}, 0.3, []),
        ({"type": "string", "enum": ["a", None], "nullable": True}, None, [""]),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, ["x.a in body is a forbidden property"]),
        ({"type": "object", "additionalProperties": False}, {}, []),
        ({"type": "number", "multipleOf": 0.2}, 9.1, ["should be a multiple of 0.2"]),
        ({"type": "number", "maximum": 2500000.5}, 1e21, ["less than or equal to 2.5000005e+06|"]),
        ({"type": "number", "maximum": 1000000}, 2000000.5, ["less than or equal to 1e+06|"]),
        ({"type": "number", "maximum": 1000000}, 2000000, ["less than or equal to 1000000|"]),
        ({"type": "number", "minimum": 100000}, 0.5, ["greater than or equal to 100000|"]),
        ({"type": "integer", "multipleOf": -2}, 4, ["factor MultipleOf declared for x must be positive: -2|"]),
        ({"type": "number", "multipleOf": -0.5}, 4.5, ["factor MultipleOf declared for x must be positive: -0.5|"]),
        ({"type": "string", "maxLength": 2}, "abc", ["may not be more than 2 bytes"]),
        ({"type": "string", "maxLength": 1}, "ab", ["may not be more than 1 byte|"]),
        ({"type": "array", "maxItems": 1}, [1, 2], ["must have at most 1 item|"]),
    ],
)
def test_a_value(schema: dict[str, Any], value: Any, details: list[str]) -> None:
    found = [f"{error.detail}|" for error in validating.validate(value, schema, path="x")]
    assert [wanted for wanted, said in zip(details, found, strict=True) if wanted not in said] == []


@pytest.mark.parametrize(
    ("value", "shown"), [(5.0, "5"), (0.75, "0.75"), (1e-8, "1e-08"), (0.0001, "0.0001"), (-1234567.0, "-1.234567e+06")]
)
def test_a_double_is_shown_as_go_prints_it(value: float, shown: str) -> None:
    [error] = validating.validate(value, {"type": "number", "enum": [1]}, path="x")
    assert error.body() == f'Unsupported value: {shown}: supported values: "1"'


@pytest.mark.parametrize(
    ("obj", "detail"),
    [
        ({"status": {"n": 3}}, ""),
        ({"status": {}}, ""),
        ({"status": {"n": -1}}, "should be a non-negative integer"),
        ({"status": {"n": 2**31}}, "should be less than or equal to 2147483647"),
        ({"status": {"n": "x"}}, ".status.n accessor error: x is of the type string, expected int64"),
        ({"status": [1]}, ".status.n accessor error: [1] is of the type []interface {}, expected map[string]interface{}"),
    ],
)
def test_replicas(obj: dict[str, Any], detail: str) -> None:
    assert [error.detail for error in scale_fields.replicas(obj, ".status.n")] == ([detail] if detail else [])


def test_items_of_a_list_map_are_objects() -> None:
    schema = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object"}}
    [error] = list_types.repeated([{"k": 1}, 2, {"k": 1}, 3], schema, "x")
    assert (error.field, error.detail) == ("x[1]", "must be an object for an array of list-type map")
    assert [error.field for error in list_types.repeated([None, {}, {"k": 1}], schema, "x")] == ["x[1]"]
