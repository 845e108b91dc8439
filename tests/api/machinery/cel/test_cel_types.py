from __future__ import annotations

import pytest

from setpoint.api.machinery.cel.expression import Expression
from setpoint.api.machinery.cel.schema_types import declare, escape
from setpoint.api.machinery.cel.source import CompileError

SCHEMA = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "name": {"type": "string"},
        "names": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "object", "additionalProperties": {"type": "integer"}},
        "port": {"x-kubernetes-int-or-string": True},
        "inner": {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}},
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "if": {"type": "boolean"},
        "a-b.c/d__e": {"type": "integer"},
    },
}
SELF = declare(SCHEMA, root=True)


def compile_text(text: str) -> Expression:
    assert SELF is not None
    return Expression(text, {"self": SELF.type})


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("self.count + 1", "int"),
        ("self.names.map(n, n.size())", "list(int)"),
        ("self.sizes['a']", "int"),
        ("self.sizes.transformList(k, v, k + string(v))", "list(string)"),
        ("self.port", "dyn"),
        ("self.?name", "optional_type(string)"),
        ("self.names[?0].optMap(n, n.size())", "optional_type(int)"),
        ("self.inner.at.getFullYear()", "int"),
        ("self.metadata.name", "string"),
        ("type(self.count)", "type(int)"),
        ("{'a': [1]}", "map(string, list(int))"),
        ("self.names.sortBy(n, n.size()).slice(0, 1).reverse()", "list(string)"),
        ("[] + [1]", "list(int)"),
        ("optional.of(self.port).optMap(x, x * x)", "optional_type(dyn)"),
        ("self.if ? self.count : self.port", "dyn"),
        ("[[self.count], [self.port]]", "list(list(dyn))"),
        ("self.__if__", "bool"),
        ("self.if", "bool"),
        ("self.a__dash__b__dot__c__slash__d__underscores__e", "int"),
        ("quantity('1Gi').add(1)", "kubernetes.Quantity"),
    ],
)
def test_types_follow_the_schema(text: str, type: str) -> None:
    assert str(compile_text(text).type) == type


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("self.nosuch", 5, "undefined field 'nosuch'"),
        ("self.name.reverse()", 18, "found no matching overload for 'reverse' applied to 'string.()'"),
        ("jsonpatch.escapeKey('a')", 1, "undeclared reference to 'jsonpatch' (in container '')"),
        ("cel.bind(x, 1, x)", 1, "undeclared reference to 'cel' (in container '')"),
        ("self.any", 5, "undefined field 'any'"),
        ("self.metadata.labels", 14, "undefined field 'labels'"),
        ("nosuch(self)", 7, "undeclared reference to 'nosuch' (in container '')"),
        ("other", 1, "undeclared reference to 'other' (in container '')"),
        ("self.name.x", 10, "type 'string' does not support field selection"),
        ("self.name + 1", 11, "found no matching overload for '_+_' applied to '(string, int)'"),
        ("self.count.startsWith('a')", 22, "found no matching overload for 'startsWith' applied to 'int.(string)'"),
        ("[] + {}", 4, "found no matching overload for '_+_' applied to '(list(_var0), map(_var1, _var2))'"),
        ("b'\\u0041' == b'A'", 1, "unable to unescape string"),
        ("self.name == null", 11, "found no matching overload for '_==_' applied to '(string, null)'"),
        ("self.names.all(n, n.size())", 15, "found no matching overload for '_&&_' applied to '(bool, int)'"),
        (
            "self.count.all(n, true)",
            5,
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("[1, 'a']", 5, "expected type 'int' but found 'string'"),
        ("self.?name + 'a'", 12, "found no matching overload for '_+_' applied to '(optional_type(string), string)'"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, column: int, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_text(text)
    assert str(caught.value).startswith(f"ERROR: <input>:1:{column}: {message}\n | {text}\n")


def test_names_that_cannot_be_escaped_are_hidden() -> None:
    assert escape("a b") is None
    assert escape("in") == "__in__"
    assert escape("x/y") == "x__slash__y"
