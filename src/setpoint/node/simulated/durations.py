"""Durations as people write them, and the error of a declaration that cannot be used."""

from __future__ import annotations

import re
from typing import Any

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


class StageError(ValueError):
    """A declaration of stages that cannot be used; the message says where and why."""


def seconds(value: Any, where: str) -> float:
    """A number of seconds, or Go's form: `1h30m`, `1.5s`, `200ms`. Raises StageError, naming `where`."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    found = parsed(value) if isinstance(value, str) else None
    if found is None:
        raise StageError(f"{where}: {value!r} is no duration such as 1m30s, 200ms or a number of seconds")
    return found


def parsed(text: str) -> float | None:
    """The seconds of Go's form; None if it is none."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
