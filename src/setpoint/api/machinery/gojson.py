"""JSON read slowly, keeping what ordinary readers hide: repeated keys, their order, the spelling of numbers.

The complaints are those of Go's `encoding/json`, which clients see in 400 answers. What a strict reader finds nothing wrong with
is read by the standard library's; any other text is scanned byte by byte, as Go does, so that a complaint names the byte. Used
where the fast reader fails or cannot tell.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any

import orjson

#: deeper nesting is refused; Go stops at 10,000 levels, the writer of stored objects earlier
MAX_DEPTH = 250

_space = re.compile(r"[ \t\r\n]*").match
_plain_string = re.compile(r'[^"\\\x00-\x1f]*').match
_number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").match
_escapes = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_hexadecimal = re.compile(r"[0-9a-fA-F]{4}").match


class SyntaxComplaint(ValueError):
    """Malformed JSON; the message is Go's."""


class Number(str):
    """A number as it was spelled."""

    __slots__ = ()

    def plain(self) -> int | float:
        """As Go's `interface{}` holds it: an int64 where it is one, else a double. OverflowError if it is beyond a double."""
        if self.lstrip("-").isdigit() and -(2**63) <= int(self) < 2**63:
            return int(self)
        value = float(self)
        if value in {float("inf"), float("-inf")}:
            raise OverflowError(f"json: cannot unmarshal number {self} into Go value of type float64")
        return int(value) if value.is_integer() and abs(value) < 2**63 else value


class Members(list[tuple[str, Any]]):
    """An object as the pairs that were written, repeated names included."""


def parse(body: bytes) -> Any:
    """One JSON value: str, Number, bool, None, list or Members. Raises SyntaxComplaint."""
    return _DECODER.decode(body.decode()) if _is_flawless(body) else scan(body)


def scan(body: bytes) -> Any:
    """The same, byte by byte."""
    scanner = _Scanner(body.decode("latin-1"))
    value = scanner.value(0)
    scanner.skip()
    if scanner.at < len(scanner.text):
        raise scanner.unexpected("after top-level value")
    return value


#: with all that is asked before takes less than half of the scanner's time, and differs from it in what a strict reader refuses
_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_int=Number, parse_float=Number)
_string = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKETS = bytes(code for code in range(256) if chr(code) not in "[]{}")
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _is_flawless(body: bytes) -> bool:
    """Whether a text is JSON by the strictest reading (UTF-8, no half surrogates), and not nested too deeply."""
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    brackets = _string.sub(b"", body).translate(None, _BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) <= MAX_DEPTH


class _Scanner:
    """A position in the text; each method reads one thing and moves past it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip(self) -> None:
        found = _space(self.text, self.at)
        self.at = found.end() if found else self.at

    def peek(self) -> str:
        """The next character; a complaint at the end of the text."""
        if self.at >= len(self.text):
            raise SyntaxComplaint("unexpected end of JSON input")
        return self.text[self.at]

    def unexpected(self, where: str) -> SyntaxComplaint:
        return SyntaxComplaint(f"invalid character {_quoted(self.peek())} {where}")

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise SyntaxComplaint("exceeded max depth")
        self.skip()
        char = self.peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char == '"':
            return self._string()
        if char in "tfn":
            return self._word({"t": "true", "f": "false", "n": "null"}[char])
        if char == "-" or char.isdigit():
            return self._digits()
        raise self.unexpected("looking for beginning of value")

    def _object(self, depth: int) -> Members:
        self.at += 1
        members = Members()
        self.skip()
        if self.peek() == "}":
            self.at += 1
            return members
        while True:
            self.skip()
            if self.peek() != '"':
                raise self.unexpected("looking for beginning of object key string")
            name = self._string()
            self.skip()
            if self.peek() != ":":
                raise self.unexpected("after object key")
            self.at += 1
            members.append((name, self.value(depth + 1)))
            if self._ends("}", "after object key:value pair"):
                return members

    def _array(self, depth: int) -> list[Any]:
        self.at += 1
        items: list[Any] = []
        self.skip()
        if self.peek() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value(depth + 1))
            if self._ends("]", "after array element"):
                return items

    def _ends(self, end: str, where: str) -> bool:
        """Past a comma (False) or the end (True)."""
        self.skip()
        char = self.peek()
        if char not in {",", end}:
            raise self.unexpected(where)
        self.at += 1
        return char == end

    def _word(self, word: str) -> bool | None:
        for index, char in enumerate(word):
            if index and self.peek() != char:
                raise self.unexpected(f"in literal {word} (expecting {_quoted(char)})")
            self.at += 1
        return {"true": True, "false": False}.get(word)

    def _digits(self) -> Number:
        found = _number(self.text, self.at)
        if found is None:
            self.at += 1
            raise self.unexpected("in numeric literal")
        self.at = found.end()
        rest = self.text[self.at : self.at + 1]
        if rest == "." and "." not in found[0] and "e" not in found[0].lower():
            self.at += 1
            raise self.unexpected("after decimal point in numeric literal")
        if rest in {"e", "E"} and "e" not in found[0].lower():
            self.at += 1
            self.at += self.peek() in "+-"
            raise self.unexpected("in exponent of numeric literal")
        return Number(found[0])

    def _string(self) -> str:
        self.at += 1
        parts: list[str] = []
        while True:
            found = _plain_string(self.text, self.at)
            if found:
                parts.append(_decoded(found[0]))
                self.at = found.end()
            char = self.peek()
            if char == '"':
                self.at += 1
                return "".join(parts)
            if char != "\\":
                raise self.unexpected("in string literal")
            self.at += 1
            parts.append(self._escape())

    def _escape(self) -> str:
        char = self.peek()
        if char == "u":
            return self._unicode()
        if char not in _escapes:
            raise self.unexpected("in string escape code")
        self.at += 1
        return _escapes[char]

    def _unicode(self) -> str:
        first = self._four()
        if 0xD800 <= first < 0xDC00 and self.text.startswith("\\u", self.at):
            before = self.at
            self.at += 1
            second = self._four()
            if 0xDC00 <= second < 0xE000:
                return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            self.at = before
        return "\ufffd" if 0xD800 <= first < 0xE000 else chr(first)

    def _four(self) -> int:
        """The code after a `u`."""
        self.at += 1
        found = _hexadecimal(self.text, self.at)
        if found is None:
            while self.peek() in "0123456789abcdefABCDEF":
                self.at += 1
            raise self.unexpected("in \\u hexadecimal character escape")
        self.at = found.end()
        return int(found[0], 16)


def _decoded(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")


def _quoted(char: str) -> str:
    """A byte as Go's complaints show it."""
    special = {"'": "\\'", '"': '"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b"}
    special |= {"\f": "\\f", "\v": "\\v"}
    if char in special:
        return f"'{special[char]}'"
    if char < " " or char == "\x7f":
        return f"'\\x{ord(char):02x}'"
    if "\x80" <= char < "\xa1" or char == "\xad":
        return f"'\\u{ord(char):04x}'"
    return f"'{char}'"
