"""Exponential backoff with jitter, for loops that talk to a server (work queues have their own, per key)."""

from __future__ import annotations

import random

from setpoint.kit.clock import Clock


class Backoff:
    """Delays of `base` doubling to `limit` seconds, each lengthened by up to `jitter` of itself; after a calm `reset`, anew.

    The defaults are those of client-go's reflector: 0.8 s to 30 s, doubling, jitter 1.0, reset after two minutes.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        base: float = 0.8,
        limit: float = 30.0,
        jitter: float = 1.0,
        reset: float = 120.0,
        rng: random.Random | None = None,
    ) -> None:
        self._clock = clock
        self._base = base
        self._limit = limit
        self._jitter = jitter
        self._reset = reset
        self._rng = rng or random.Random()  # noqa: S311  # spreads load; keeps no secret
        self._delay = base
        self._last = 0.0

    def next(self) -> float:
        """The delay to wait now, in seconds."""
        now = self._clock.monotonic()
        if now - self._last > self._reset:
            self._delay = self._base
        self._last = now
        delay = self._delay
        self._delay = min(self._limit, delay * 2)
        return delay * (1 + self._jitter * self._rng.random())

    def reset(self) -> None:
        self._delay = self._base

    async def wait(self) -> None:
        await self._clock.sleep(self.next())
