"""Lists of completion indexes such as `0,2-3`.

Source: `pkg/apis/batch/validation` (validateIndexesFormat).
"""

from __future__ import annotations

import re
from collections.abc import Iterator


class IndexesError(ValueError):
    """The list makes no sense; the message is Kubernetes'."""


def count(text: str, completions: int) -> int:
    """How many indexes the list names; raises IndexesError."""
    total = 0
    last: int | None = None
    for interval in text.split(",") if text else ():
        first, final = _interval(interval, completions)
        if last is not None and last >= first:
            raise IndexesError(f"non-increasing order, previous: {last}, current: {first}")
        total += final - first + 1
        last = final
    return total


def overlap(text: str, other: str, completions: int) -> int | None:
    """An index that both lists name; intervals that make no sense name none."""
    others = list(_sound(other, completions))
    for first, last in _sound(text, completions):
        for begin, end in others:
            if first <= end and begin <= last:
                return max(first, begin)
    return None


def _sound(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in text.split(",") if text else ():
        try:
            yield _interval(interval, completions)
        except IndexesError:
            continue


def _interval(text: str, completions: int) -> tuple[int, int]:
    """The first and the last index of one part of a list."""
    limits = text.split("-")
    if len(limits) > 2:
        why = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise IndexesError(f'the fragment "{text}" {why}')
    numbers = [_index(limit, completions) for limit in limits]
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise IndexesError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]


def _index(text: str, completions: int) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text, re.ASCII):
        raise IndexesError(f'cannot convert string to integer for index: "{text}"')
    if int(text) >= completions:
        raise IndexesError(f'too large index: "{text}"')
    return int(text)
