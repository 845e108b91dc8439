"""Ranges of sizes and costs, whose arithmetic stops at the greatest unsigned 64-bit number instead of overflowing."""

from __future__ import annotations

import math

from msgspec import Struct

MAX = 2**64 - 1


class Span(Struct, frozen=True):
    """From the least to the most."""

    min: int
    max: int

    def __add__(self, other: Span) -> Span:
        return Span(min(self.min + other.min, MAX), min(self.max + other.max, MAX))

    def __mul__(self, other: Span) -> Span:
        return Span(min(self.min * other.min, MAX), min(self.max * other.max, MAX))

    def times(self, factor: float) -> Span:
        """Rounded up to whole units."""
        return Span(_scaled(self.min, factor), _scaled(self.max, factor))

    def union(self, other: Span) -> Span:
        return Span(min(self.min, other.min), max(self.max, other.max))


def fixed(value: int) -> Span:
    return Span(value, value)


def _scaled(value: int, factor: float) -> int:
    return min(math.ceil(float(value) * factor), MAX)


FREE, ONE = fixed(0), fixed(1)
UNKNOWN = Span(0, MAX)
#: the union of no sizes at all
NONE = Span(MAX, 0)
