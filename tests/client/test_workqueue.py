from __future__ import annotations

import asyncio

import pytest

from setpoint.client.workqueue import Core, WorkQueue
from setpoint.kit.clock import VirtualClock


def test_core_keys_come_out_once_and_in_order() -> None:
    core: Core[str] = Core()
    assert [core.add(key, 0) for key in "abab"] == [True, True, False, False]
    assert [core.take(1), core.take(1), core.take(1)] == [("a", 0), ("b", 0), None]


def test_core_a_key_added_while_processed_comes_again_after_done() -> None:
    core: Core[str] = Core()
    core.add("a", 0)
    core.take(1)
    assert core.add("a", 2)
    assert core.take(3) is None
    assert core.done("a") == 1
    assert core.take(4) == ("a", 2)


def test_core_the_earlier_moment_holds() -> None:
    core: Core[str] = Core()
    core.add_at("a", 10)
    assert not core.add_at("a", 20)
    assert core.add_at("a", 5)
    assert core.next_due() == 5
    assert core.ripen(4) == 0
    assert core.ripen(5) == 1
    assert core.next_due() is None
    assert core.ripen(100) == 0


async def test_get_waits_for_what_is_due() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, "q")
    queue.add_after("late", 30)
    getting = asyncio.ensure_future(queue.get())
    await clock.advance(29)
    assert not getting.done()
    queue.add_after("sooner", 0.5)
    await clock.advance(0.5)
    assert getting.result() == "sooner"
    assert queue.activity().due == clock.now() + 0.5


async def test_a_due_key_is_not_missed_when_the_woken_worker_takes_another_one() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, "q")
    workers = [asyncio.ensure_future(queue.get()) for _ in range(3)]
    await clock.idle()
    queue.add_after("b", 5)
    queue.add("a")
    await clock.advance(5)
    assert sorted(worker.result() for worker in workers if worker.done()) == ["a", "b"]
    workers[-1].cancel()


async def test_a_cancelled_get_takes_nothing() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, "q")
    first, second = asyncio.ensure_future(queue.get()), asyncio.ensure_future(queue.get())
    await clock.idle()
    queue.add("a")
    first.cancel()
    await clock.idle()
    assert second.result() == "a"


async def test_backoff_doubles_from_five_milliseconds_to_a_thousand_seconds() -> None:
    queue: WorkQueue[str] = WorkQueue(VirtualClock(), "q")
    delays = [queue.add_backoff("a") for _ in range(20)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000.0
    assert queue.failures("a") == 20
    queue.forget("a")
    assert queue.add_backoff("a") == 0.005


async def test_activity_tells_retries_from_what_is_merely_due() -> None:
    clock = VirtualClock()
    queue: WorkQueue[str] = WorkQueue(clock, "q")
    assert queue.activity().settled
    queue.add_after("a", 60)
    assert queue.activity().settled
    queue.add_backoff("b")
    assert not queue.activity().settled
    await clock.advance(1)
    assert await queue.get() == "b"
    assert queue.activity().in_flight == 1
    queue.done("b")
    assert queue.activity().settled


async def test_close_lets_workers_drain_and_end() -> None:
    queue: WorkQueue[str] = WorkQueue(VirtualClock(), "q")
    queue.add("a")
    queue.close()
    assert await queue.get() == "a"
    with pytest.raises(WorkQueue.Closed):
        await queue.get()
