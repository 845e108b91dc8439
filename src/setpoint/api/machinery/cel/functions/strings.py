"""Functions of strings, and regular expressions with RE2's syntax and its promise to end.

Sources: the CEL specification, cel-go's `ext/strings.go`, Kubernetes' `apiserver/pkg/cel/library/regex.go`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from setpoint.api.machinery.cel.functions.conversions import double_text
from setpoint.api.machinery.cel.values import (
    CelError,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    bounded,
    seconds_text,
    timestamp_text,
    type_name,
    visit,
)

_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_QUOTES = {
    ord("\a"): "\\a", ord("\b"): "\\b", ord("\f"): "\\f", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord("\v"): "\\v",
    ord("\\"): "\\\\", ord('"'): '\\"',
}  # fmt: skip
#: what Go trims: Unicode's white space
_WHITE = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_MAX_PRECISION = 1000


@lru_cache(maxsize=512)
def pattern(text: str) -> Any:
    """A compiled RE2 pattern.

    Raises CelError if it is none.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise CelError(f"error parsing regexp: {_go_words(error)}") from None


#: RE2's complaints in C++ and in Go
_GO_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


def _go_words(error: Exception) -> str:
    """The complaint as Go's regexp words it: what is wrong, and where in back quotes."""
    said = error.args[0].decode(errors="replace") if error.args and isinstance(error.args[0], bytes) else str(error)
    what, _, where = said.partition(": ")
    return f"{_GO_WORDS.get(what, what)}: `{where}`"


def _matches(text: str, expression: str) -> bool:
    return pattern(expression).search(text) is not None


def _find(text: str, expression: str) -> str:
    found = pattern(expression).search(text)
    return found.group(0) if found else ""


def _find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    out: list[str] = []
    for found in pattern(expression).finditer(text):
        if 0 <= limit <= len(out):
            break
        out.append(found.group(0))
    return out


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not 0 <= start < max(len(text), 1):
        if start == len(text):
            return -1
        raise CelError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not part:
        return start
    if not 0 <= start < max(len(text), 1):
        raise CelError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if limit == 1:
        return [text]
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    chars = list(text)
    return [*chars[: limit - 1], "".join(chars[limit - 1 :])] if 0 < limit < len(chars) else chars


def _substring(text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if not 0 <= end <= len(text):
        raise CelError(f"index out of range: {end}")
    return text[start:end]


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(text.count(old), limit)
    bounded(len(text) + count * len(new))
    return text.replace(old, new, limit)


def _join(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise CelError("join: invalid input: list has an element that is no string")
    bounded(sum(map(len, items)) + len(separator) * len(items))
    return separator.join(items)


def _format(template: str, args: list[Any]) -> str:
    """`'%s %d'.format([…])`."""
    out, index, offset = [], 0, 0
    while offset < len(template):
        char = template[offset]
        offset += 1
        if char != "%":
            out.append(char)
            continue
        if template[offset : offset + 1] == "%":
            out.append("%")
            offset += 1
            continue
        precision, offset = _precision(template, offset)
        verb = template[offset : offset + 1]
        if not verb:
            raise CelError("unexpected end of string")
        if index >= len(args):
            raise CelError(f"index {index} out of range")
        out.append(_clause(verb, args[index], precision))
        index += 1
        offset += 1
    bounded(sum(map(len, out)))
    return "".join(out)


def verbs(template: str, given: int) -> Iterator[str]:
    """The verbs of a template's clauses. Raises CelError for a clause that is none, or has none of the `given` arguments."""
    index = offset = 0
    while (offset := template.find("%", offset)) >= 0:
        if template[offset + 1 : offset + 2] == "%":
            offset += 2
            continue
        _, offset = _precision(template, offset + 1)
        verb = template[offset : offset + 1]
        if not verb:
            raise CelError("unexpected end of string")
        if index >= given:
            raise CelError(f"index {index} out of range")
        if verb not in "sdfeboxX":
            raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        yield verb
        index, offset = index + 1, offset + 1


def _precision(template: str, offset: int) -> tuple[int, int]:
    if template[offset : offset + 1] != ".":
        return 6, offset
    end = offset + 1
    while end < len(template) and template[end] in "0123456789":
        end += 1
    digits = template[offset + 1 : end].lstrip("0") or "0"
    if len(digits) > 4 or int(digits) > _MAX_PRECISION:
        raise CelError(f"precision {digits} exceeds maximum precision {_MAX_PRECISION}")
    return int(digits), end


def _clause(verb: str, value: Any, precision: int) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match verb:
        case "s":
            return _shown(value)
        case "d" if number:
            return str(int(value)) if math.isfinite(value) else double_text(value)
        case "f" if isinstance(value, float):
            return f"{value:.{precision}f}"
        case "e" if isinstance(value, float):
            return f"{value:.{precision}e}"
        case "b" if isinstance(value, int):
            return f"{int(value):b}"
        case "o" if number and isinstance(value, int):
            return f"{value:o}"
        case "x" | "X":
            return _hexadecimal(verb, value)
    if verb in UNFIT:
        raise CelError(f"error during formatting: {UNFIT[verb]}, was given {type_name(value)}")
    raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


#: what is said of values that a verb does not take
UNFIT = {
    "s": (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
    ),
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "o": "octal clause can only be used on integers",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
}


def _hexadecimal(verb: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:x}"
    elif isinstance(value, str | bytes):
        text = (value.encode() if isinstance(value, str) else value).hex()
    else:
        raise CelError(f"error during formatting: {UNFIT[verb]}, was given {type_name(value)}")
    return text.upper() if verb == "X" else text


def _shown(value: Any) -> str:
    """A value as `%s` shows it."""
    visit(1)
    show = _SHOWN.get(type(value))
    if show is None and isinstance(value, list):
        show = _SHOWN[list]
    if show is None:
        raise CelError(f"error during formatting: {UNFIT['s']}, was given {type_name(value)}")
    return show(value)


def _pairs(value: dict[Any, Any]) -> str:
    return _enclosed("{", sorted(f"{_shown(key)}: {_shown(one)}" for key, one in value.items()), "}")


def _enclosed(start: str, parts: list[str], end: str) -> str:
    bounded(sum(map(len, parts)))
    return f"{start}{', '.join(parts)}{end}"


_SHOWN: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    str: str,
    bytes: lambda value: value.decode(errors="replace"),
    int: str,
    Uint: lambda value: str(int(value)),
    float: lambda value: (
        double_text(value).replace("Inf", "Infinity").replace("+", "", 1) if math.isinf(value) else double_text(value)
    ),
    Timestamp: timestamp_text,
    Duration: seconds_text,
    TypeValue: lambda value: value.name,
    list: lambda value: _enclosed("[", list(map(_shown, value)), "]"),
    dict: _pairs,
}


OVERLOADS: dict[str, Callable[..., Any]] = {
    "matches": _matches,
    "matches_string": _matches,
    "contains_string": lambda text, part: part in text,
    "starts_with_string": str.startswith,
    "ends_with_string": str.endswith,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
    "string_char_at_int": _char_at,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "string_last_index_of_string": _last_index_of,
    "string_last_index_of_string_int": _last_index_of,
    "string_lower_ascii": lambda text: text.translate(_LOWER),
    "string_upper_ascii": lambda text: text.translate(_UPPER),
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "string_substring_int": _substring,
    "string_substring_int_int": _substring,
    "string_trim": lambda text: text.strip(_WHITE),
    "list_join": _join,
    "list_join_string": _join,
    "string_format": _format,
    "string_jsonpatch_escapeKey_string": lambda key: key.replace("~", "~0").replace("/", "~1"),
    "strings_quote": lambda text: f'"{text.translate(_QUOTES)}"',
}
