"""YAML as Kubernetes answers it: what go-yaml 2 makes of an object's JSON.

Block style, keys in natural order, lists not indented, lines folded beyond 80 columns; a text is quoted where its bare word would
be read as something else.
Source: `sigs.k8s.io/yaml` (JSONToYAML), go-yaml 2 `encode.go`, `resolve.go`, `sorter.go`, `emitterc.go`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cmp_to_key
from typing import Any

import yaml

from setpoint.api.machinery.status import go_double
from setpoint.api.machinery.yaml_bodies import is_word

_STRING = "tag:yaml.org,2002:str"
_CLOCK = r"(\d\d?):(\d\d?):(\d\d?)(?:\.\d+)?"
_moment = re.compile(rf"(\d{{4}})-(\d\d?)-(\d\d?)(?:[Tt]{_CLOCK}(?:Z|[-+]\d\d:\d\d)| {_CLOCK})?", re.ASCII).fullmatch
_base_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII).fullmatch
#: of double-quoted text, what is not written as it is; beside these and quotes, what cannot be printed
_ESCAPES = dict(zip('\0\a\b\t\n\v\f\r\x1b"\\\x85\xa0\u2028\u2029', '0abtnvfre"\\N_LP', strict=True))
_BREAKS = "\n\x85\u2028\u2029"


def dump(value: Any) -> bytes:
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=False, allow_unicode=True)
    return text.encode()


def _needs_quotes(text: str) -> bool:
    """Whether a bare word would be read as something that is no string."""
    return is_word(text) or _is_moment(text) or (":" in text and _base_60(text) is not None)


def _is_moment(text: str) -> bool:
    found = _moment(text)
    if found is None:
        return False
    try:
        datetime(*(int(part) for part in found.groups() if part is not None))  # type: ignore[arg-type]  # noqa: DTZ001 - only whether there is such a day
    except ValueError:
        return False
    return True


def _compare(left: str, right: str) -> int:
    """Natural order of keys: where they differ, other characters go before letters, and digits count as numbers."""
    at = next((index for index, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), -1)
    if at < 0:
        return len(left) - len(right)
    one, other = left[at], right[at]
    if one.isalpha() or other.isalpha():
        return ord(one) - ord(other) if one.isalpha() and other.isalpha() else 1 if one.isalpha() else -1
    leading = 0
    if "0" in (one, other):
        before = re.search(r"\d*$", left[:at])
        leading = 1 if before is not None and before[0].strip("0") else 0
    (first, end), (second, other_end) = _number(left, at, leading), _number(right, at, leading)
    return first - second or end - other_end or ord(one) - ord(other)


def _number(text: str, at: int, leading: int) -> tuple[int, int]:
    """The number that begins at a place, digits before it counting as `leading`, and where it ends."""
    end = at
    while end < len(text) and text[end].isdecimal():
        leading, end = leading * 10 + int(text[end]), end + 1
    return leading, end


def ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=cmp_to_key(_compare))


def _is_plain(char: str) -> bool:
    """Whether a character stands in double quotes as it is."""
    if char in '"\\' or char in _BREAKS:
        return False
    return " " <= char <= "~" or "\xa0" <= char <= "\ud7ff" or ("\ue000" <= char <= "\ufffd" and char != "\ufeff")


class _Dumper(yaml.SafeDumper):
    """The emitter is libyaml's in both languages, but for how double-quoted lines are folded and what ends a document."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """Nothing is tagged: what needs quotes has them by its representer."""
        return _STRING if kind is yaml.ScalarNode else super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]  # PyYAML's

    def expect_document_start(self, first: bool = False) -> None:
        self.open_ended = False
        super().expect_document_start(first)

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        self.write_indicator('"', True)
        blank = False
        last = len(text) - 1
        for index, char in enumerate(text):
            if char == " " and split and not blank and self.column > self.best_width and 0 < index < last:
                self.write_indent()
                if text[index + 1] == " ":
                    self._put("\\")
            elif _is_plain(char):
                self._put(char)
            else:
                self._put(f"\\{_escape(char)}")
            blank = char == " "
        self.write_indicator('"', False)

    def _put(self, text: str) -> None:
        self.column += len(text)
        self.stream.write(text)


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    return f"x{code:02X}" if code <= 0xFF else f"u{code:04X}" if code <= 0xFFFF else f"U{code:08X}"


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    if "\n" in text:
        style: str | None = "|"
    else:
        style = '"' if _needs_quotes(text) or (not text.isascii() and max(text) > "\uffff") else None
    return dumper.represent_scalar(_STRING, text, style=style)


def _map(dumper: _Dumper, value: dict[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", [(name, value[name]) for name in ordered(value)])


def _bare(dumper: _Dumper, value: float | None) -> yaml.Node:
    word = go_double(value) if isinstance(value, float) else "null" if value is None else str(value).lower()
    return dumper.represent_scalar(_STRING, word)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _map)
for _type in (bool, int, float, type(None)):
    _Dumper.add_representer(_type, _bare)
