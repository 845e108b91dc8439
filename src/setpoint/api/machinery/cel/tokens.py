"""From an expression's text to its tokens, by the lexical rules of the CEL specification.

What the lexer of cel-go (made by ANTLR) cannot read it reports and skips; so does this one, in the same words.
"""

from __future__ import annotations

import re

from msgspec import Struct

from setpoint.api.machinery.cel.source import Issue

END = "<EOF>"
#: no names of fields either
KEYWORDS = frozenset(("false", "in", "null", "true"))
#: no identifiers
RESERVED = frozenset((
    "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "namespace",
    "null", "package", "return", "true", "var", "void", "while",
))  # fmt: skip
MAX_INT, MAX_UINT = 2**63 - 1, 2**64 - 1

_string = (
    r'[rR]"""(?:.|\n)*?"""|[rR]\'\'\'(?:.|\n)*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    r'|"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^\\"\n\r])*"|\'(?:\\.|[^\\\'\n\r])*\''
)
_patterns = (
    ("blank", r"[\t\n\f\r ]+|//[^\n]*"),
    ("bytes", rf"[bB](?:{_string})"),
    ("string", _string),
    ("float", r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?"),
    ("uint", r"0x[0-9a-fA-F]+[uU]|[0-9]+[uU]"),
    ("int", r"0x[0-9a-fA-F]+|[0-9]+"),
    ("quoted", r"`[A-Za-z0-9_.\-/ ]+`"),
    ("word", r"[_a-zA-Z][_a-zA-Z0-9]*"),
    ("sign", r"==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%]"),
)
_token = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _patterns))
#: after these bytes a lone sign eats what follows, as the generated lexer does (`= ` and `& `)
_halves = {"=", "&", "|"}
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?", "`": "`",
}  # fmt: skip
_escape = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)


class Token(Struct, frozen=True):
    """`kind` is a literal's kind, `word`, `sign` or `end`."""

    kind: str
    text: str
    offset: int


def tokens(text: str, issues: list[Issue]) -> list[Token]:
    """The tokens, an end token last; unreadable characters are added to `issues`."""
    out: list[Token] = []
    offset = 0
    while offset < len(text):
        found = _token.match(text, offset)
        if found is None:
            offset = _skip(text, offset, issues)
            continue
        if found.lastgroup != "blank":
            out.append(Token(found.lastgroup or "", found[0], offset))
        offset = found.end()
    out.append(Token("end", END, len(text)))
    return out


def _skip(text: str, offset: int, issues: list[Issue]) -> int:
    end = offset + 1
    if text[offset] in _halves and end < len(text):
        end += 1
    elif text[offset] in "'\"":
        line = text.find("\n", offset)
        end = line if line >= 0 else len(text)
    issues.append(Issue(offset, f"Syntax error: token recognition error at: '{text[offset:end]}'"))
    return end


def string_value(token: str) -> str:
    """What a string literal stands for.

    Raises ValueError for an escape that CEL does not have.
    """
    raw = token[0] in "rR"
    body = _unquoted(token[1:] if raw else token)
    return body if raw else _escape.sub(_unescaped, body)


def bytes_value(token: str) -> bytes:
    r"""What a bytes literal stands for: `\x` and octal escapes are bytes, not characters."""
    token = token[1:]
    raw = token[0] in "rR"
    body = _unquoted(token[1:] if raw else token)
    if raw:
        return body.encode()
    out, last = b"", 0
    for found in _escape.finditer(body):
        out += body[last : found.start()].encode()
        octet = found[1] or found[2]
        if found[3] or found[4]:
            raise ValueError("unable to unescape string")  # code points are no bytes
        if octet or found[5]:
            out += bytes([int(octet, 16) if octet else int(found[5], 8)])
        else:
            out += _unescaped(found).encode()
        last = found.end()
    return out + body[last:].encode()


def _unquoted(token: str) -> str:
    return token[3:-3] if token[:3] in {'"""', "'''"} else token[1:-1]


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2] or found[3] or found[4]
    if number:
        return chr(int(number, 16))
    if found[5]:
        return chr(int(found[5], 8))
    if found[6] not in _ESCAPES:
        raise ValueError("unable to unescape string")
    return _ESCAPES[found[6]]
