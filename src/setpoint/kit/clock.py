"""Every wait goes through a Clock, so that tests can stop, step and jump time.

Two clocks: `RealClock` (wall time and the event loop's timers) and `VirtualClock` (time moves only when a test says so).
Virtual time holds for code that waits for nothing but the clock and other tasks: the memory store, the in-process
transport, the simulated runtime. It never holds for sockets, processes or threads.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol


class Timer(Protocol):
    """What is to be called at some moment, until it is cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Wall time, elapsed time and waits, all in seconds."""

    def now(self) -> float:
        """Seconds since the Unix epoch."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary start; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Wait. A cancelled sleep leaves nothing behind."""

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for `event`, `seconds` at most; tell whether it is set."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` in `seconds`: where a task that sleeps would do nothing else, it costs a fraction of one."""


class RealClock:
    """The host's time."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set() or seconds <= 0:
            return event.is_set()
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return event.is_set()
        return True

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(0.0, seconds), callback)


class _VirtualTimer:
    """A sleeper that is no task: waking it calls its callback."""

    __slots__ = ("_callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def done(self) -> bool:
        return self._callback is None

    def cancel(self) -> None:
        self._callback = None

    def set_result(self, _: None) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


class VirtualClock:
    """Time that moves only by `advance` and `jump`; for the plain asyncio loop, not uvloop.

    `advance(60)` wakes every sleeper that is due within the minute, in order, each at its own moment, and lets the loop
    run dry in between, as if a minute had passed on an infinitely fast machine.
    """

    def __init__(self, start: float = 1_900_000_000.0) -> None:
        self._start = start
        self._elapsed = 0.0  # kept apart from `start`: a float of 1.9 billion seconds could not tell microseconds
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None] | _VirtualTimer]] = []

    def now(self) -> float:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed

    @property
    def elapsed(self) -> float:
        """Seconds that have passed since the clock was made."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        await self._sleeper(seconds)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        if event.is_set() or seconds <= 0:
            return event.is_set()
        sleeper = self._sleeper(seconds)
        waiter = asyncio.ensure_future(event.wait())
        pending: set[asyncio.Future[Any]] = {sleeper, waiter}
        try:
            await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
            waiter.cancel()
        return event.is_set()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        timer = _VirtualTimer(callback)
        self._push(seconds, timer)
        return timer

    def _sleeper(self, seconds: float) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._push(seconds, future)
        return future

    def _push(self, seconds: float, sleeper: asyncio.Future[None] | _VirtualTimer) -> None:
        # At least the next float: a sleep too short to be told from now would let a loop of "not yet" never end.
        due = max(self._elapsed + seconds, math.nextafter(self._elapsed, math.inf))
        heapq.heappush(self._sleepers, (due, next(self._order), sleeper))

    def next_due(self) -> float | None:
        """The moment (as `now()` counts) at which the next sleeper wakes, None when nobody sleeps."""
        due = self._next()
        return None if due is None else self._start + due

    def _next(self) -> float | None:
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    def jump(self, seconds: float) -> None:
        """Move the clock without waking anyone in between, as a suspended machine does; what is overdue wakes next."""
        self._elapsed += seconds

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        until = self._elapsed + seconds
        await self.idle()
        while (due := self._next()) is not None and due <= until:
            self._elapsed = max(self._elapsed, due)
            self._wake()
            await self.idle()
        self._elapsed = max(self._elapsed, until)

    async def step(self) -> bool:
        """Move to the moment at which the next sleeper wakes, and let it; False when nobody sleeps."""
        await self.idle()
        due = self._next()
        if due is None:
            return False
        self._elapsed = max(self._elapsed, due)
        self._wake()
        await self.idle()
        return True

    def _wake(self) -> None:
        while (due := self._next()) is not None and due <= self._elapsed:
            heapq.heappop(self._sleepers)[2].set_result(None)

    async def idle(self) -> None:
        """Return once no other task can run: all wait for the clock or for one another."""
        loop = asyncio.get_running_loop()
        # asyncio's loop keeps runnable callbacks in `_ready`; while one of them (this task) runs, the rest of its round
        # is still there. Empty means that nobody but us would run.
        ready = loop._ready  # type: ignore[attr-defined]  # noqa: SLF001  # there is no public way to ask
        while True:
            await asyncio.sleep(0)
            if not ready:
                return


@asynccontextmanager
async def every(clock: Clock, seconds: float) -> AsyncIterator[AsyncIterator[int]]:
    """A ticker: with `every(clock, 10) as ticks`, the loop `async for n in ticks` runs at 0, 10, 20 … seconds.

    A tick that comes late does not bring the later ones closer together than `seconds` would allow.
    """

    async def ticks() -> AsyncGenerator[int, None]:
        start = clock.monotonic()
        for n in itertools.count():
            yield n
            await clock.sleep(max(0.0, start + (n + 1) * seconds - clock.monotonic()))

    iterator = ticks()
    try:
        yield iterator
    finally:
        await iterator.aclose()


def rfc3339(seconds: float) -> str:
    """`metav1.Time`: whole seconds, UTC, `Z`."""
    return f"{_second(math.floor(seconds))}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def rfc3339_micro(seconds: float) -> str:
    """`metav1.MicroTime`: exactly six digits, UTC, `Z`."""
    whole, micros = divmod(round(seconds * 1e6), 1_000_000)
    return f"{_second(whole)}.{micros:06d}Z"


def parse_rfc3339(text: str) -> float:
    """Seconds since the epoch of a Time or MicroTime as a server writes it; ValueError if it is neither."""
    return datetime.fromisoformat(text).timestamp()
