"""Patterns and formats of strings in schemas. Source: kube-openapi `validation/strfmt`; Go's `regexp` for patterns."""

from __future__ import annotations

import base64
import binascii
import functools
import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

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
    """Whether a string is of a format; formats that nobody knows fit everything."""
    check = _FORMATS.get(kind)
    return check is None or check(value)


def _pattern(text: str, flags: int = 0) -> Callable[[str], bool]:
    expression = re.compile(text, flags | re.ASCII)
    return lambda value: expression.fullmatch(value) is not None


def _address(value: str, *, version: int) -> bool:
    try:
        return ipaddress.ip_address(value).version == version and "%" not in value
    except ValueError:
        return False


def _cidr(value: str) -> bool:
    if "/" not in value:
        return False
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return value.rpartition("/")[2].isdigit()


def _date(value: str) -> bool:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)?", re.ASCII
)


def _date_time(value: str) -> bool:
    match = _TIME.fullmatch(value)
    return match is not None and _date(match[1])


def _base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _uri(value: str) -> bool:
    """As Go's `url.ParseRequestURI`: absolute, or a path from the root."""
    if not value or any(ord(char) <= 0x20 or ord(char) == 0x7F for char in value):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    if re.search(r"%(?![0-9a-fA-F]{2})", value):
        return False
    return bool(parts.scheme) or value.startswith("/")


def _email(value: str) -> bool:
    name, at, host = value.rpartition("@")
    if value.endswith(">") and "<" in value:
        return _email(value[value.index("<") + 1 : -1])
    return bool(at and name and host) and re.fullmatch(r"[^\s@<>,;:\[\]\\\"()]+", name) is not None and " " not in host


def _hostname(value: str) -> bool:
    if len(value) > 255 or not value:
        return False
    labels = value.removesuffix(".").split(".")
    return all(re.fullmatch(r"[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9_])?", label) for label in labels)


_UNITS = (
    r"(?:nanoseconds?|nanos?|ns|microseconds?|micros?|us|µs|milliseconds?|millis?|ms|seconds?|secs?|s|minutes?|mins?|m"
    r"|hours?|hrs?|h|days?|d|weeks?|wks?|w)"
)
_GO_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_LONG_DURATION = re.compile(rf"(?:\s*\d+\s*{_UNITS})+\s*")


def _duration(value: str) -> bool:
    return _GO_DURATION.fullmatch(value) is not None or _LONG_DURATION.fullmatch(value.lower()) is not None


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
    "ipv4": lambda value: _address(value, version=4),
    "ipv6": lambda value: _address(value, version=6),
    "cidr": _cidr,
    "mac": _pattern(
        r"(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"
        r"|(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\2){6}[0-9a-fA-F]{2}"
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
    "byte": _base64,
    "date": _date,
    "duration": _duration,
    "date-time": _date_time,
    "datetime": _date_time,
    "k8s-short-name": lambda value: not names.dns_label(value),
    "k8s-long-name": lambda value: not names.dns_subdomain(value),
}
