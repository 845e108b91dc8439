from __future__ import annotations

import pytest

from setpoint.api.machinery.yaml_bodies import YamlComplaint, to_json


@pytest.mark.parametrize(
    ("text", "json"),
    [
        ("[yes, off, y, N, On]", "[true,false,true,false,true]"),
        ("[of, Nope, yEs]", '["of","Nope","yEs"]'),
        ("[0x1F, 1_000, 0b11, 017, 0o17, 08]", "[31,1000,3,15,15,8]"),
        ("[1e3, .5, +1, -0, 1.0, 1e400]", '[1000,0.5,1,0,1,"1e400"]'),
        ("[12:30, 2026-01-01, ~, '~', \"5\"]", '["12:30","2026-01-01",null,"~","5"]'),
        ("[!!str 5, !!int '5', !!binary aGVsbG8=, !x 1]", '["5",5,"hello","1"]'),
        ("{1: a, true: b, 1.5: c}", '{"1":"a","1.5":"c","true":"b"}'),
        ("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", '{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}'),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y", '{"a":"x\\ny\\n","b":"x y"}'),
        ("---\na: b\n---\nc: d", '{"a":"b"}'),
        ("!!int \t# a blank that libyaml alone takes\n---\n", "null"),
        ("# nothing", "null"),
        ("18446744073709551615", "18446744073709551615"),
    ],
)
def test_what_yaml_becomes(text: str, json: str) -> None:
    assert to_json(text.encode()) == (json.encode(), [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: *nope", "yaml: unknown anchor 'nope' referenced"),
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: -.INF", "json: unsupported value: -Inf"),
        ("a: .NaN", "json: unsupported value: NaN"),
        ("a: !!binary '?'", "yaml: !!binary value contains invalid base64 data"),
        ("a: \x01", "yaml: control characters are not allowed"),
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("a: [1,2", "yaml: line 1: did not find expected ',' or ']'"),
        ("? [a, 1]\n: x", 'yaml: invalid map key: []interface {}{"a", 1}'),
        ("~: x", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'),
    ],
)
def test_what_is_no_yaml(text: str, message: str) -> None:
    with pytest.raises(YamlComplaint) as found:
        to_json(text.encode())
    assert str(found.value) == message


def test_repeated_keys_are_told() -> None:
    assert to_json(b"a: b\nc:\n  d: 1\n  d: 2") == (b'{"a":"b","c":{"d":2}}', ['line 4: key "d" already set in map'])
