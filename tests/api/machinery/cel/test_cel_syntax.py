from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery.cel.parser import parse
from setpoint.api.machinery.cel.source import CompileError
from setpoint.api.machinery.cel.syntax import Call, Literal
from setpoint.api.machinery.cel.values import Uint

STARTS = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

ASSIGNED = (
    "ERROR: <input>:1:8: Syntax error: token recognition error at: '= '\n | self.a = 1\n | .......^\n"
    "ERROR: <input>:1:10: Syntax error: extraneous input '1' expecting <EOF>\n | self.a = 1\n | .........^"
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1F", 31),
        ("-9223372036854775808", -(2**63)),
        ("7u", Uint(7)),
        ("1.5e3", 1500.0),
        (r"'a\tb\u00e9\x41'", "a\tb\u00e9A"),
        (r"r'\d+'", r"\d+"),
        ('"""a\nb"""', "a\nb"),
        (r"b'\xff\101'", b"\xffA"),
        ("true", True),
        ("null", None),
    ],
)
def test_literals_stand_for_their_values(text: str, value: object) -> None:
    tree = parse(text)
    assert isinstance(tree, Literal)
    assert tree.value == value
    assert type(tree.value) is type(value)


def test_a_long_run_of_one_operator_is_no_deep_tree() -> None:
    def depth(node: object) -> int:
        return 1 + max(map(depth, node.args)) if isinstance(node, Call) else 0

    assert depth(parse(" && ".join(["true"] * 1000))) <= 11


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"x" +', f"ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting {STARTS}\n | \"x\" +\n | .....^"),
        ("a b", "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^"),
        ("self.a = 1", ASSIGNED),
        ("1e400", "ERROR: <input>:1:1: invalid double literal\n | 1e400\n | ^"),
        ("(1", "ERROR: <input>:1:3: Syntax error: missing ')' at '<EOF>'\n | (1\n | ..^"),
        ("true\n&& var", "ERROR: <input>:2:4: reserved identifier: var\n | && var\n | ...^"),
        ("[1].all(2, true)", "ERROR: <input>:1:9: argument must be a simple name\n | [1].all(2, true)\n | ........^"),
        ("9223372036854775808", "ERROR: <input>:1:1: invalid int literal\n | 9223372036854775808\n | ^"),
    ],
)
def test_errors_are_worded_and_placed_as_in_kubernetes(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["(" * 5000, "[" * 3000, "!-" * 5000 + "1", "-" * 9999, "a" * 100_001, "a?" * 3000])
def test_monsters_are_refused(text: str) -> None:
    with pytest.raises(CompileError):
        parse(text)


def test_what_is_wrong_with_the_whole_has_no_place() -> None:
    with pytest.raises(CompileError) as caught:
        parse("[" * 300)
    assert str(caught.value) == "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"


@given(st.text(alphabet="ab1 .+-*/%!?:()[]{},'\"<>=&|\\\n\u00e9$u", max_size=40))
def test_any_text_parses_or_is_refused(text: str) -> None:
    with suppress(CompileError):
        parse(text)
