"""A journal that fails on demand."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from setpoint.storage.journal import Done, Journal, Recovered, Row
from setpoint.storage.protocol import Unavailable


class FaultyJournal:
    """A Journal that can hold its commits back, or fail them."""

    def __init__(self, inner: Journal) -> None:
        self.inner = inner
        self.batches: list[int] = []
        self._held: deque[tuple[Sequence[Row], Done]] | None = None
        self._failures = 0

    def hold(self) -> None:
        self._held = deque()

    def release(self) -> None:
        held, self._held = self._held, None
        for rows, done in held or ():
            self.append(rows, done)

    def fail_next(self, count: int = 1) -> None:
        self._failures = count

    async def open(self) -> Recovered:
        return await self.inner.open()

    def append(self, rows: Sequence[Row], done: Done) -> None:
        if self._held is not None:
            self._held.append((rows, done))
            return
        self.batches.append(len(rows))
        if self._failures:
            self._failures -= 1
            asyncio.get_running_loop().call_soon(done, Unavailable("injected failure"))
        else:
            self.inner.append(rows, done)

    def check(self, done: Done) -> None:
        if self._failures:
            asyncio.get_running_loop().call_soon(done, Unavailable("injected failure"))
        else:
            self.inner.check(done)

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        self.inner.erase(revisions, floor)

    async def close(self) -> None:
        await self.inner.close()
