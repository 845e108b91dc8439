"""Sets of completion indexes as ranges: `0-2,4`. As `pkg/controller/job/indexed_job_utils.go`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct


class Indexes(Struct, frozen=True):
    """Ranges (first, last), in order, with gaps between them."""

    ranges: tuple[tuple[int, int], ...] = ()

    def __contains__(self, index: int) -> bool:
        return any(first <= index <= last for first, last in self.ranges)

    def __str__(self) -> str:
        """A range of two is written as two numbers."""
        return ",".join(_text(first, last) for first, last in self.ranges)

    def __or__(self, other: Indexes) -> Indexes:
        return Indexes(tuple(_joined(sorted([*self.ranges, *other.ranges]))))

    @property
    def total(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)

    def common(self, other: Indexes) -> int:
        """How many indexes both have."""
        pairs = ((a, b) for a in self.ranges for b in other.ranges)
        return sum(max(0, min(a[1], b[1]) - max(a[0], b[0]) + 1) for a, b in pairs)

    def missing(self, count: int, limit: int) -> list[int]:
        """The first `count` indexes below `limit` that are not in the set."""
        found: list[int] = []
        candidate = 0
        for first, last in (*self.ranges, (limit, limit)):
            while candidate < min(first, limit) and len(found) < count:
                found.append(candidate)
                candidate += 1
            candidate = max(candidate, last + 1)
        return found


def _text(first: int, last: int) -> str:
    if first == last:
        return str(first)
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def _joined(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Sorted ranges without overlaps, neighbours as one."""
    current: tuple[int, int] | None = None
    for first, last in ranges:
        if current is not None and first <= current[1] + 1:
            current = (current[0], max(current[1], last))
            continue
        if current is not None:
            yield current
        current = (first, last)
    if current is not None:
        yield current


def of(indexes: Iterable[int]) -> Indexes:
    return Indexes(tuple(_joined(sorted((index, index) for index in indexes))))


def parse(text: str, limit: int) -> Indexes:
    """Indexes of `limit` and above are left out: the job was made smaller since."""
    ranges = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if int(first) < limit:
            ranges.append((int(first), min(int(last or first), limit - 1)))
    return Indexes(tuple(_joined(ranges)))
