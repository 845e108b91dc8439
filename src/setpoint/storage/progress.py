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

    def reach(self, revision: int) -> None:
        self._revision = revision
        while self._waiting and self._waiting[0][0] <= revision:
            heapq.heappop(self._waiting)[2].set()

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
