from __future__ import annotations

import time
from typing import Any

import pytest

from setpoint.api.machinery import cel
from setpoint.api.machinery.status import FieldError, required


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


def validate(schema: dict[str, Any], new: Any, old: Any = None) -> list[str]:
    program = cel.compile_rules(schema)
    assert program is not None
    return [str(error) for error in program.validate({"spec": new}, None if old is None else {"spec": old})]


def rule(text: str, **more: Any) -> dict[str, Any]:
    return {"x-kubernetes-validations": [{"rule": text, **more}]}


TEXT = {"type": "string"}


def test_a_schema_without_rules_has_no_program() -> None:
    assert cel.compile_rules(schema(a=TEXT)) is None


def test_messages_come_from_the_expression_the_message_or_the_rule() -> None:
    rules = [
        {"rule": "self > 9"},
        {"rule": "self > 8", "message": " too small "},
        {"rule": "self > 7", "messageExpression": "'it is ' + string(self)", "message": "no"},
        {"rule": "self > 6", "messageExpression": "'a\\nb'", "message": "one line only"},
        {"rule": "self / 0 > 6", "message": "never"},
    ]
    assert validate(schema(n={"type": "integer", "x-kubernetes-validations": rules}), {"n": 1}) == [
        "spec.n: Invalid value: 1: failed rule: self > 9",
        "spec.n: Invalid value: 1: too small",
        "spec.n: Invalid value: 1: it is 1",
        "spec.n: Invalid value: 1: one line only",
        'spec.n: Invalid value: "integer": division by zero evaluating rule: never',
    ]


def test_reason_and_field_path_choose_the_error() -> None:
    nodes = schema(m={"type": "object", "additionalProperties": TEXT})
    nodes["properties"]["spec"].update(rule("false", reason="FieldValueForbidden", fieldPath=".m['a b']"))
    assert validate(nodes, {"m": {}}) == ["spec.m[a b]: Forbidden: failed rule: false"]


def test_transition_rules_need_an_old_value() -> None:
    nodes = schema(a={**TEXT, **rule("self == oldSelf", message="fixed")})
    assert validate(nodes, {"a": "x"}) == []
    assert validate(nodes, {"a": "x"}, {}) == []
    assert validate(nodes, {"a": "x"}, {"a": "y"}) == ['spec.a: Invalid value: "x": fixed']


def test_an_optional_old_value_lets_them_run_always() -> None:
    nodes = schema(a={**TEXT, **rule("oldSelf.hasValue() || self == 'new'", optionalOldSelf=True)})
    assert validate(nodes, {"a": "x"}) != []
    assert validate(nodes, {"a": "new"}) == []
    assert validate(nodes, {"a": "x"}, {"a": "y"}) == []


def test_items_of_map_lists_meet_their_namesakes() -> None:
    item = {"type": "object", "properties": {"k": TEXT, "v": {**TEXT, **rule("self == oldSelf")}}}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    nodes = schema(l={"type": "array", "items": item, **keyed})
    old = {"l": [{"k": "one", "v": "1"}, {"k": "two", "v": "2"}]}
    assert validate(nodes, {"l": [{"k": "two", "v": "2"}, {"k": "new", "v": "9"}]}, old) == []
    assert validate(nodes, {"l": [{"k": "two", "v": "1"}]}, old) == [
        'spec.l[0].v: Invalid value: "1": failed rule: self == oldSelf'
    ]


def test_what_did_not_change_is_forgiven_with_a_warning() -> None:
    nodes = schema(a={**TEXT, **rule("self != 'bad'")}, b=TEXT, l={"type": "array", "items": {**TEXT, **rule("self != 'bad'")}})
    program = cel.compile_rules(nodes)
    assert program is not None
    old = {"spec": {"a": "bad", "b": "x", "l": ["bad"]}}
    errors, warnings = program.review({"spec": {"a": "bad", "b": "y", "l": ["bad"]}}, old)
    assert errors == []
    assert warnings == [
        "spec.a: Invalid value: \"bad\": failed rule: self != 'bad'",
        "spec.l[0]: Invalid value: \"bad\": failed rule: self != 'bad'",
    ]
    assert len(program.validate({"spec": {"a": "bad", "l": ["bad", "new"]}}, old)) == 1


def test_the_root_knows_its_name_and_kind() -> None:
    nodes = {"type": "object", **rule("self.metadata.name.startsWith(self.kind.lowerAscii())")}
    program = cel.compile_rules(nodes)
    assert program is not None
    assert program.validate({"kind": "Widget", "metadata": {"name": "widget-1"}}) == []
    errors = program.validate({"kind": "Widget", "metadata": {"name": "x"}})
    assert [error.field for error in errors] == ["<nil>"]


def test_numbers_times_and_sets_are_what_their_schemas_say() -> None:
    nodes = schema(
        n={"type": "number"},
        t={"type": "string", "format": "date-time"},
        b={"type": "string", "format": "byte"},
        d={"type": "string", "format": "duration"},
        s={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
    )
    text = (
        "type(self.n) == double && self.t.getHours() == 1 && self.b == b'AB' && self.d == duration('90s') && self.s == ['b', 'a']"
    )
    nodes["properties"]["spec"].update(rule(text))
    new = {"n": 1, "t": "2020-01-01T01:00:00Z", "b": "QUI=", "d": "1m30s", "s": ["a", "b"]}
    assert validate(nodes, new) == []
    assert new["n"] == 1


def test_rules_in_all_of_run_too() -> None:
    nodes = schema(a=TEXT)
    nodes["properties"]["spec"]["allOf"] = [{"properties": {"a": rule("self != 'bad'")}}]
    assert validate(nodes, {"a": "bad"}) == ["spec.a: Invalid value: \"bad\": failed rule: self != 'bad'"]


def test_null_fields_count_as_absent() -> None:
    nodes = schema(a={**TEXT, "nullable": True, **rule("false")})
    nodes["properties"]["spec"].update(rule("!has(self.a)"))
    assert validate(nodes, {"a": None}) == []


def test_the_budget_of_an_object_is_shared_by_its_rules() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    nodes = schema(l=numbers)
    heavy = "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c > -1)))"
    nodes["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": heavy}] * 30
    (spec,) = validate(nodes, {"l": list(range(200))})
    assert spec.startswith(
        "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation"
    )


def test_rules_wait_for_a_valid_object() -> None:
    assert cel.blocked([]) is None
    assert cel.blocked([FieldError("FieldValueInvalid", "a")]) is None
    note = cel.blocked([required("a")])
    assert note is not None
    assert str(note).startswith("<nil>: Invalid value: null: some validation rules were not checked")


def test_all_rules_of_an_object_have_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setpoint.api.machinery.cel.rules.LONGEST", 0.3)
    slow = "self.all(a, self.all(b, a + b >= 0 && a * b >= 0 && a - b < 1000))"
    rules = [{"rule": f"{slow} && {index} >= 0"} for index in range(9)]
    items = {"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": rules}
    program = cel.compile_rules(schema(items=items))
    assert program is not None
    start = time.thread_time()
    errors = [str(error) for error in program.validate({"spec": {"items": list(range(200))}})]
    assert time.thread_time() - start < 4
    assert len(errors) == 1
    assert "operation interrupted evaluating rule: " in errors[0]


def test_an_object_whose_time_is_up_gets_no_further_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("setpoint.api.machinery.cel.rules.LONGEST", 0.0)
    number = {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}, {"rule": "self > 1"}]}
    assert validate(schema(n=number), {"n": 2}) == [
        'spec.n: Invalid value: "integer": operation interrupted evaluating rule: self > 0'
    ]
