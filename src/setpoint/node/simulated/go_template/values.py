"""Values: pipelines of functions and operands, read into functions of a scope."""

from __future__ import annotations

from setpoint.node.simulated.go_template.functions import Functions
from setpoint.node.simulated.go_template.lexing import Reader, TemplateError, unquoted
from setpoint.node.simulated.go_template.running import Value, call, constant, member

_LITERALS = {"true": True, "false": False, "nil": None}


class Values:
    """Reads them, with the functions that there are and the variables that are declared so far (`names`)."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.names = ["$"]

    def declaration(self, reader: Reader) -> tuple[str, Value]:
        """A pipeline, which may declare a variable."""
        name = ""
        if len(reader.tokens) > 1 and reader.tokens[1][1] == ":=":
            name = reader.take()[1]
            reader.take()
        value = self.pipeline(reader)
        reader.end()
        if name:
            self.names.append(name)
        return name, value

    def known(self, name: str) -> str:
        """The name, if it is declared."""
        if name not in self.names:
            raise TemplateError(f"undefined variable {name}")
        return name

    def pipeline(self, reader: Reader) -> Value:
        """Commands, each of which gets what the one before gives."""
        value = self._command(reader, None)
        while reader.accept("|"):
            value = self._command(reader, value)
        return value

    def _command(self, reader: Reader, piped: Value | None) -> Value:
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
        return lambda scope: call(text, function, [argument(scope) for argument in arguments])

    def _operand(self, reader: Reader) -> Value:
        kind, text = reader.take()
        if kind == "string":
            return constant(unquoted(text))
        if kind == "number":
            return constant(float(text) if "." in text else int(text))
        if kind == "path":
            return self._path(text)
        if text == "(":
            value = self.pipeline(reader)
            closing = reader.take()[1] if reader.more() else ""
            if not closing.startswith(")"):
                raise TemplateError("a closing bracket is missing")
            members = closing.split(".")[1:]
            return (lambda scope: member(value(scope), members)) if members else value
        if kind == "word" and text in _LITERALS:
            return constant(_LITERALS[text])
        if kind == "word" and (function := self._functions.get(text)) is not None:
            return lambda _: call(text, function, [])
        raise TemplateError(f"unexpected {text}")

    def _path(self, text: str) -> Value:
        start, *members = text.split(".")
        members = [each for each in members if each]
        if start:
            self.known(start)

        return lambda scope: member(scope.get(start) if start else scope.dot, members)
