"""Integers in texts, as Go's `strconv.ParseInt` reads them: Python takes more (blanks, underscores, any length, other digits)."""

from __future__ import annotations

import re

_LONGEST = 40  # characters; zeros may lead
_integer = re.compile(r"[+-]?[0-9]+").fullmatch


def int64(text: str) -> int | None:
    """The number, None where Go refuses."""
    if len(text) > _LONGEST or not _integer(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def parse(text: str) -> int:
    """The number; raises ValueError in Go's words."""
    number = int64(text)
    if number is None:
        from setpoint.api.machinery.schema.reading import go_quoted

        why = "value out of range" if _integer(text) else "invalid syntax"
        raise ValueError(f"strconv.ParseInt: parsing {go_quoted(text)}: {why}")
    return number
