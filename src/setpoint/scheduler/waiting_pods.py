"""Pods that a Permit plugin holds before they are bound, until someone allows or rejects them or their time is up."""

from __future__ import annotations

import asyncio

from setpoint.kit.clock import Clock
from setpoint.scheduler.status import Status, unschedulable


class WaitingPods:
    """By pod key. Cancelling `hold` lets go of the pod."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, asyncio.Event] = {}
        self._rejected: dict[str, Status] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._held

    async def hold(self, key: str, seconds: float) -> Status | None:
        """Wait to be allowed; a Status says that it was rejected, or not allowed in time."""
        decided = self._held[key] = asyncio.Event()
        try:
            if not await self._clock.wait(decided, seconds):
                return unschedulable("timed out waiting for permission to bind")
            return self._rejected.get(key)
        finally:
            del self._held[key]
            self._rejected.pop(key, None)

    def allow(self, key: str) -> None:
        """Let the pod be bound; nothing happens if it is not held."""
        if key in self._held:
            self._held[key].set()

    def reject(self, key: str, plugin: str, reason: str) -> None:
        """Send the pod back to the queue, refused by `plugin`; nothing happens if it is not held."""
        if key in self._held:
            self._rejected[key] = Status(unschedulable().code, (reason,), plugin)
            self._held[key].set()
