from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.cel.estimate import Estimator
from setpoint.api.machinery.cel.expression import Expression
from setpoint.api.machinery.cel.schema_types import declare

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "short": {"type": "string", "maxLength": 10},
        "word": {"type": "string", "enum": ["a", "bcd"]},
        "when": {"type": "string", "format": "date-time"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "few": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 5}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}
OBJECT: dict[str, Any] = {
    "n": 5,
    "s": "twelve chars",
    "short": "ab",
    "list": [1, 1, 2, 2, 3, 3, 4, 5],
    "few": ["a"],
    "map": {"b": 1, "d": 2},
}
SELF = declare(SCHEMA)


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("self.n == 5", 3),
        ("double(5) < 10.0", 1),
        ("self.s.startsWith('twe')", 4),
        ("self.s.matches('^[^0-9]*$')", 8),
        ("self.s in ['a', 'b']", 2),
        ("self.s == string(1)", 3),
        ("has(self.n)", 1),
        ("has(self.n) && self.n > 1", 4),
        ("2 in self.list", 10),
        ("self.list.all(e, e > 0)", 43),
        ("!self.list.all(e, e < 2)", 21),
        ("self.list.exists(e, e > 2)", 36),
        ("self.list.exists_one(e, e > 4)", 22),
        ("size(self.list.filter(e, e%2 == 0)) == 3", 68),
        ("self.map.all(k, self.map[k] > 0)", 17),
        ("self.list + [4, 5] == [1]", 4),
        ("self.list.reverse().size()", 22),
        ("self.list.sort().size()", 142),
        ("self.few.distinct().size()", 16),
        ("self.?short.orValue('v') == 'ab'", 3),
    ],
)
def test_an_evaluation_costs_what_it_costs_in_kubernetes(text: str, cost: int) -> None:
    assert SELF is not None
    assert Expression(text, {"self": SELF.type}).evaluate([OBJECT]).cost == cost


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("self.n > 1", 3, 3),
        ("self.short == 'abc'", 3, 3),
        ("self.s == self.s", 5, 314577),
        ("self.word.contains('a')", 2, 3),
        ("self.when.getFullYear() == 2020", 4, 4),
        ("self.few.all(x, x.size() > 0)", 3, 21),
        ("self.list.all(x, x > 0)", 3, 7864318),
        ("[1, 2].transformList(i, v, v < 5, v + 1)", 27, 53),
        ("{'a': 1, 'b': 2}.transformMapEntry(k, v, v < 5, {k: v + 1})", 67, 135),
        ("sets.contains([1, 2, 3, 4], [2, 3])", 29, 29),
        ("cidr('192.168.0.0/16').containsIP('192.0.0.1')", 4, 7),
        ("'abc 123 def 123'.replace('123', '')", 3, 3),
    ],
)
def test_the_estimate_spans_what_may_happen(text: str, least: int, most: int) -> None:
    assert SELF is not None
    span = Estimator(SELF).cost(Expression(text, {"self": SELF.type}).tree)
    assert (span.min, span.max) == (least, most)


def test_spending_the_limit_stops_the_evaluation() -> None:
    assert SELF is not None
    outcome = Expression("self.list.all(a, self.list.all(b, a + b > 0))", {"self": SELF.type}).evaluate([OBJECT], limit=100)
    assert outcome.error == "operation cancelled: actual cost limit exceeded"
    assert outcome.cost < 110
