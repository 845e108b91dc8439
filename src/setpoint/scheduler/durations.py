"""Go's way to write durations."""

from __future__ import annotations

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_duration = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)")


def seconds_of(duration: str) -> float:
    """A Go duration ("1m30s") in seconds. Raises ValueError with Go's message."""
    parts = _duration.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f'time: invalid duration "{duration}"')
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
