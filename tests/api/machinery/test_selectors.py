from __future__ import annotations

import pytest

from setpoint.api.machinery import selectors
from setpoint.api.machinery.selectors import SelectorError, parse_fields, parse_labels

A = {"x": "1", "y": ""}
B = {"x": "2", "example.com/z": "q"}
C: dict[str, str] = {}


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("", [A, B, C]),
        ("x=1", [A]),
        ("x==2", [B]),
        ("x!=1", [B, C]),
        ("y=", [A]),
        ("y!=", [B, C]),
        ("x in (1,2)", [A, B]),
        ("x notin (1)", [B, C]),
        ("example.com/z", [B]),
        ("!example.com/z", [A, C]),
        ("x,!y", [B]),
        ("y in (,a)", [A]),
        ("x in ()", []),
        (" x = 1 ", [A]),
        ("x in(1) , x", [A]),
        ("x>1", [B]),
        ("x<2", [A]),
        ("in in (in)", []),
    ],
)
def test_matching(text: str, matching: list[dict[str, str]]) -> None:
    selector = parse_labels(text)
    assert [labels for labels in (A, B, C) if selector.matches(labels)] == matching


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x===", "unable to parse requirement: found '=', expected: identifier"),
        ("x in (1", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("x in 1", "unable to parse requirement: found '1' expected: '('"),
        (",x", "found ',', expected: !, identifier, or 'end of string'"),
        ("x,", "found '', expected: identifier after ','"),
        ("!x=1", "found '=', expected: ',' or 'end of string'"),
        ("x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"),
        (
            "x>ten",
            (
                'unable to parse requirement: values[0]: Invalid value: "ten": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
        (
            "x=" + "a" * 64,
            f'unable to parse requirement: values[0][x]: Invalid value: "{"a" * 64}": must be no more than 63 bytes',
        ),
    ],
)
def test_malformed_label_selectors(text: str, message: str) -> None:
    with pytest.raises(SelectorError) as caught:
        parse_labels(text)
    assert str(caught.value) == message


def test_a_bad_key_has_no_path() -> None:
    with pytest.raises(SelectorError, match=r'^unable to parse requirement: <nil>: Invalid value: "-x": name part must consist'):
        parse_labels("-x=1")


def test_text_is_normal() -> None:
    assert str(parse_labels("z, b in (c,a), a>1,!q,k==v,x!=y")) == "a>1,b in (a,c),k==v,!q,x!=y,z"


def test_objects() -> None:
    assert not selectors.from_object(None).matches({})
    assert selectors.from_object({}).everything
    both = {"matchLabels": {"b": "1"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}]}
    selector = selectors.from_object(both)
    assert str(selector) == selectors.to_string(both) == "a in (x,y),b=1"
    assert selector.exact("b") == "1"
    assert selector.exact("a") is None
    assert selector.matches({"a": "x", "b": "1"})
    with pytest.raises(SelectorError, match='"Like" is not a valid label selector operator'):
        selectors.from_object({"matchExpressions": [{"key": "a", "operator": "Like"}]})
    for operator in ("Exists", "DoesNotExist"):
        with pytest.raises(
            SelectorError, match=r'^values: Invalid value: \["x"\]: values set must be empty for exists and does not'
        ):
            selectors.from_object({"matchExpressions": [{"key": "a", "operator": operator, "values": ["x"]}]})
    assert str(selectors.from_labels({"b": "1", "a": "2"})) == "a=2,b=1"


def test_validation_of_a_selector_in_an_object() -> None:
    bad = {
        "matchExpressions": [
            {"key": "a", "operator": "Like", "values": ["b"]},
            {"key": "a", "operator": "Exists", "values": ["b"]},
            {"key": "-", "operator": "In"},
        ]
    }
    errors = [str(error) for error in selectors.label_selector_errors(bad, "spec.selector")]
    assert errors[:3] == [
        'spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
        "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        "spec.selector.matchExpressions[2].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ]
    assert errors[3].startswith('spec.selector.matchExpressions[2].key: Invalid value: "-": name part')


def test_fields() -> None:
    selector = parse_fields("status.phase!=Running,metadata.name==a")
    assert str(selector) == "metadata.name=a,status.phase!=Running"
    assert selector.exact("metadata.name") == "a"
    assert selector.matches({"metadata.name": "a", "status.phase": "Pending"})
    assert not selector.matches({"metadata.name": "a", "status.phase": "Running"})
    assert selector.unsupported({"metadata.name"}) == "status.phase"
    assert parse_fields(",").everything
    assert parse_fields(r"a=b\,c\=d").requirements[0].value == "b,c=d"
    assert str(parse_fields(r"a=b\,c")) == r"a=b\,c"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("metadata.name in (a)", "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'"),
        (r"metadata.name=a\b", r"invalid field selector: invalid escape sequence: \b"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
    ],
)
def test_malformed_field_selectors(text: str, message: str) -> None:
    with pytest.raises(SelectorError) as caught:
        parse_fields(text)
    assert str(caught.value) == message
