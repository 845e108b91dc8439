from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from setpoint.api.machinery import status
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import NAMESPACES, Namespace
from setpoint.client.client import Client, WatchEvent
from setpoint.client.controller import Controller, Result, TerminalError
from setpoint.client.informer import ADDED, DELETED, Informer
from setpoint.kit.clock import VirtualClock


class Steps:
    """Observed is the key, the plan is the key in capitals unless the key is `same`."""

    def __init__(self, act: Callable[[str], Awaitable[Result | None]]) -> None:
        self._act = act

    def observe(self, key: str) -> str | None:
        return None if key == "none" else key

    def diff(self, observed: str) -> str | None:
        return None if observed == "same" else observed.upper()

    async def act(self, plan: str) -> Result | None:
        return await self._act(plan)


async def nothing(_: str) -> None:
    return None


@pytest.mark.parametrize(("key", "outcome", "plan"), [("none", "gone", None), ("same", "unchanged", None), ("a", "acted", "A")])
async def test_a_cycle_is_traced(key: str, outcome: str, plan: str | None) -> None:
    controller: Controller[str, str] = Controller("c", Steps(nothing), VirtualClock())
    cycle = await controller.cycle(key)
    assert (cycle.outcome, cycle.plan) == (outcome, plan)
    assert controller.trace.last(key) is cycle


async def test_errors_are_tried_again_with_backoff_and_forgotten_on_success() -> None:
    clock = VirtualClock()
    errors: list[Exception] = [status.conflict("", "pods", "x", "changed"), status.conflict("", "pods", "x", "changed")]
    done: list[float] = []

    async def act(_: str) -> Result | None:
        if errors:
            raise errors.pop()
        done.append(clock.elapsed)
        return None

    controller: Controller[str, str] = Controller("c", Steps(act), clock)
    running = asyncio.ensure_future(controller.run())
    controller.enqueue("a")
    await clock.advance(1)
    assert done == [pytest.approx(0.015)]
    assert controller.queue.failures("a") == 0
    assert [cycle.outcome for cycle in controller.trace.cycles("a")] == ["retry", "retry", "acted"]
    running.cancel()


async def test_requeue_after_and_terminal_errors() -> None:
    clock = VirtualClock()
    seen: list[tuple[str, float]] = []

    async def act(plan: str) -> Result | None:
        seen.append((plan, clock.elapsed))
        if plan == "BAD":
            raise TerminalError("no")
        return Result(requeue_after=10)

    controller: Controller[str, str] = Controller("c", Steps(act), clock)
    running = asyncio.ensure_future(controller.run())
    controller.enqueue("bad")
    controller.enqueue("a")
    await clock.advance(25)
    assert seen == [("BAD", 0), ("A", 0), ("A", 10), ("A", 20)]
    assert controller.activity().settled
    running.cancel()


async def test_one_worker_per_key() -> None:
    clock = VirtualClock()
    working: set[str] = set()

    async def act(plan: str) -> Result | None:
        assert plan not in working
        working.add(plan)
        await clock.sleep(1)
        working.discard(plan)
        return None

    controller: Controller[str, str] = Controller("c", Steps(act), clock, workers=4)
    running = asyncio.ensure_future(controller.run())
    for _ in range(5):
        controller.enqueue("a")
        controller.enqueue("b")
        await clock.advance(0.3)
    assert {cycle.outcome for cycle in controller.trace.cycles()} == {"acted"}
    running.cancel()


@pytest.mark.parametrize(("gone", "expected"), [(False, []), (True, ["b"])])
async def test_a_controller_follows_an_informer(gone: bool, expected: list[str]) -> None:
    clock = VirtualClock()
    informer = Informer(cast("Client", None), NAMESPACES, clock)
    controller: Controller[str, str] = Controller("c", Steps(nothing), clock)
    controller.follow(informer, gone=gone)
    for name in ("a", "b"):
        informer.apply([WatchEvent(ADDED, convert({"metadata": {"name": name}}, Namespace))])
        assert await controller.queue.get() == name
        controller.queue.done(name)
    informer.apply([WatchEvent(DELETED, convert({"metadata": {"name": "b"}}, Namespace))])
    assert [await controller.queue.get() for _ in range(len(controller.queue))] == expected
