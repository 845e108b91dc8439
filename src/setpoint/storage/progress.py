"""Waiting for a store to reach a revision."""

from __future__ import annotations

import asyncio
import heapq
import itertools

from setpoint.kit.clock import Clock


class Progress:
    """The newest revision that is visible here, and those who wait for it. Cancelling `wait` leaves nothing behind."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._revision = 0
        self._waiting: list[tuple[int, int, asyncio.Event]] = []
        self._order = itertools.count()
        self._patient: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._swept = 0

    def reach(self, revision: int) -> None:
        self._revision = revision
        while self._patient and self._patient[0][0] <= revision:
            _answer(heapq.heappop(self._patient)[2], reached=True)
        while self._waiting and self._waiting[0][0] <= revision:
            heapq.heappop(self._waiting)[2].set()

    async def until(self, revision: int) -> bool:
        """The same without a time of one's own, which would cost more than all the rest: `sweep` says when it is up."""
        if revision <= self._revision:
            return True
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._patient, (revision, next(self._order), waiter))
        return await waiter

    def sweep(self) -> None:
        """Let those go who have been in `until` since before the last call."""
        old = [entry for entry in self._patient if entry[1] < self._swept]
        if old:
            self._patient = [entry for entry in self._patient if entry[1] >= self._swept]
            heapq.heapify(self._patient)
        for _, _, waiter in old:
            _answer(waiter, reached=False)
        self._swept = next(self._order)

    async def wait(self, revision: int, seconds: float) -> bool:
        """Wait until `revision` is reached, `seconds` at the most; tell whether it is."""
        if revision <= self._revision:
            return True
        entry = (revision, next(self._order), asyncio.Event())
        heapq.heappush(self._waiting, entry)
        try:
            return await self._clock.wait(entry[2], seconds)
        finally:
            if not entry[2].is_set():
                self._waiting.remove(entry)
                heapq.heapify(self._waiting)


def _answer(waiter: asyncio.Future[bool], *, reached: bool) -> None:
    if not waiter.done():
        waiter.set_result(reached)
