"""Times as Kubernetes reads and writes them: RFC 3339 as Go's `time.Parse` understands it, with Go's own complaints.

`Time` is written in whole seconds, `MicroTime` with exactly six digits, both in UTC. Reading a Time takes any fraction; reading a
MicroTime takes six digits and nothing else.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

SECONDS = "2006-01-02T15:04:05Z07:00"
MICROS = "2006-01-02T15:04:05.000000Z07:00"
ZERO = "0001-01-01T00:00:00Z"

#: every day but 29 February, which is left to the slow reader
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_plain = re.compile(rf"\d{{4}}-{_DAY}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{{6}})?Z").fullmatch
#: the elements of the layout: digits wanted, the layout's own text, the greatest value and its name
_ELEMENTS = (
    (4, "2006", 9999, "year"),
    (0, "-", 0, ""),
    (2, "01", 12, "month"),
    (0, "-", 0, ""),
    (2, "02", 31, "day"),
    (0, "T", 0, ""),
    (2, "15", 23, "hour"),
    (0, ":", 0, ""),
    (2, "04", 59, "minute"),
    (0, ":", 0, ""),
    (2, "05", 59, "second"),
)


class TimeError(ValueError):
    """The text is no time; the message is Go's."""


def _match(text: Any) -> re.Match[str] | None:
    if type(text) is not str:
        raise TimeError("a time is a string")
    return _plain(text)


def parse(text: str, layout: str = SECONDS) -> datetime:
    """The moment that `text` names; digits beyond microseconds are cut off."""
    return _Reader(text, layout).read()


def check(text: str, *, micro: bool = False) -> None:
    """Raises TimeError unless `text` is a Time, or a MicroTime."""
    found = _match(text)
    if found is None or (micro and not found[1]):
        parse(text, MICROS if micro else SECONDS)


def canonical(text: str) -> str:
    """As a Time is written: UTC, whole seconds."""
    found = _match(text)
    if found:
        return text if not found[1] else text[:19] + "Z"
    return _utc(parse(text)).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def canonical_micro(text: str) -> str:
    """As a MicroTime is written: UTC, six digits."""
    found = _match(text)
    if found and found[1]:
        return text
    return _utc(parse(text, MICROS)).strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _utc(moment: datetime) -> datetime:
    """In UTC; moments before the year 1 or after 9999 stay at that end."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


class _Reader:
    """Reads a text along a layout and, where it differs, says so as Go does."""

    def __init__(self, text: str, layout: str) -> None:
        self.text = text
        self.layout = layout
        self.rest = text

    def read(self) -> datetime:
        values: list[int] = []
        for width, element, greatest, name in _ELEMENTS:
            if width:
                values.append(self._number(width, element, greatest, name))
            elif self.rest.startswith(element):
                self.rest = self.rest[1:]
            else:
                raise self._cannot(self.rest, element)
        micros = self._fraction()
        zone = self._zone()
        if self.rest:
            raise self._error(f": extra text: {_quote(self.rest)}")
        year, month, day, hour, minute, second = values
        if month == 0:
            raise self._error(": month out of range")
        if day == 0 or day > _days(year, month):
            raise self._error(": day out of range")
        return datetime(max(year, 1), month, day, hour, minute, second, micros, zone)

    def _number(self, width: int, element: str, greatest: int, name: str) -> int:
        digits = self.rest[:width]
        if len(digits) < width or not (digits.isascii() and digits.isdigit()):
            raise self._cannot(self.rest, element)
        self.rest = self.rest[width:]
        if int(digits) > greatest and name != "day":
            raise self._error(f": {name} out of range")
        return int(digits)

    def _fraction(self) -> int:
        """A Time takes any fraction after the seconds, a MicroTime six digits; what follows those is no zone."""
        found = re.match(r"[.,](\d{6})" if self.layout == MICROS else r"[.,](\d+)", self.rest, re.ASCII)
        if self.layout == MICROS and found is None:
            raise self._cannot(self.rest, ".000000")
        if found is None:
            return 0
        self.rest = self.rest[found.end() :]
        return int(found[1][:6].ljust(6, "0"))

    def _zone(self) -> timezone:
        if self.rest.startswith("Z"):
            self.rest = self.rest[1:]
            return UTC
        found = re.match(r"([+-])(\d\d):(\d\d)", self.rest, re.ASCII)
        if found is None:
            raise self._cannot(self.rest, "Z07:00")
        hours, minutes = int(found[2]), int(found[3])
        if hours > 24:
            raise self._error(": time zone offset hour out of range")
        if minutes > 60:
            raise self._error(": time zone offset minute out of range")
        self.rest = self.rest[found.end() :]
        offset = min(timedelta(hours=hours, minutes=minutes), timedelta(hours=23, minutes=59))
        return timezone(offset if found[1] == "+" else -offset)

    def _cannot(self, value: str, element: str) -> TimeError:
        return TimeError(
            f"parsing time {_quote(self.text)} as {_quote(self.layout)}: cannot parse {_quote(value)} as {_quote(element)}"
        )

    def _error(self, why: str) -> TimeError:
        return TimeError(f"parsing time {_quote(self.text)}{why}")


def _days(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def _quote(text: str) -> str:
    """As Go's time package quotes: escapes for quotes, backslashes, control and non-ASCII bytes."""
    out = ['"']
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif " " <= char <= "~":
            out.append(char)
        else:
            out.extend(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    return "".join(out) + '"'
