"""An expression's text, and complaints about it in cel-go's form, with the line and a caret under the place."""

from __future__ import annotations

from msgspec import Struct

#: the offset of complaints about the expression as a whole
NOWHERE = -1


class Issue(Struct, frozen=True):
    """One complaint; `offset` counts code points from the start of the text."""

    offset: int
    message: str


class CompileError(ValueError):
    """The expression does not parse or does not type-check; the message is cel-go's."""

    def __init__(self, text: str, issues: list[Issue]) -> None:
        super().__init__("\n".join(show(text, issue) for issue in sorted(issues, key=lambda issue: issue.offset)))


class InstantiationError(CompileError):
    """The expression is well-formed, but cannot be run: a constant is no pattern, or of no use to its conversion."""

    def __init__(self, why: str) -> None:
        ValueError.__init__(self, why)


def show(text: str, issue: Issue) -> str:
    r"""`ERROR: <input>:1:6: message`, the line, and a caret; blanks of the line stay, tabs become blanks."""
    if issue.offset == NOWHERE:
        return f"ERROR: <input>:-1:0: {issue.message}"
    if not text:
        return f"ERROR: <input>:1:0: {issue.message}"
    line = text.count("\n", 0, issue.offset) + 1
    start = text.rfind("\n", 0, issue.offset) + 1
    column = issue.offset - start
    end = text.find("\n", start)
    snippet = text[start : end if end >= 0 else len(text)].replace("\t", " ")
    dots = "".join("." if ord(char) < 0x80 else "\uff0e" for char in snippet[:column]).ljust(column, ".")
    caret = "\uff3e" if column < len(snippet) and ord(snippet[column]) >= 0x80 else "^"
    return f"ERROR: <input>:{line}:{column + 1}: {issue.message}\n | {snippet}\n | {dots}{caret}"
