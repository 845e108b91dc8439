"""A follower knows what is in the store, whatever the store makes of its watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.following import Following, Picture
from setpoint.storage.local import LocalStore
from setpoint.storage.protocol import Encoded, Event, Lagged, Record, StoreError, Unavailable
from setpoint.storage.watchers import Watcher


@pytest.fixture
async def store(clock: VirtualClock) -> AsyncIterator[LocalStore]:
    made = memory_store(clock)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


async def write(store: LocalStore, key: str, value: str = "{}") -> None:
    await store.create(key, lambda _: Encoded(value.encode()))


async def following(made: Following, clock: VirtualClock) -> asyncio.Task[None]:
    task = asyncio.ensure_future(made.run())
    await clock.idle()
    return task


async def test_a_burst_is_told_of_once_and_others_objects_are_not(store: LocalStore, clock: VirtualClock) -> None:
    bursts: list[dict[str, object]] = []
    picture = Picture(store, clock, "lamps/", lambda: bursts.append(dict(picture.objects)))
    await write(store, "lamps/a", '{"on": 1}')
    await picture.load()
    task = await following(picture, clock)
    await asyncio.gather(write(store, "lamps/b"), write(store, "locks/c"), write(store, "lamps/d"))
    await store.delete("lamps/a")
    await clock.idle()
    task.cancel()
    assert bursts[0] == {"lamps/a": {"on": 1}}
    assert bursts[-1] == {"lamps/b": {}, "lamps/d": {}}
    assert len(bursts) <= 3


@pytest.mark.parametrize("error", [Lagged("slow"), Unavailable("busy")])
async def test_what_was_missed_is_found_again(
    store: LocalStore, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch, error: StoreError
) -> None:
    await write(store, "lamps/a")
    picture = Picture(store, clock, "lamps/", lambda: None)
    task = await following(picture, clock)  # without `load`
    assert list(picture.objects) == ["lamps/a"]
    next_events = Watcher.next
    errors = [error]

    async def miss(watcher: Watcher) -> Sequence[Event]:
        events = await next_events(watcher)
        if errors:
            raise errors.pop()
        return events

    monkeypatch.setattr(Watcher, "next", miss)
    task.cancel()
    task = await following(picture, clock)
    await store.delete("lamps/a")
    await write(store, "lamps/b")
    await clock.advance(2)
    task.cancel()
    assert not errors
    assert list(picture.objects) == ["lamps/b"]


async def test_one_that_cannot_be_taken_does_not_keep_the_others_away(store: LocalStore, clock: VirtualClock) -> None:
    taken: list[str] = []

    def take(key: str, _record: Record | None) -> None:
        if key == "lamps/b":
            raise ValueError(key)
        taken.append(key)

    for name in "abc":
        await write(store, f"lamps/{name}")
    await Following(store, clock, "lamps/", take).load()
    assert taken == ["lamps/a", "lamps/c"]


async def test_what_is_ready_can_be_taken_at_once(
    store: LocalStore, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(_: Watcher) -> Sequence[Event]:
        await asyncio.Event().wait()
        return ()

    monkeypatch.setattr(Watcher, "next", late)
    picture = Picture(store, clock, "lamps/", lambda: None)
    task = await following(picture, clock)
    await write(store, "lamps/a")
    assert picture.catch_up()
    assert list(picture.objects) == ["lamps/a"]
    assert not picture.catch_up()
    task.cancel()
