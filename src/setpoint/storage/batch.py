"""Writes that one commit makes durable, and the waiters it answers."""

from __future__ import annotations

import asyncio

from setpoint.storage.journal import Row
from setpoint.storage.protocol import Event, StoreError, Unavailable


class Batch:
    """Writes that become durable together, and everyone who waits for that."""

    __slots__ = ("events", "rows", "waiters")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.rows: list[Row] = []
        self.waiters: list[asyncio.Future[None]] = []

    def settled(self) -> asyncio.Future[None]:
        """A future of one's own, so that a waiter's cancellation is its own too."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        return waiter

    def answer(self, error: StoreError | None) -> None:
        for waiter in self.waiters:
            if waiter.done():
                continue
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(Unavailable(str(error)))
