"""From tokens to the syntax tree, by the grammar of the CEL specification, with `?.`, `[?` and optional entries.

Errors are worded as the parser of cel-go (made by ANTLR) words them, and it goes on after the simple ones in the same way: one
token too many is dropped, one missing bracket is thought of.
"""

from __future__ import annotations

import math

from setpoint.api.machinery.cel import macros
from setpoint.api.machinery.cel.source import NOWHERE, CompileError, Issue
from setpoint.api.machinery.cel.syntax import Call, Entry, Expr, Ident, ListNode, Literal, MapNode, Message, Select
from setpoint.api.machinery.cel.tokens import END, KEYWORDS, MAX_INT, MAX_UINT, RESERVED, Token, bytes_value, string_value, tokens
from setpoint.api.machinery.cel.values import Uint

MAX_SIZE = 100_000
_LITERALS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
_BRACKETS = {")", "]", "}"}
_LITERAL_WORDS = {"true": True, "false": False, "null": None}
_LEVELS = {
    "||": 1, "&&": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "in": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5,
}  # fmt: skip


class _Stop(Exception):
    """The parser cannot go on; the issue is noted already."""


def parse(text: str) -> Expr:
    """The expression's tree.

    Raises CompileError with everything that is wrong with the syntax.
    """
    if len(text) > MAX_SIZE:
        raise CompileError(
            text, [Issue(NOWHERE, f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_SIZE}")]
        )
    issues: list[Issue] = []
    parser = Parser(tokens(text, issues), issues)
    try:
        tree = parser.whole()
    except _Stop:
        raise CompileError(text, issues) from None
    except RecursionError:
        raise CompileError(text, [Issue(NOWHERE, "expression recursion limit exceeded: 250")]) from None
    if issues:
        raise CompileError(text, issues)
    return tree


class Parser:
    """One expression's parse: recursive descent, with precedence climbing for the binary operators."""

    def __init__(self, tokens: list[Token], issues: list[Issue]) -> None:
        self._tokens = tokens
        self._at = 0
        #: the brackets that are open, by what closes them
        self._open: list[str] = []
        self.issues = issues

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def _is(self, *signs: str) -> bool:
        token = self._next
        return token.text in signs and (token.kind == "sign" or token.text == "in")

    def _complain(self, token: Token, message: str) -> None:
        self.issues.append(Issue(token.offset, f"Syntax error: {message}"))

    def whole(self) -> Expr:
        tree = self._expression()
        if self._next.kind == "end":
            return tree
        token = self._take()
        extra = self._next.kind == "end"
        self._complain(token, f"{'extraneous' if extra else 'mismatched'} input '{token.text}' expecting {END}")
        raise _Stop

    def _expression(self, also: str = "") -> Expr:
        condition = self._binary(1, also)
        if not self._is("?"):
            return condition
        operator = self._take()
        truthy = self._binary(1)
        self._expect(":")
        falsy = self._expression()
        return Call(operator.offset, "_?_:_", [condition, truthy, falsy])

    def _binary(self, level: int, also: str = "") -> Expr:
        left = self._unary(also)
        while True:
            token = self._next
            own = _LEVELS.get(token.text, 0) if token.kind in {"sign", "word"} else 0
            if own < level or own == 0:
                return left
            self._take()
            if own <= 2:
                left = self._logical(left, token, own)
                continue
            right = self._binary(own + 1)
            left = Call(token.offset, "@in" if token.text == "in" else f"_{token.text}_", [left, right])

    def _logical(self, first: Expr, operator: Token, level: int) -> Expr:
        """A run of one logical operator becomes a balanced tree, so that long rules are not deep ones."""
        terms, operators = [first, self._binary(level + 1)], [operator]
        while self._is(operator.text):
            operators.append(self._take())
            terms.append(self._binary(level + 1))
        return _balanced(f"_{operator.text}_", terms, operators, 0, len(operators) - 1)

    def _unary(self, also: str = "") -> Expr:
        token = self._next
        if token.kind != "sign" or token.text not in "!-":
            return self._member(also)
        count = 0
        while self._is(token.text):
            self._take()
            count += 1
        number = self._next
        if (
            token.text == "-"
            and count % 2
            and number.kind in {"int", "float"}
            and number.offset == self._tokens[self._at - 1].offset + 1
        ):
            return self._suffixes(self._number(self._take(), "-"))
        inner = self._member()
        return Call(token.offset, f"{token.text}_", [inner]) if count % 2 else inner

    def _member(self, also: str = "") -> Expr:
        return self._suffixes(self._primary(also))

    def _suffixes(self, expr: Expr) -> Expr:
        while True:
            if self._is("."):
                expr = self._dot(expr, self._take())
            elif self._is("["):
                expr = self._index(expr, self._take())
            elif self._is("{") and (name := _qualified_name(expr)):
                opening = self._take()
                expr = Message(opening.offset, name, self._fields())
            else:
                return expr

    def _dot(self, operand: Expr, dot: Token) -> Expr:
        optional = self._is("?")
        if optional:
            self._take()
        name = self._take()
        if name.kind == "quoted" and not self._is("("):
            self.issues.append(Issue(name.offset, "unsupported syntax: '`'"))
            return Select(dot.offset, operand, name.text[1:-1], optional=optional)
        if name.kind != "word" or name.text == "in":
            self._complain(name, f"no viable alternative at input '.{name.text if name.kind != 'end' else ''}'")
            raise _Stop
        if self._is("(") and not optional:
            opening = self._take()
            args = self._arguments()
            return macros.expand_method(operand, name, opening, args, self.issues) or Call(
                opening.offset, name.text, args, operand
            )
        if name.text in KEYWORDS:
            self._complain(name, f"mismatched input '{name.text}' expecting IDENTIFIER")
            raise _Stop
        return Select(dot.offset, operand, name.text, optional=optional)

    def _index(self, operand: Expr, opening: Token) -> Expr:
        optional = self._is("?")
        if optional:
            self._take()
        self._open.append("]")
        key = self._expression()
        self._expect("]")
        return Call(opening.offset, "_[?_]" if optional else "_[_]", [operand, key])

    def _primary(self, also: str = "") -> Expr:
        token = self._take()
        if token.kind in {"int", "uint", "float"}:
            return self._number(token)
        if token.kind in {"string", "bytes"}:
            return self._text(token)
        if token.kind == "word" and token.text in _LITERAL_WORDS:
            return Literal(token.offset, _LITERAL_WORDS[token.text])
        if token.kind == "word" and token.text != "in":
            return self._name(token)
        if token.kind == "sign" and token.text in "([{.":
            return self._bracketed(token)
        return self._unexpected(token, also)

    def _bracketed(self, token: Token) -> Expr:
        if token.text == "(":
            self._open.append(")")
            inner = self._expression()
            self._expect(")")
            return inner
        if token.text == "[":
            return self._list(token)
        if token.text == "{":
            return self._map(token)
        name = self._take()
        if name.kind != "word":
            self._complain(name, f"mismatched input '{name.text}' expecting IDENTIFIER")
            raise _Stop
        return self._name(name)

    def _unexpected(self, token: Token, also: str) -> Expr:
        """An expression should start here: a token too many is dropped if the next can start one."""
        expected = "{" + _expected(also) + "}"
        closes = also == "(" and self._is(")")
        if token.kind != "end" and (_starts(self._next) or closes):
            self._complain(token, f"extraneous input '{token.text}' expecting {expected}")
            return self._unary()
        self._complain(token, f"mismatched input '{token.text}' expecting {expected}")
        if self._next.kind == "end" and token.text in _LEVELS:
            self._complain(self._next, f"mismatched input '{END}' expecting {{{_expected('')}}}")
        raise _Stop

    def _name(self, token: Token) -> Expr:
        if token.text in RESERVED:
            self.issues.append(Issue(token.offset, f"reserved identifier: {token.text}"))
        if not self._is("("):
            return Ident(token.offset, token.text)
        opening = self._take()
        args = self._arguments()
        return macros.expand_function(token, opening, args, self.issues) or Call(opening.offset, token.text, args)

    def _arguments(self) -> list[Expr]:
        args: list[Expr] = []
        if self._is(")"):
            self._take()
            return args
        self._open.append(")")
        args.append(self._expression("("))
        while self._is(","):
            self._take()
            args.append(self._expression())
        self._expect(")")
        return args

    def _expect(self, sign: str, *, listed: bool = False) -> None:
        """The sign, or a complaint; `listed` says that a comma would do as well.

        One token too many before the sign is dropped. A missing bracket is thought of, where what stands there could follow it.
        """
        outer = self._open.pop() if sign in _BRACKETS else ""
        if self._is(sign):
            self._take()
            return
        token = self._next
        expected = f"{{'{sign}', ','}}" if listed else f"'{sign}'"
        after = self._tokens[min(self._at + 1, len(self._tokens) - 1)]
        if token.kind != "end" and after.kind == "sign" and after.text == sign:
            self._complain(token, f"extraneous input '{token.text}' expecting {expected}")
            self._at += 2
            return
        if sign in _BRACKETS and not listed and self._may_follow(token, outer):
            self._complain(token, f"missing '{sign}' at '{token.text}'")
            return
        self._complain(token, f"mismatched input '{token.text}' expecting {expected}")
        raise _Stop

    def _may_follow(self, token: Token, closer: str) -> bool:
        """Whether the token could stand after a bracket that is missing; `closer` is the one that is missing itself."""
        wanted = self._open[-1] if self._open else ""
        if token.kind == "end":
            return not wanted
        return token.kind == "sign" and bool(wanted) and token.text in {wanted, ","} and closer != token.text

    def _list(self, opening: Token) -> Expr:
        items: list[Expr] = []
        optional = set()
        self._open.append("]")
        while not self._is("]"):
            if self._is("?"):
                self._take()
                optional.add(len(items))
            items.append(self._expression("[" if not items else ""))
            if not self._is(","):
                break
            self._take()
        self._expect("]", listed=True)
        return ListNode(opening.offset, items, frozenset(optional))

    def _map(self, opening: Token) -> Expr:
        entries: list[Entry] = []
        self._open.append("}")
        while not self._is("}"):
            optional = self._is("?")
            if optional:
                self._take()
            key = self._expression("{" if not entries else "")
            colon = self._next
            self._expect(":")
            entries.append(Entry(colon.offset, key, self._expression(), optional))
            if not self._is(","):
                break
            self._take()
        self._expect("}", listed=True)
        return MapNode(opening.offset, entries)

    def _fields(self) -> list[tuple[str, Expr]]:
        fields: list[tuple[str, Expr]] = []
        self._open.append("}")
        while not self._is("}"):
            if self._is("?"):
                self._take()
            name = self._take().text
            self._expect(":")
            fields.append((name, self._expression()))
            if not self._is(","):
                break
            self._take()
        self._expect("}")
        return fields

    def _number(self, token: Token, sign: str = "") -> Expr:
        offset = token.offset - len(sign)
        if token.kind == "float":
            double = float(sign + token.text)
            if math.isinf(double):
                self.issues.append(Issue(offset, "invalid double literal"))
            return Literal(offset, double)
        unsigned = token.kind == "uint"
        digits = token.text[:-1] if unsigned else token.text
        value = int(sign + digits, 16 if digits.startswith("0x") else 10) if len(digits) < 400 else MAX_UINT + 1
        if unsigned:
            if value > MAX_UINT:
                self.issues.append(Issue(offset, "invalid uint literal"))
            return Literal(offset, Uint(value))
        if not -MAX_INT - 1 <= value <= MAX_INT:
            self.issues.append(Issue(offset, "invalid int literal"))
        return Literal(offset, value)

    def _text(self, token: Token) -> Expr:
        try:
            return Literal(token.offset, bytes_value(token.text) if token.kind == "bytes" else string_value(token.text))
        except (ValueError, OverflowError):
            self.issues.append(Issue(token.offset, "unable to unescape string"))
            return Literal(token.offset, "")


def _expected(also: str) -> str:
    """The tokens that may start an expression, with those that may stand after an opening bracket instead."""
    if not also:
        return "'[', '{', '(', '.', '-', '!', " + _LITERALS
    return {
        "(": "'[', '{', '(', ')', '.', '-', '!', ",
        "[": "'[', ']', '{', '(', '.', ',', '-', '!', '?', ",
        "{": "'[', '{', '}', '(', '.', ',', '-', '!', '?', ",
    }[also] + _LITERALS


def _starts(token: Token) -> bool:
    if token.kind == "word":
        return token.text != "in"
    return token.kind in {"int", "uint", "float", "string", "bytes"} or (token.kind == "sign" and token.text in "[{(.-!")


def _balanced(function: str, terms: list[Expr], operators: list[Token], low: int, high: int) -> Expr:
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, operators, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, operators, middle + 1, high)
    return Call(operators[middle].offset, function, [left, right])


def _qualified_name(expr: Expr) -> str:
    """`a.b.c` as a text, or nothing if the expression is more than names."""
    if isinstance(expr, Ident):
        return expr.name
    if isinstance(expr, Select) and not expr.test and not expr.optional:
        before = _qualified_name(expr.operand)
        return f"{before}.{expr.field}" if before else ""
    return ""
