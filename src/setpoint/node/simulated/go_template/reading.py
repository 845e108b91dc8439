"""Templates: text and actions, read into what writes their text."""

from __future__ import annotations

from typing import Any

from setpoint.node.simulated.go_template.functions import BUILTINS, Functions, is_true, to_text
from setpoint.node.simulated.go_template.lexing import Reader, TemplateError, first_word, split
from setpoint.node.simulated.go_template.running import (
    Break,
    Continue,
    Node,
    Scope,
    constant,
    items_of,
    raiser,
    sequence,
    text_node,
    with_variable,
)
from setpoint.node.simulated.go_template.values import Values

_BLOCKS = {"if", "range", "with", "define"}
_ENDS = {"end", "else"}


class Template:
    """A template, read; `render(dot)` gives its text. Raises TemplateError for what it cannot do."""

    def __init__(self, text: str, functions: Functions) -> None:
        self._values = Values({**BUILTINS, **functions})
        self._defined: dict[str, Node] = {}
        self._parts = split(text)
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
        known = len(self._values.names)
        while self._at < len(self._parts):
            kind, text = self._parts[self._at]
            word = first_word(text) if kind == "action" else ""
            if word in _ENDS:
                break
            self._at += 1
            if kind == "text":
                nodes.append(text_node(text))
            elif not text.startswith("/*"):
                nodes.append(self._action(word, text))
        del self._values.names[known:]
        return sequence(nodes)

    def _action(self, word: str, text: str) -> Node:
        rest = text[len(word) :]
        if word == "define":
            self._defined[Reader(rest).string()], _ = self._branches(self._block())
            return sequence([])
        if word == "template":
            return self._template(Reader(rest))
        if word in _BLOCKS:
            return self._range(rest) if word == "range" else self._conditional(word, rest)
        if word == "break":
            return raiser(Break)
        if word == "continue":
            return raiser(Continue)
        return self._statement(Reader(text))

    def _branches(self, then: Node) -> tuple[Node, Node]:
        """What follows a block's first part: `else if`, `else`, `end`."""
        if self._at >= len(self._parts):
            raise TemplateError("unexpected end of the template: {{end}} is missing")
        text = self._parts[self._at][1]
        self._at += 1
        if text == "end":
            return then, sequence([])
        rest = text.removeprefix("else").strip()
        if rest:
            return then, self._conditional(first_word(rest), rest[len(first_word(rest)) :])
        return then, self._branches(self._block())[0]

    def _conditional(self, word: str, text: str) -> Node:
        if word not in {"if", "with"}:
            raise TemplateError(f"else {word} is not supported")
        known = len(self._values.names)
        name, value = self._values.declaration(Reader(text))
        then, otherwise = self._branches(self._block())
        del self._values.names[known:]

        def run(scope: Scope) -> None:
            found = value(scope)
            inner = Scope(found if word == "with" and is_true(found) else scope.dot, scope.variables, scope.out)
            with_variable(inner, name, found, then if is_true(found) else otherwise)

        return run

    def _range(self, text: str) -> Node:
        reader = Reader(text)
        names = self._range_variables(reader)
        value = self._values.pipeline(reader)
        reader.end()
        known = len(self._values.names)
        self._values.names += names
        body, otherwise = self._branches(self._block())
        del self._values.names[known:]

        def run(scope: Scope) -> None:
            items = items_of(value(scope))
            if not items:
                otherwise(scope)
            for key, item in items:
                inner = Scope(item, [*scope.variables], scope.out)
                inner.variables += zip(names, (item,) if len(names) == 1 else (key, item), strict=False)
                try:
                    body(inner)
                except Continue:
                    continue
                except Break:
                    break
                finally:
                    scope.variables[:] = inner.variables[: len(scope.variables)]

        return run

    @staticmethod
    def _range_variables(reader: Reader) -> list[str]:
        signs = [token[1] for token in reader.tokens]
        if ":=" not in signs:
            return []
        names = [name for name in signs[: signs.index(":=")] if name != ","]
        reader.at = signs.index(":=") + 1
        return names

    # -- values

    def _template(self, reader: Reader) -> Node:
        name = reader.string()
        value = self._values.pipeline(reader) if reader.more() else constant(None)
        reader.end()

        def run(scope: Scope) -> None:
            dot = value(scope)
            if name not in self._defined:
                raise TemplateError(f"template {name} is not defined")
            self._defined[name](Scope(dot, [("$", dot)], scope.out))

        return run

    def _statement(self, reader: Reader) -> Node:
        if len(reader.tokens) > 1 and reader.tokens[1][1] == "=":
            name = self._values.known(reader.take()[1])
            reader.take()
            value = self._values.pipeline(reader)
            return lambda scope: scope.assign(name, value(scope))
        name, value = self._values.declaration(reader)
        if name:
            return lambda scope: scope.variables.append((name, value(scope)))
        return lambda scope: scope.out.append(to_text(value(scope)))
