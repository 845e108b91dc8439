"""The index by itself: retention, floors, what may be erased."""

from __future__ import annotations

import pytest

from setpoint.storage.mvcc import EVENT_BYTES, Index, Retention
from setpoint.storage.protocol import Compacted, Event, Record


class Writer:
    """Writes to an Index, one revision after the other."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.now = 0.0

    def put(self, key: str, value: bytes = b"x") -> int:
        revision = self.index.revision + 1
        previous = self.index.get(key)
        record = Record(key, value, revision, previous.created if previous else revision)
        self.index.apply(Event(key, revision, record, previous), self.now)
        return revision

    def delete(self, key: str) -> int:
        revision = self.index.revision + 1
        self.index.apply(Event(key, revision, None, self.index.get(key)), self.now)
        return revision


def test_history_ends_by_age() -> None:
    index = Index(Retention(seconds=10))
    writer = Writer(index)
    first = writer.put("pods/d/a")
    writer.now = 5
    second = writer.put("pods/d/a")
    writer.now = 12
    index.trim(writer.now)
    assert index.floor == first
    writer.now = 16
    index.trim(writer.now)
    assert index.floor == second
    assert index.take_dead() == [first]
    with pytest.raises(Compacted):
        index.get_at("pods/d/a", first)


def test_history_ends_by_bytes() -> None:
    index = Index(Retention(bytes=10 * (EVENT_BYTES + 100)))
    writer = Writer(index)
    for _ in range(50):
        writer.put("pods/d/a", b"x" * 100)
    assert index.history_bytes <= index.retention.bytes
    assert index.floor == 40
    assert len(index.events_after("pods/", 40)) == 10
    assert index.take_dead() == list(range(1, 40))


def test_dropped_events_are_let_go_without_being_asked() -> None:
    """Their objects would else be held until the journal is next cleaned up, a minute's writes long."""
    index = Index(Retention(bytes=10 * (EVENT_BYTES + 100)))
    writer = Writer(index)
    for _ in range(1000):
        writer.put("pods/d/a", b"x" * 100)
    assert len(index._collections["pods/"].events) < 150
    assert [event.revision for event in index.events_after("pods/", index.floor)] == list(range(index.floor + 1, 1001))


def test_deletions_leave_nothing_behind() -> None:
    index = Index()
    writer = Writer(index)
    for n in range(10):
        writer.put(f"pods/d/{n}")
    for n in range(10):
        writer.delete(f"pods/d/{n}")
    index.compact(index.revision)
    assert sorted(index.take_dead()) == list(range(1, 21))
    [collection] = index._collections.values()
    assert [len(part) for part in (collection.keys, index._live, collection.past, collection.gone, collection.events)] == [0] * 5
    assert index.history_bytes == 0


def test_remaining_at_a_past_revision() -> None:
    index = Index()
    writer = Writer(index)
    for name in "abcdefgh":
        writer.put(f"pods/d/{name}")
    then = index.revision
    writer.delete("pods/d/f")
    writer.put("pods/d/bb")
    writer.put("pods/d/zz")
    writer.put("pods/d/g")
    page = index.list("pods/", then, "", 3)
    assert [record.key[-1] for record in page.records] == ["a", "b", "c"]
    assert page.remaining == 5
    assert index.list("pods/", 0, "", 3).remaining == 6
