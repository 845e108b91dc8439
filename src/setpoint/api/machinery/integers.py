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
