from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from setpoint.api.machinery import cel

GOLDEN = Path(os.environ.get("GOLDEN") or Path(__file__).resolve().parents[4].parent / "shared" / "golden")


def check(node: dict[str, Any], broken: tuple[str, ...] = ()) -> list[str]:
    schema = {"type": "object", "properties": {"a": node}}
    return [str(error) for error in cel.check_rules(schema, "root", broken)]


def rules(*texts: str) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": text} for text in texts]}


def test_good_rules_have_no_errors() -> None:
    assert check({"type": "string", "maxLength": 5, **rules("self != oldSelf", "self.matches('^a')")}) == []


def test_an_expression_must_compile_to_a_bool() -> None:
    (error,) = check({"type": "string", **rules("self")})
    assert error.startswith('root.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self",')
    assert error.endswith("cel expression must evaluate to a bool")


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("self.matches('(a')", "compilation failed: ERROR: <input>:1:14: invalid matches argument"),
        ("int('x') == 1", "program instantiation failed: type conversion error from 'string' to 'int'"),
        ("self.find('(a') == ''", "program instantiation failed: error parsing regexp: missing closing ): `(a`"),
        ("duration('1x') > duration('1s')", "ERROR: <input>:1:10: invalid duration argument"),
        ("timestamp('x') == timestamp('2020-01-01T00:00:00Z')", "ERROR: <input>:1:11: invalid timestamp argument"),
        ("'%d'.format([self]) == ''", "error during formatting: decimal clause can only be used on integers, was given string"),
        ("'%d'.format([duration('1s')]) == ''", "was given google.protobuf.Duration"),
        ("'%s'.format([quantity('1')]) == ''", "string clause can only be used on strings, bools, bytes, ints"),
        ("'%s'.format([]) == ''", "index 0 out of range"),
        ("'%q'.format([self]) == ''", 'could not parse formatting clause: unrecognized formatting clause "q"'),
        ("'x'.format([self]) == ''", "too many arguments supplied to string.format (expected 0, got 1)"),
    ],
)
def test_literals_are_checked_with_the_expression(rule: str, complaint: str) -> None:
    (error,) = check({"type": "string", "maxLength": 5, **rules(rule)})
    assert complaint in error


@pytest.mark.parametrize(
    "rule", ["self.matches('a|b')", "'%s %.2f %%'.format([self, 1.5]) == ''", "duration('1h') > duration('1s')"]
)
def test_good_literals(rule: str) -> None:
    assert check({"type": "string", "maxLength": 5, **rules(rule)}) == []


def test_expressions_are_not_judged_where_the_schema_is_broken() -> None:
    node = {"type": "string", **rules("nosuch")}
    assert len(check(node)) == 1
    assert check(node, ("root.properties[a].maxLength",)) == []
    assert len(check(node, ("root.properties[ab].maxLength",))) == 1


def test_estimates_multiply_with_how_often_a_node_can_occur() -> None:
    node = {"type": "array", "items": {"type": "string", "maxLength": 1000, **rules("self.contains('some part')")}}
    unbounded = check(node)
    assert (
        "root.properties[a].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget" in unbounded[0]
    )
    assert check({**node, "maxItems": 100}) == []


def test_old_values_need_items_that_can_be_told_apart() -> None:
    items = {"type": "object", "properties": {"k": {"type": "string", "maxLength": 5, **rules("self == oldSelf")}}}
    node = {"type": "array", "maxItems": 5, "items": items}
    (error,) = check(node)
    assert error.endswith("oldSelf cannot be used on the uncorrelatable portion of the schema within root.properties[a]")
    assert check({**node, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}) == []


def recorded() -> list[Any]:
    if not (GOLDEN / "crd-schema.cases.yaml").exists():
        return []
    cases = yaml.safe_load((GOLDEN / "crd-schema.cases.yaml").read_text())
    answers = json.loads((GOLDEN / "crd-schema.golden.json").read_text())
    return [
        pytest.param(
            step["body"]["spec"]["versions"],
            answers[case["case"]][index]["body"]["details"]["causes"],
            id=f"{case['case']}-{index}",
        )
        for case in cases
        if case["case"].startswith("rules at creation")
        for index, step in enumerate(case["steps"])
    ]


@pytest.mark.skipif(not recorded(), reason=f"no recordings at {GOLDEN}")
@pytest.mark.parametrize(("versions", "causes"), recorded())
def test_recorded_definitions_get_the_recorded_errors(versions: list[Any], causes: list[Any]) -> None:
    errors = []
    for index, version in enumerate(versions):
        path = f"spec.versions[{index}].schema.openAPIV3Schema" if len(versions) > 1 else "spec.validation.openAPIV3Schema"
        errors += cel.check_rules(version["schema"]["openAPIV3Schema"], path)
    assert [error.cause() for error in errors] == causes
