"""Publishing looks only at those who watch."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from setpoint.storage.protocol import Event, Lagged, Only, Record
from setpoint.storage.watchers import KEEP_LINES, WOKEN_AT_ONCE, Watcher, Watchers


def event(key: str, revision: int) -> Event:
    return Event(key, revision, None, None)


def test_only_the_watchers_of_a_prefix_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    watchers = Watchers()
    for n in range(1000):
        watchers.add(f"pods/namespace-{n:04}/", 0, [], 10)
    asked: list[str] = []
    offer = Watcher.offer

    def spy(self: Watcher, event: Event) -> bool:
        asked.append(self.prefix)
        return offer(self, event)

    monkeypatch.setattr(Watcher, "offer", spy)
    watchers.publish([event("pods/namespace-0007/a", 1)], 1)
    assert asked == ["pods/namespace-0007/"]


def test_only_the_watchers_of_a_value_are_asked() -> None:
    def node_of(record: Record) -> str:
        return record.value.decode()

    watchers = Watchers()
    everyone = watchers.add("pods/", 0, [], 10)
    watching = {node: watchers.add("pods/", 0, [], 10, Only(node_of, node)) for node in ("", "n1", "n2", "n3")}
    waiting, bound = Record("pods/d/a", b"", 1, 1), Record("pods/d/a", b"n1", 2, 1)
    watchers.publish(
        [Event("pods/d/a", 1, waiting, None), Event("pods/d/a", 2, bound, waiting), Event("pods/d/a", 3, None, bound)], 3
    )
    told = {node: [event.revision for event in watcher.ready()] for node, watcher in watching.items()}
    assert told == {"": [1, 2], "n1": [2, 3], "n2": [], "n3": []}
    assert len(everyone.ready()) == 3
    for watcher in (everyone, *watching.values()):
        watchers.remove(watcher)
    assert len(watchers) == 0


def test_every_prefix_of_a_key_is_served() -> None:
    watchers = Watchers()
    prefixes = ["", "pods/", "pods/d/", "pods/d/web", "pods/d/web-1", "pods/d/x", "podtemplates/"]
    watching = {prefix: watchers.add(prefix, 0, [], 10) for prefix in prefixes}
    watchers.publish([event("pods/d/web-1", 1)], 1)
    assert [prefix for prefix, watcher in watching.items() if watcher.ready()] == prefixes[:5]


async def test_what_was_missed_does_not_count_against_a_new_watcher() -> None:
    watchers = Watchers()
    watcher = watchers.add("pods/", 0, [event("pods/d/a", n) for n in range(1, 21)], 2)
    watchers.publish([event("pods/d/a", 21), event("pods/d/a", 22)], 22)
    assert len(watcher.ready()) == 22
    watchers.publish([event("pods/d/a", n) for n in range(23, 60)], 59)
    with pytest.raises(Lagged):
        await watcher.next()
    assert len(watchers) == 0
    assert watchers.lagged == 1


def test_old_events_lose_their_encoded_lines() -> None:
    watchers = Watchers()
    old, new = event("pods/d/a", 1), event("pods/d/a", KEEP_LINES + 1)
    old.lines, new.lines = {"ADDED": b"old"}, {"ADDED": b"new"}
    watchers.publish([old], 1)
    watchers.publish([*(event("pods/d/a", n) for n in range(2, KEEP_LINES + 1)), new], KEEP_LINES + 1)
    kept = [each.lines for each in (old, new)]
    assert kept == [None, {"ADDED": b"new"}]


async def test_many_watchers_are_woken_some_at_a_time() -> None:
    """Whoever else has something to do gets a turn in between."""
    watchers = Watchers()
    many = [watchers.add("pods/", 0, (), 10) for _ in range(5 * WOKEN_AT_ONCE)]
    woken = 0

    async def wait(watcher: Watcher) -> None:
        nonlocal woken
        await watcher.next()
        woken += 1

    waiting = [asyncio.ensure_future(wait(watcher)) for watcher in many]
    await asyncio.sleep(0)
    for revision in (1, 2):
        watchers.publish([Event(f"pods/{revision}", revision, Record(f"pods/{revision}", b"{}", revision, revision), None)], 2)
    seen = []
    while woken < len(many):
        await asyncio.sleep(0)
        seen.append(woken)
    assert max(after - before for before, after in itertools.pairwise([0, *seen])) <= WOKEN_AT_ONCE
    assert len(seen) < 20
    assert all(not watcher.ready() for watcher in many)
    await asyncio.gather(*waiting)


def test_lengths_of_prefixes_are_known_as_long_as_somebody_has_one() -> None:
    watchers = Watchers()
    first, second, long = (watchers.add(prefix, 0, [], 10) for prefix in ("pods/a/", "pods/b/", "pods/longer/"))
    again = watchers.add("pods/a/", 0, [], 10)
    assert watchers._lengths == {"pods/": {7: 2, 12: 1}}
    for gone in (first, first, long):
        watchers.remove(gone)
    assert watchers._lengths == {"pods/": {7: 2}}
    watchers.publish([event("pods/a/x", 1), event("pods/longer/x", 2)], 2)
    assert (len(again.ready()), len(second.ready()), len(first.ready())) == (1, 0, 0)
    watchers.end_all()
    watchers.remove(again)
    assert watchers._lengths == {}
