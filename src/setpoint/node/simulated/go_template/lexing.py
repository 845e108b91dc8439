"""Templates cut into text and actions, and actions into words."""

from __future__ import annotations

import re

_ACTION = re.compile(r"\{\{(-\s)?(.*?)(\s-)?\}\}", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)|(?P<number>[-+]?\d+(?:\.\d+)?)|(?P<path>\$\w*(?:\.\w+)*|(?:\.\w+)+|\.)"""
    r"""|(?P<word>\w+)|(?P<sign>:=|=|\||\(|\)(?:\.\w+)*|,))"""
)


class TemplateError(ValueError):
    """A template that cannot be used; the message says why."""


class Reader:
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
        return unquoted(self.take()[1])

    def end(self) -> None:
        if self.more():
            raise TemplateError(f"unexpected {self.peek()[1]}")


def split(text: str) -> list[tuple[str, str]]:
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


def first_word(text: str) -> str:
    """What an action begins with."""
    return text.split(None, 1)[0].partition("(")[0] if text else ""


def unquoted(text: str) -> str:
    """What a quoted text says."""
    if text.startswith("`"):
        return text[1:-1]
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])
