from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery.cel.expression import Expression
from setpoint.api.machinery.cel.source import CompileError
from setpoint.api.machinery.cel.types import DYN
from setpoint.api.machinery.cel.values import MapList, SetList

ITEMS = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "c", "n": 3}]


def run(text: str, /, **variables: Any) -> Any:
    outcome = Expression(text, dict.fromkeys(variables, DYN)).evaluate(list(variables.values()))
    return outcome.error or outcome.value


@pytest.mark.parametrize(
    "text",
    [
        "-7 / 2 == -3 && -7 % 2 == -1",
        "dyn(1) == 1.0 && dyn(1u) == 1 && dyn(true) != 1",
        "1 < 1.5 && 2u > 1",
        "[1, 2] + [3] == [1, 2, 3]",
        "{'a': dyn(1)} == {'a': 1.0}",
        "1 / 0 > 0 || true",
        "!(1 / 0 > 0 && false)",
        "items.all(i, i.n > 0) && items.exists(i, i.n == 3) && items.exists_one(i, i.k == 'b')",
        "items.exists(i, i.x == 1 || i.n == 1)",
        "items.filter(i, i.n > 1).map(i, i.k) == ['b', 'c']",
        "items.map(i, i.n > 1, i.k) == ['b', 'c']",
        "{'a': 1, 'b': 2}.all(k, v, k == 'a' ? v == 1 : v == 2)",
        "[3, 4].transformMap(i, v, v * 2) == {0: 6, 1: 8}",
        "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}",
        "[1, 2, 3].transformList(i, v, i > 0, v + i) == [3, 5]",
        "items[?7].hasValue() == false && items[?0].value().k == 'a'",
        "optional.of(1).optMap(x, x + 1) == optional.of(2)",
        "optional.none().or(optional.of(1)).orValue(2) == 1",
        "[?optional.none(), ?optional.of(1)] == [1]",
        "{?'a': optional.none()} == {}",
        "type(1) == int && type([]) == list && type(type(1)) == type && type(null) == null_type",
        "timestamp('2024-02-29T23:00:00Z') + duration('1h') == timestamp('2024-03-01T00:00:00Z')",
        "timestamp('2024-02-29T23:00:00Z').getDayOfMonth('+02:00') == 0",
        "string(timestamp('2011-08-18T19:03:37.010+01:00')) == '2011-08-18T19:03:37.01+01:00'",
        "duration('90m').getHours() == 1 && string(duration('1.5s')) == '1.5s'",
        "{'a': 1, 'a': base} == {'a': 5}",
        "'a-b'.split('-') == ['a', 'b'] && [1, 2, 3].reverse() == [3, 2, 1] && [1, 2, 3].slice(1, 3) == [2, 3]",
        "[[1], [2, 3]].flatten() == [1, 2, 3] && [[[1]]].flatten(2) == [1] && lists.range(3) == [0, 1, 2]",
        "['b', 'a', 'b'].distinct() == ['b', 'a'] && [3, 1, 2].sort() == [1, 2, 3]",
        "['ccc', 'a', 'bb'].sortBy(x, size(x)) == ['a', 'bb', 'ccc']",
        "items.map(i, i.k).sortBy(k, k) == items.map(i, i.k).sort()",
        "'hello'.substring(1, 3) == 'el' && 'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3",
        "'%s %d %.2f %x'.format(['a', 3, 1.5, 255]) == 'a 3 1.50 ff'",
        "strings.quote('a\"b') == '\"a\\\\\"b\"'",
        "'abc 123'.find('[0-9]+') == '123' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
        "[1, 2, 3].sum() == 6 && ['a', 'b'].max() == 'b' && [2, 1].isSorted() == false && [1, 2].indexOf(2) == 1",
        "sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
        "url('https://[::1]:80/a b?x=1&x=2').getHostname() == '::1' || true",
        "url('https://user@h.example:8443/p?x=1&x=2').getPort() == '8443'",
        "url('https://h/p?x=1&x=2').getQuery() == {'x': ['1', '2']} && !isURL('../a') && isURL('/a')",
        "isIP('::1') && !isIP('1.2.3.04') && ip('127.0.0.1').isLoopback() && !ip.isCanonical('0:0::1')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.1.0.0/8').masked() == cidr('10.0.0.0/8')",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.0.0.0/8').containsCIDR('0.0.0.0/0')",
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('50k').sub(1).asInteger() == 49999",
        "isQuantity('1.5Ki') && !isQuantity('1.5Kx') && quantity('1000m').isInteger()",
        "semver('1.2.3-alpha.2').isLessThan(semver('1.2.3-alpha.10')) && semver('v1.2', true).minor() == 2 && !isSemver('v1.2')",
        "!format.dns1123Label().validate('abc').hasValue() && format.dns1123Label().validate('A').hasValue()",
        "string(1e6) == '1e+06' && string(100000.0) == '100000' && string(1.5) == '1.5' && string(-0.00001) == '-1e-05'",
        "base == 5 && optional.of(base).optMap(x, x * x).value() == 25",
    ],
)
def test_these_hold(text: str) -> None:
    assert run(text, items=ITEMS, base=5) is True


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("9223372036854775807 + 1", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("items[3]", "index out of bounds: 3"),
        ("items[0].zz", "no such key: zz"),
        ("{'a': 1}['b']", "no such key: b"),
        ("base + 'a'", "no such overload"),
        ("base.startsWith('a')", "no such overload: startsWith(int, string)"),
        ("optional.none().value()", "optional.none() dereference"),
        ("int(items[0].k + 'x')", "type conversion error from 'string' to 'int'"),
        ("duration(items[0].k)", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        (
            "cidr('10.0.0.0')",
            "network address parse error during conversion from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        ),
        ("items.all(i, i.zz == 1)", "no such key: zz"),
        ("[1, 2].slice(1, 3)", "cannot slice(1, 3), list is length 2"),
        ("[1, 2].slice(2, 1)", "cannot slice(2, 1), start index must be less than or equal to end index"),
        ("[[1]].flatten(-1)", "level must be non-negative"),
        ("lists.range(-1)", "lists.range: size must be non-negative, got -1"),
        ("'a'.substring(2)", "invalid substring range. start: 2, end: 1"),
    ],
)
def test_failures_say_why(text: str, error: str) -> None:
    assert run(text, items=ITEMS, base=5) == error


@pytest.mark.parametrize(
    "text",
    [
        "big.all(a, big.all(b, big.all(c, a + b + c != -1)))",
        "big.map(a, big.map(b, big.map(c, string(c)))).size() > 0",
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')",
        "[big + big].map(a, [a + a].map(b, [b + b].map(c, [c + c].map(d, (d + d).size())))).size() > 0",
        "".join(f"[x{i} + x{i}].all(x{i + 1}, " for i in range(40)).replace("x0", "big") + "x40.size() > 0" + ")" * 40,
        "lists.range(10000000).size() > 0",
        "[big, big].flatten(9223372036854775807).size() > 0",
        "'x'.replace('', text).replace('', text).replace('', text).replace('', text).size() > 0",
        "big.all(a, [text, text].join(text).size() > 0)",
    ],
)
def test_every_evaluation_ends_soon(text: str) -> None:
    began = time.thread_time()
    run(text, big=list(range(300)), text="long" * 300)
    assert time.thread_time() - began < 20


LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3))


@given(VALUES, VALUES)
def test_equality_is_reflexive_and_symmetric_and_never_fails(one: Any, other: Any) -> None:
    assert run("a == a", a=one) is True
    assert run("a == b", a=one, b=other) == run("b == a", a=one, b=other)


@given(VALUES, VALUES)
def test_operators_answer_or_fail_in_order(one: Any, other: Any) -> None:
    for text in ("a + b", "a < b", "a in b", "a[b]", "a.size()", "a && b", "a ? b : a", "a.all(x, x == b)", "string(a)", "a.?b"):
        run(text, a=one, b=other)


@pytest.mark.parametrize(
    "text",
    [
        "'%.\u00b2f'.format([1.0])",
        "('%.' + digits + 'f').format([1.0])",
        "duration(digits + 's')",
        "duration('" + "9" * 5000 + "s')",
        "int(digits)",
        "semver(digits + '.0.0')",
        "semver('1.0.0-' + digits)",
        "{dyn([1]): 1}",
        "[1, {dyn([1]): 1}]",
        "{'a': 1}[dyn([1])]",
    ],
)
def test_whatever_goes_wrong_is_part_of_the_outcome(text: str) -> None:
    try:
        expression = Expression(text, {"digits": DYN})
    except CompileError:
        return
    assert expression.evaluate(["9" * 5000]).error


def test_numbers_of_many_digits_are_judged_not_converted() -> None:
    assert run("isSemver(digits + '.0.0')", digits="9" * 5000) is False
    assert run("duration('0.' + digits + 's') < duration('1s')", digits="9" * 5000) is True
    assert run("quantity(digits).sign() == 1 || true", digits="9" * 5000) is True
    assert run("{dyn([1]): 1} == {} || true") is True


#: a list of 40 levels, each of which holds the one below twice
SHARED = "[1]" + ".map(a, [a, a])" * 40
EXCEEDED = "operation cancelled: actual cost limit exceeded"


@pytest.mark.parametrize(
    "text",
    [
        f"'%s'.format([{SHARED}])",
        f"{SHARED} == {SHARED}",
        f"{SHARED} != {SHARED}",
        f"{SHARED} in [{SHARED}]",
        f"{SHARED}.indexOf({SHARED}[0]) == 0",
        f"sets.contains({SHARED}, {SHARED})",
        "[{'a': 1}]" + ".map(a, {'x': a, 'y': a})" * 40 + " == [{'a': 1}]" + ".map(a, {'x': a, 'y': a})" * 40,
        f"unordered == {SHARED}",
        f"unordered + {SHARED} == []",
        f"keyed + {SHARED} == []",
        "[[1, 2]]" + ".map(a, a + a)" * 40 + " == []",
    ],
)
def test_values_that_hold_others_many_times_over_end(text: str) -> None:
    start = time.thread_time()
    keyed = MapList([{"k": 1}])
    keyed.keys = ("k",)
    assert run(text, unordered=SetList([1]), keyed=keyed) == EXCEEDED
    assert time.thread_time() - start < 30


def test_lists_made_again_and_again_are_counted_together() -> None:
    assert run("ten.map(a, many + many).size() > 0", ten=[0] * 100, many=[0] * 100_000) == EXCEEDED
    assert run("ten.map(a, many + many).size() > 0", ten=[0] * 10, many=[0] * 100_000) is True


def test_sets_of_maps_and_lists_do_not_depend_on_the_order_of_keys() -> None:
    assert run("a == b", a=SetList([{"x": 1, "y": [2]}]), b=SetList([{"y": [2], "x": 1}])) is True
    assert run("a == b", a=SetList([[1]]), b=SetList([[True]])) is False
