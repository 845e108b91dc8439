"""Lists of completion indexes such as `0,2-3`.

Source: `pkg/apis/batch/validation` (validateIndexesFormat).
"""

from __future__ import annotations

import re


class IndexesError(ValueError):
    """The list makes no sense; the message is Kubernetes'."""


def count(text: str, completions: int) -> int:
    """How many indexes the list names; raises IndexesError."""
    total = 0
    last: int | None = None
    for interval in text.split(",") if text else ():
        limits = interval.split("-")
        if len(limits) > 2:
            why = "violates the requirement that an index interval can have at most two parts separated by '-'"
            raise IndexesError(f'the fragment "{interval}" {why}')
        for limit in limits:
            number = _index(limit, completions)
            if last is not None and last >= number:
                raise IndexesError(f"non-increasing order, previous: {last}, current: {number}")
            last = number
        total += int(limits[-1]) - int(limits[0]) + 1
    return total


def _index(text: str, completions: int) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII):
        raise IndexesError(f'cannot convert string to integer for index: "{text}"')
    if int(text) >= completions:
        raise IndexesError(f'too large index: "{text}"')
    return int(text)
