"""Patterns and formats of strings in schemas. Source: kube-openapi `validation/strfmt`; Go's `regexp` for patterns."""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from setpoint.api.machinery import names


@functools.lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """A pattern by RE2, which reads Go's language and takes time in proportion to the value; None if it is no pattern."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def matches(pattern: str, value: str) -> bool:
    """Whether the pattern is found anywhere in the value; what is no pattern is found nowhere."""
    found = compiled(pattern)
    return found is not None and found.search(value) is not None


def fits(kind: str, value: str) -> bool:
    """Whether a string is of a format, whose hyphens do not count; formats that nobody knows fit everything."""
    check = _FORMATS.get(kind.replace("-", ""))
    return check is None or check(value)


def _pattern(text: str, flags: int = 0) -> Callable[[str], bool]:
    expression = re.compile(text, flags | re.ASCII)
    return lambda value: expression.fullmatch(value) is not None


_LEADING_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9])")


def _address(value: str, *, mark: str, zeros: bool) -> bool:
    """As Go's `net.ParseIP`, told apart by the mark in it; `zeros`: parts may begin with zeros, as they once might."""
    try:
        ipaddress.ip_address(_LEADING_ZEROS.sub("", value) if zeros else value)
    except ValueError:
        return False
    return mark in value and "%" not in value


def _cidr(value: str) -> bool:
    address, _, length = value.partition("/")
    if not length.isascii() or not length.isdigit():
        return False
    try:
        ipaddress.ip_network(f"{_LEADING_ZEROS.sub('', address)}/{length}", strict=False)
    except ValueError:
        return False
    return True


def _date(value: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")


def _date_time(value: str) -> bool:
    parts = value.lower().split("t")
    return len(parts) > 1 and _date(parts[0]) and _TIME.fullmatch(parts[1]) is not None


#: as Go's `url.ParseRequestURI`: absolute, or a path from the root; nothing odd in the name or port of a host
_URI = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:(?://(?P<host>[^/?#]*))?|/)(?:[^%]|%[0-9a-fA-F]{2})*")
_HOST = re.compile(r"(?:[^@]*@)?(?:\[[0-9a-fA-F:.]+(?:%25[^\]]*)?\]|[^\s\\^`{|}:\[\]]*)(?::[0-9]*)?")


def _uri(value: str) -> bool:
    match = _URI.fullmatch(value)
    if match is None or any(ord(char) < 0x20 or ord(char) == 0x7F for char in value):
        return False
    return match["host"] is None or _HOST.fullmatch(match["host"]) is not None


#: as Go's `mail.ParseAddress`: an address alone, or in brackets with words before it
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\u0080-\U0010ffff]+"
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*"'
_SPEC = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_ATOM}(?:\.{_ATOM})*|\[[^\[\]\\]*\])"
_WORD = rf"(?:{_ATOM}|{_QUOTED})"
_EMAIL = re.compile(rf"\s*(?:{_SPEC}|(?:{_WORD}(?:[\s.]+{_WORD})*[\s.]*)?<{_SPEC}>)\s*")


def _email(value: str) -> bool:
    return _EMAIL.fullmatch(value) is not None


_HOSTNAME = (
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)"
    r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
)
_LONGEST_HOSTNAME, _LONGEST_LABEL = 255, 63


def _hostname(value: str) -> bool:
    """The top of a domain has two letters and more; a name by itself has no hyphen but after its first letter."""
    if len(value.encode()) > _LONGEST_HOSTNAME or not matches(_HOSTNAME, value):
        return False
    return all(len(label.encode()) <= _LONGEST_LABEL for label in value.split("."))


_GO_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_LONG_DURATION = re.compile(r"\s*(?:[0-9]+\s*[A-Za-zµ]+\s*)+")
_UNIT = re.compile(r"[0-9]+\s*([A-Za-zµ]+)")
_UNITS = re.compile(r"(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)|(?:nano|micro|milli|sec|min|hour|day|week).*")


def _duration(value: str) -> bool:
    """A duration of Go, or one with words, one of which must be a unit of time."""
    if _GO_DURATION.fullmatch(value) is not None:
        return True
    known = any(_UNITS.fullmatch(unit.lower()) for unit in _UNIT.findall(value))
    return known and _LONG_DURATION.fullmatch(value) is not None


def _luhn(value: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", value)
    if not re.fullmatch(
        r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
        r"|(?:2131|1800|35\d{3})\d{11})",
        digits,
    ):
        return False
    total = 0
    for index, char in enumerate(reversed(digits)):
        double = int(char) * (1 + index % 2)
        total += double - 9 if double > 9 else double
    return total % 10 == 0


def _isbn10(value: str) -> bool:
    text = re.sub(r"[\s-]+", "", value)
    if not re.fullmatch(r"(?:[0-9]{9}X|[0-9]{10})", text):
        return False
    return sum((10 if char == "X" else int(char)) * (10 - index) for index, char in enumerate(text)) % 11 == 0


def _isbn13(value: str) -> bool:
    text = re.sub(r"[\s-]+", "", value)
    return (
        re.fullmatch(r"[0-9]{13}", text) is not None
        and sum(int(char) * (1 + 2 * (index % 2)) for index, char in enumerate(text)) % 10 == 0
    )


def _uuid(version: str = "[0-9a-f]", variant: str = "[0-9a-f]") -> Callable[[str], bool]:
    return _pattern(
        rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}", re.IGNORECASE
    )


_BYTE = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_PERCENT = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])%"

_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "bsonobjectid": _pattern(r"[0-9a-fA-F]{24}"),
    "uri": _uri,
    "email": _email,
    "hostname": _hostname,
    "ipv4": lambda value: _address(value, mark=".", zeros=True),
    "ipv6": lambda value: _address(value, mark=":", zeros=False),
    "cidr": _cidr,
    "mac": _pattern(
        r"[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}(?:(?:\1[0-9a-fA-F]{2}){2}|(?:\1[0-9a-fA-F]{2}){14})?"
        r"|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2}(?:\.[0-9a-fA-F]{4}|(?:\.[0-9a-fA-F]{4}){7})?"
    ),
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
    "isbn": lambda value: _isbn10(value) or _isbn13(value),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "creditcard": _luhn,
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _pattern(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _pattern(rf"rgb\(\s*(?:{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}|{_PERCENT}\s*,\s*{_PERCENT}\s*,\s*{_PERCENT})\s*\)"),
    "byte": _pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "date": _date,
    "duration": _duration,
    "datetime": _date_time,
    "k8sshortname": lambda value: not names.dns_label(value),
    "k8slongname": lambda value: not names.dns_subdomain(value),
}

_NUMBERS = {"integer": frozenset({"int32", "int64"}), "number": frozenset({"float", "double"})}
_STRINGS = frozenset({*_FORMATS, "password", "quantity"})


def known_format(schema: Mapping[str, Any]) -> str:
    """The format of a schema, if its type has such a one; others count for nothing.

    Source: apiextensions-apiserver `pkg/apiserver/validation/formats.go`.
    """
    form, kind = schema.get("format") or "", schema.get("type") or ""
    if not form:
        return ""
    if kind in {"", "string"}:
        return form if form.replace("-", "") in _STRINGS else ""
    return form if form in _NUMBERS.get(kind, ()) else ""
