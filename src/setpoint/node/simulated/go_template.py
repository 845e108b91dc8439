"""The part of Go's text/template that the status templates of Stages are written in.

Actions: pipelines, variables (`$x := …`, `$x = …`), `if`/`else if`/`else`, `range` with one or two variables, `break` and
`continue`, `with`, `define` and `template`, comments, trimming (`{{-`, `-}}`). Values are plain JSON; a member that is not there
is nothing (as with `missingkey=zero`), and nothing is written as an empty text. Whatever else a template uses is refused when it
is read, not when a pod gets there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

Functions = Mapping[str, Callable[..., Any]]
_ACTION = re.compile(r"\{\{(-\s)?(.*?)(\s-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<number>[-+]?\d+(?:\.\d+)?)|(?P<path>\$\w*(?:\.\w+)*|(?:\.\w+)+|\.)"""
    r"""|(?P<word>\w+)|(?P<sign>:=|=|\||\(|\)(?:\.\w+)*|,))"""
)
_LITERALS = {"true": True, "false": False, "nil": None}
_BLOCKS = {"if", "range", "with", "define"}
_ENDS = {"end", "else"}


class TemplateError(ValueError):
    """A template that cannot be used; the message says why."""


class _Break(Exception):  # control flow, as in the template
    pass


class _Continue(Exception):
    pass


class Scope(Struct):
    """Where a template is: dot, variables, and what is written so far."""

    dot: Any
    variables: list[tuple[str, Any]]
    out: list[str] = field(default_factory=list)

    def get(self, name: str) -> Any:
        return next(value for known, value in reversed(self.variables) if known == name)

    def assign(self, name: str, value: Any) -> None:
        place = max(index for index, each in enumerate(self.variables) if each[0] == name)
        self.variables[place] = (name, value)


Node = Callable[[Scope], None]
Value = Callable[[Scope], Any]


class Template:
    """A template, read; `render(dot)` gives its text. Raises TemplateError for what it cannot do."""

    def __init__(self, text: str, functions: Functions) -> None:
        self._functions = {**BUILTINS, **functions}
        self._defined: dict[str, Node] = {}
        self._names = ["$"]
        self._parts = _split(text)
        self._at = 0
        self._body = self._block()
        if self._at < len(self._parts):
            raise TemplateError(f"unexpected {{{{{self._parts[self._at][1]}}}}}")

    def render(self, dot: Any) -> str:
        scope = Scope(dot, [("$", dot)])
        self._body(scope)
        return "".join(scope.out)

    # -- blocks

    def _block(self) -> Node:
        """All up to an `end`, an `else`, or the end of the text."""
        nodes: list[Node] = []
        known = len(self._names)
        while self._at < len(self._parts):
            kind, text = self._parts[self._at]
            word = _first(text) if kind == "action" else ""
            if word in _ENDS:
                break
            self._at += 1
            if kind == "text":
                nodes.append(_text(text))
            elif not text.startswith("/*"):
                nodes.append(self._action(word, text))
        del self._names[known:]
        return _sequence(nodes)

    def _action(self, word: str, text: str) -> Node:
        rest = text[len(word) :]
        if word == "define":
            self._defined[_Reader(rest).string()], _ = self._branches(self._block())
            return _sequence([])
        if word == "template":
            return self._template(_Reader(rest))
        if word in _BLOCKS:
            return self._range(rest) if word == "range" else self._conditional(word, rest)
        if word == "break":
            return _raiser(_Break)
        if word == "continue":
            return _raiser(_Continue)
        return self._statement(_Reader(text))

    def _branches(self, then: Node) -> tuple[Node, Node]:
        """What follows a block's first part: `else if`, `else`, `end`."""
        if self._at >= len(self._parts):
            raise TemplateError("unexpected end of the template: {{end}} is missing")
        text = self._parts[self._at][1]
        self._at += 1
        if text == "end":
            return then, _sequence([])
        rest = text.removeprefix("else").strip()
        if rest:
            return then, self._conditional(_first(rest), rest[len(_first(rest)) :])
        return then, self._branches(self._block())[0]

    def _conditional(self, word: str, text: str) -> Node:
        if word not in {"if", "with"}:
            raise TemplateError(f"else {word} is not supported")
        known = len(self._names)
        name, value = self._declaration(_Reader(text))
        then, otherwise = self._branches(self._block())
        del self._names[known:]

        def run(scope: Scope) -> None:
            found = value(scope)
            inner = Scope(found if word == "with" and is_true(found) else scope.dot, scope.variables, scope.out)
            with_variable(inner, name, found, then if is_true(found) else otherwise)

        return run

    def _range(self, text: str) -> Node:
        reader = _Reader(text)
        names = self._range_variables(reader)
        value = self._pipeline(reader)
        reader.end()
        known = len(self._names)
        self._names += names
        body, otherwise = self._branches(self._block())
        del self._names[known:]

        def run(scope: Scope) -> None:
            items = _items(value(scope))
            if not items:
                otherwise(scope)
            for key, item in items:
                inner = Scope(item, [*scope.variables], scope.out)
                inner.variables += zip(names, (item,) if len(names) == 1 else (key, item), strict=False)
                try:
                    body(inner)
                except _Continue:
                    continue
                except _Break:
                    break
                finally:
                    scope.variables[:] = inner.variables[: len(scope.variables)]

        return run

    @staticmethod
    def _range_variables(reader: _Reader) -> list[str]:
        signs = [token[1] for token in reader.tokens]
        if ":=" not in signs:
            return []
        names = [name for name in signs[: signs.index(":=")] if name != ","]
        reader.at = signs.index(":=") + 1
        return names

    # -- values

    def _template(self, reader: _Reader) -> Node:
        name = reader.string()
        value = self._pipeline(reader) if reader.more() else _constant(None)
        reader.end()

        def run(scope: Scope) -> None:
            dot = value(scope)
            if name not in self._defined:
                raise TemplateError(f"template {name} is not defined")
            self._defined[name](Scope(dot, [("$", dot)], scope.out))

        return run

    def _declaration(self, reader: _Reader) -> tuple[str, Value]:
        """A pipeline, which may declare a variable."""
        name = ""
        if len(reader.tokens) > 1 and reader.tokens[1][1] == ":=":
            name = reader.take()[1]
            reader.take()
        value = self._pipeline(reader)
        reader.end()
        if name:
            self._names.append(name)
        return name, value

    def _statement(self, reader: _Reader) -> Node:
        if len(reader.tokens) > 1 and reader.tokens[1][1] == "=":
            name = self._known(reader.take()[1])
            reader.take()
            value = self._pipeline(reader)
            return lambda scope: scope.assign(name, value(scope))
        name, value = self._declaration(reader)
        if name:
            return lambda scope: scope.variables.append((name, value(scope)))
        return lambda scope: scope.out.append(to_text(value(scope)))

    def _known(self, name: str) -> str:
        if name not in self._names:
            raise TemplateError(f"undefined variable {name}")
        return name

    def _pipeline(self, reader: _Reader) -> Value:
        value = self._command(reader, None)
        while reader.accept("|"):
            value = self._command(reader, value)
        return value

    def _command(self, reader: _Reader, piped: Value | None) -> Value:
        """A function with its arguments, or one operand; what was piped is the last argument."""
        if not reader.more():
            raise TemplateError("a value is missing")
        kind, text = reader.peek()
        if kind != "word" or text in _LITERALS:
            return self._operand(reader)
        reader.take()
        function = self._functions.get(text)
        if function is None:
            raise TemplateError(f"the function {text} is not supported")
        arguments = []
        while reader.more() and reader.peek()[1][0] not in "|)":
            arguments.append(self._operand(reader))
        if piped is not None:
            arguments.append(piped)
        return lambda scope: _call(text, function, [argument(scope) for argument in arguments])

    def _operand(self, reader: _Reader) -> Value:
        kind, text = reader.take()
        if kind == "string":
            return _constant(_unquoted(text))
        if kind == "number":
            return _constant(float(text) if "." in text else int(text))
        if kind == "path":
            return self._path(text)
        if text == "(":
            value = self._pipeline(reader)
            closing = reader.take()[1] if reader.more() else ""
            if not closing.startswith(")"):
                raise TemplateError("a closing bracket is missing")
            members = closing.split(".")[1:]
            return (lambda scope: _member(value(scope), members)) if members else value
        if kind == "word" and text in _LITERALS:
            return _constant(_LITERALS[text])
        if kind == "word" and (function := self._functions.get(text)) is not None:
            return lambda _: _call(text, function, [])
        raise TemplateError(f"unexpected {text}")

    def _path(self, text: str) -> Value:
        start, *members = text.split(".")
        members = [member for member in members if member]
        if start:
            self._known(start)

        return lambda scope: _member(scope.get(start) if start else scope.dot, members)


class _Reader:
    """The words of one action."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        self.at = place = 0
        text = text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise TemplateError(f"cannot read {text[place:]!r}")
            self.tokens.append((match.lastgroup or "", match[match.lastgroup or 0]))
            place = match.end()

    def more(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at]

    def take(self) -> tuple[str, str]:
        if not self.more():
            raise TemplateError("unexpected end of an action")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, sign: str) -> bool:
        if self.more() and self.peek()[1] == sign:
            self.at += 1
            return True
        return False

    def string(self) -> str:
        return _unquoted(self.take()[1])

    def end(self) -> None:
        if self.more():
            raise TemplateError(f"unexpected {self.peek()[1]}")


def _split(text: str) -> list[tuple[str, str]]:
    """Text and actions in turn."""
    parts: list[tuple[str, str]] = []
    place, trim = 0, False
    for match in _ACTION.finditer(text):
        before = text[place : match.start()]
        before = before.lstrip() if trim else before
        parts.append(("text", before.rstrip() if match[1] else before))
        parts.append(("action", match[2].strip()))
        place, trim = match.end(), bool(match[3])
    rest = text[place:].lstrip() if trim else text[place:]
    return [part for part in [*parts, ("text", rest)] if part[1]]


def _first(text: str) -> str:
    return text.split(None, 1)[0].partition("(")[0] if text else ""


def _unquoted(text: str) -> str:
    if text.startswith("`"):
        return text[1:-1]
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])


def _sequence(nodes: Sequence[Node]) -> Node:
    def run(scope: Scope) -> None:
        known = len(scope.variables)
        for node in nodes:
            node(scope)
        del scope.variables[known:]

    return run


def _text(text: str) -> Node:
    return lambda scope: scope.out.append(text)


def _constant(value: Any) -> Value:
    return lambda _: value


def _raiser(error: type[Exception]) -> Node:
    def run(_: Scope) -> None:
        raise error

    return run


def with_variable(scope: Scope, name: str, value: Any, node: Node) -> None:
    """Run a node with one more variable, if it has a name."""
    if not name:
        node(scope)
        return
    scope.variables.append((name, value))
    node(scope)
    scope.variables.pop()


def _member(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _items(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return sorted(value.items())
    if isinstance(value, int) and not isinstance(value, bool):
        return [(index, index) for index in range(value)]
    return list(enumerate(value or ()))


def _call(name: str, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    try:
        return function(*arguments)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise TemplateError(f"{name}: {error}") from error


def is_true(value: Any) -> bool:
    """As Go's templates: zero, empty and nothing are false."""
    return bool(value)


def to_text(value: Any) -> str:
    """As Go prints it; nothing is an empty text."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _or(*values: Any) -> Any:
    return next((value for value in values if is_true(value)), values[-1])


def _and(*values: Any) -> Any:
    return next((value for value in values if not is_true(value)), values[-1])


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if value is None:
            return None
        value = value.get(key) if isinstance(value, Mapping) else value[key] if key < len(value) else None
    return value


def _printf(form: str, *values: Any) -> str:
    return re.sub(r"%[vsdq]", "%s", form) % tuple(map(to_text, values))


BUILTINS: Functions = {
    "or": _or,
    "and": _and,
    "not": lambda value: not is_true(value),
    "eq": lambda first, *others: first in others,
    "ne": lambda first, second: first != second,
    "lt": lambda first, second: first < second,
    "le": lambda first, second: first <= second,
    "gt": lambda first, second: first > second,
    "ge": lambda first, second: first >= second,
    "index": _index,
    "len": lambda value: len(value or ()),
    "print": lambda *values: "".join(map(to_text, values)),
    "printf": _printf,
    "dict": lambda *pairs: dict(zip(pairs[::2], pairs[1::2], strict=True)),
    "add1": lambda value: int(value) + 1,
    "add": lambda *values: sum(map(int, values)),
    "sub": lambda first, second: int(first) - int(second),
    "default": lambda default, value=None: value if is_true(value) else default,
}
