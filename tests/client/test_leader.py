from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from setpoint.api.machinery import status
from setpoint.client.client import ClientProtocol, WatchEvent
from setpoint.client.leader import LeaderElection, LeadershipLost
from setpoint.client.transport import TransportError
from setpoint.kit.clock import VirtualClock


class Leases:
    """One lease with optimistic concurrency; `cut` names those who cannot reach it."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.watchers: list[asyncio.Queue[dict[str, Any]]] = []

    def _put(self, body: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        self.lease = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        for watcher in self.watchers:
            watcher.put_nowait(self.lease)
        return self.lease


class Candidate:
    """The client of one candidate."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases
        self.cut = False

    def _reach(self) -> None:
        if self.cut:
            raise TransportError("cut")

    async def watch(self, *_: Any, **__: Any) -> AsyncGenerator[list[WatchEvent[dict[str, Any]]], None]:
        self._reach()
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.leases.watchers.append(queue)
        while True:
            yield [WatchEvent("MODIFIED", await queue.get())]

    async def get(self, *_: Any) -> dict[str, Any]:
        self._reach()
        if self.leases.lease is None:
            raise status.not_found("coordination.k8s.io", "leases", "x")
        return self.leases.lease

    async def create(self, _: Any, body: dict[str, Any], __: str) -> dict[str, Any]:
        self._reach()
        if self.leases.lease is not None:
            raise status.already_exists("coordination.k8s.io", "leases", "x")
        return self.leases._put(body)

    async def update(self, _: Any, body: dict[str, Any], __: str) -> dict[str, Any]:
        self._reach()
        assert self.leases.lease is not None
        if body["metadata"]["resourceVersion"] != self.leases.lease["metadata"]["resourceVersion"]:
            raise status.conflict("coordination.k8s.io", "leases", "x", "changed")
        return self.leases._put(body)


def candidate(leases: Leases, identity: str, clock: VirtualClock) -> tuple[Candidate, LeaderElection]:
    client = Candidate(leases)
    rng = random.Random(1)  # noqa: S311  # a test must repeat itself
    return client, LeaderElection(cast("ClientProtocol", client), "x", identity, clock, rng=rng)


async def forever() -> None:
    await asyncio.Event().wait()


async def test_one_leads_the_other_waits_and_takes_over_when_the_first_is_cut_off() -> None:
    clock, leases = VirtualClock(), Leases()
    one, first = candidate(leases, "one", clock)
    _, second = candidate(leases, "two", clock)
    running = asyncio.ensure_future(first.run(forever))
    await clock.advance(1)
    waiting = asyncio.ensure_future(second.run(forever))
    await clock.advance(60)
    assert (first.is_leader, second.is_leader) == (True, False)
    one.cut = True
    await clock.advance(10.1)
    assert isinstance(running.exception(), LeadershipLost)
    assert not second.is_leader
    await clock.advance(12)
    assert second.is_leader
    assert leases.lease is not None
    assert leases.lease["spec"]["leaseTransitions"] == 1
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_a_dead_leader_is_replaced_when_its_lease_ends() -> None:
    clock, leases = VirtualClock(), Leases()
    one, first = candidate(leases, "one", clock)
    _, second = candidate(leases, "two", clock)
    running = asyncio.ensure_future(first.run(forever))
    await clock.advance(0.5)
    waiting = asyncio.ensure_future(second.run(forever))
    await clock.advance(60)
    version = leases.version
    while leases.version == version:
        await clock.advance(0.1)
    one.cut = True  # dies just after a renewal
    await clock.advance(14.8)
    assert not second.is_leader
    await clock.advance(0.3)
    assert second.is_leader
    for task in (running, waiting):
        task.cancel()
    await asyncio.wait([running, waiting])


async def test_one_that_waits_takes_over_at_once_when_the_lease_is_given_back() -> None:
    clock, leases = VirtualClock(), Leases()
    _, first = candidate(leases, "one", clock)
    _, second = candidate(leases, "two", clock)
    running = asyncio.ensure_future(first.run(forever))
    await clock.advance(1)
    waiting = asyncio.ensure_future(second.run(forever))
    await clock.advance(30)
    running.cancel()
    await clock.advance(0.01)
    assert second.is_leader
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_a_cancelled_leader_gives_the_lease_back() -> None:
    clock, leases = VirtualClock(), Leases()
    _, first = candidate(leases, "one", clock)
    _, second = candidate(leases, "two", clock)
    running = asyncio.ensure_future(first.run(forever))
    await clock.advance(1)
    running.cancel()
    await asyncio.wait([running])
    assert leases.lease is not None
    assert leases.lease["spec"]["holderIdentity"] == ""
    waiting = asyncio.ensure_future(second.run(forever))
    await clock.advance(0.1)
    assert second.is_leader
    waiting.cancel()
    await asyncio.wait([waiting])


async def test_a_leader_that_ends_does_not_wait_for_a_server_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, leases = VirtualClock(), Leases()
    client, election = candidate(leases, "one", clock)
    running = asyncio.ensure_future(election.run(forever))
    await clock.advance(0.5)

    async def hangs(*_: Any) -> None:
        await forever()

    monkeypatch.setattr(client, "update", hangs)
    running.cancel()
    await clock.advance(2.1)
    assert running.cancelled()


async def test_run_ends_with_its_work() -> None:
    clock, leases = VirtualClock(), Leases()
    _, first = candidate(leases, "one", clock)

    async def work() -> None:
        await clock.sleep(5)

    running = asyncio.ensure_future(first.run(work))
    await clock.advance(6)
    assert running.result() is None
    assert not first.is_leader


async def test_an_error_of_the_work_comes_out_and_the_lease_is_given_back() -> None:
    clock, leases = VirtualClock(), Leases()
    _, first = candidate(leases, "one", clock)

    async def work() -> None:
        raise ValueError("broken")

    running = asyncio.ensure_future(first.run(work))
    await clock.advance(1)
    with pytest.raises(ExceptionGroup):
        await running
    assert not first.is_leader


async def test_a_lease_that_says_nothing_is_taken() -> None:
    clock, leases = VirtualClock(), Leases()
    leases._put({"metadata": {"name": "x"}})
    _, first = candidate(leases, "one", clock)
    running = asyncio.ensure_future(first.run(forever))
    await clock.advance(1)
    assert first.is_leader
    running.cancel()
    await asyncio.wait([running])
