"""The checker itself: histories of a right store pass, and every kind of wrong that is put into one is found."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.consistency import History, OfStore, Workload, check, record
from setpoint.testing.consistency.history import Listing, Operation, Seen, Version, Watching

KEYS = [f"pods/{namespace}/x{number}" for namespace in "de" for number in range(3)]


async def right_history(seed: int) -> History:
    store = memory_store(VirtualClock())
    await store.open()
    history = History()
    load = Workload(history, KEYS, seed, prefixes=["pods/", "pods/d/"])
    await record(load, [OfStore(store) for _ in range(4)], steps=40)
    await store.close()
    return history


def version(revision: int) -> Version:
    return Version("a", revision, "t", "1")


# ---- wrongs, each put into a right history; False where there is no place for it


def writes(history: History) -> list[Operation]:
    return [each for each in history.operations if each.verb != "get" and each.outcome == "done"]


def lost_write(history: History, rng: random.Random) -> bool:
    """An acknowledged write that nobody ever sees again, as if it had not been durable."""
    lost = rng.choice(writes(history)[:-3])
    for watching in history.watches:
        watching.events[:] = [seen for seen in watching.events if seen.version.revision != lost.revision]
    for listing in history.listings:
        listing.items[:] = [item for item in listing.items if item.revision != lost.revision]
    return True


def stale_read(history: History, rng: random.Random) -> bool:
    """A read that shows what a write, acknowledged before its call, had replaced."""
    for read in rng.sample(history.operations, len(history.operations)):
        if read.verb != "get" or read.found is None:
            continue
        found = read.found
        older = [each.found for each in history.operations if each.found and each.found.key == read.key]
        older = [each for each in older if each.revision < found.revision]
        known = [each for each in writes(history) if each.key == read.key and each.returned < read.called]
        if older and known and older[0].revision < max(each.revision for each in known):
            read.found = older[0]
            return True
    return False


def duplicated_event(history: History, rng: random.Random) -> bool:
    events = rng.choice(history.watches).events
    place = rng.randrange(len(events))
    events.insert(place, events[place])
    return True


def gap(history: History, rng: random.Random) -> bool:
    """A watch that leaves an event out."""
    events = rng.choice(history.watches).events
    del events[rng.randrange(len(events) - 1)]
    return True


def swapped_events(history: History, rng: random.Random) -> bool:
    events = rng.choice(history.watches).events
    place = rng.randrange(len(events) - 1)
    events[place : place + 2] = reversed(events[place : place + 2])
    return True


def misnamed_event(history: History, rng: random.Random) -> bool:
    events = rng.choice(history.watches).events
    place = rng.choice([n for n, seen in enumerate(events) if seen.type != "DELETED"])
    events[place] = Seen("ADDED" if events[place].type == "MODIFIED" else "MODIFIED", events[place].version)
    return True


def list_of_two_revisions(history: History, rng: random.Random) -> bool:
    """A list whose second half was read later."""
    for early in rng.sample(history.listings, len(history.listings)):
        for late in history.listings:
            ours = [item for item in late.items if item.key.startswith(early.prefix)]
            mixed = early.items[:1] + [item for item in ours if not early.items or item.key > early.items[0].key]
            if late.revision > early.revision and mixed != early.items:
                early.items = mixed
                return True
    return False


def list_out_of_order(history: History, rng: random.Random) -> bool:
    found = [listing for listing in history.listings if len(listing.items) > 1]
    rng.choice(found).items.reverse()
    return True


def stale_list(history: History, _rng: random.Random) -> bool:
    """A list that was to be fresh, and is exact for a revision long past."""
    old = next(listing for listing in history.listings if listing.fresh)
    for late in reversed(history.listings):
        known = max(each.revision for each in writes(history) if each.returned < late.called)
        if late.fresh and old.revision < known:
            late.prefix, late.revision, late.items, late.remaining = old.prefix, old.revision, list(old.items), []
            return True
    return False


def wrong_remaining(history: History, rng: random.Random) -> bool:
    paged = [listing for listing in history.listings if listing.remaining]
    listing = rng.choice(paged)
    read, remaining = listing.remaining[0]
    listing.remaining[0] = (read, remaining + 1)
    return True


def revision_used_twice(history: History, rng: random.Random) -> bool:
    one, other = rng.sample(writes(history), 2)
    one.revision = other.revision
    return True


def revisions_against_time(history: History, _rng: random.Random) -> bool:
    """A write called after another's answer, with the lower number."""
    first, *_, last = writes(history)
    first.called, first.returned, last.called, last.returned = last.called, last.returned, first.called, first.returned
    return True


def refused_and_written(history: History, rng: random.Random) -> bool:
    rng.choice([each for each in writes(history) if each.token]).outcome = "failed"
    return True


def overtaken_update(history: History, rng: random.Random) -> bool:
    """An update that succeeded though it insisted on a version that was no more."""
    rng.choice([each for each in writes(history) if each.verb == "update"]).expect = 1
    return True


def groundless_refusal(history: History, _rng: random.Random) -> bool:
    """A create refused for an object that is not there."""
    moment = history.now()
    history.operations.append(Operation(9, "create", "pods/d/never", moment, "tx", 0, history.now(), "exists"))
    return True


WRONGS: list[Callable[[History, random.Random], bool]] = [
    lost_write,
    stale_read,
    duplicated_event,
    gap,
    swapped_events,
    misnamed_event,
    list_of_two_revisions,
    list_out_of_order,
    stale_list,
    wrong_remaining,
    revision_used_twice,
    revisions_against_time,
    refused_and_written,
    overtaken_update,
    groundless_refusal,
]


@pytest.mark.parametrize("wrong", WRONGS, ids=lambda wrong: wrong.__name__)
async def test_a_wrong_is_found(wrong: Callable[[History, random.Random], bool]) -> None:
    found = 0
    for seed in range(4):
        history = await right_history(seed)
        assert check(history) == []
        if wrong(history, random.Random(seed)):  # noqa: S311  predictable on purpose
            assert check(history), f"seed {seed}"
            found += 1
    assert found >= 2


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 30))
async def test_right_histories_pass(seed: int) -> None:
    assert check(await right_history(seed)) == []


# ---- small ones, by hand


def test_what_is_unknown_may_have_happened_or_not() -> None:
    history = History()
    first = history.call(1, "create", "a", token="t")
    late = history.call(2, "get", "a")
    history.answer(late, "missing")
    assert check(history) == []
    seen = history.call(2, "get", "a")
    seen.found = version(5)
    history.answer(seen, "done")
    assert check(history) == [], "it may take its time"
    again = history.call(2, "get", "a")
    history.answer(again, "missing")
    assert len(check(history)) == 1, "but it stays"
    assert first.outcome == "unknown"


def test_concurrent_reads_may_differ_but_not_go_back() -> None:
    history = History()
    write = history.call(1, "create", "a", token="t")
    reads = [history.call(client, "get", "a") for client in (2, 3)]
    reads[0].found = version(5)
    history.answer(reads[0], "done")
    history.answer(reads[1], "missing")
    write.revision, write.life = 5, "1"
    history.answer(write, "done")
    assert check(history) == []
    late = history.call(4, "get", "a")
    history.answer(late, "missing")
    assert len(check(history)) == 1


def test_a_read_cannot_know_the_future() -> None:
    history = History()
    read = history.call(2, "get", "a")
    read.found = version(5)
    history.answer(read, "done")
    write = history.call(1, "create", "a", token="t")
    write.revision, write.life = 5, "1"
    history.answer(write, "done")
    assert check(history)


def test_deletions_without_a_revision_are_told_apart_by_the_object() -> None:
    history = History()
    history.watches.append(
        Watching(1, "a", 0, 8, [Seen("ADDED", version(5)), Seen("DELETED", Version("a", 6, "", "1"))]),
    )
    for life, faults in (("1", 0), ("1", 1), ("2", 2)):
        deletion = history.call(1, "delete", "a")
        deletion.life = life
        history.answer(deletion, "done")
        assert len(check(history)) == faults


def test_an_empty_list_of_something() -> None:
    history = History()
    history.watches.append(Watching(1, "a", 0, 8, [Seen("ADDED", version(5))]))
    history.list_answered(Listing(1, "a", history.now(), revision=6))
    assert len(check(history)) == 1
