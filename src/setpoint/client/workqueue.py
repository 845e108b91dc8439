"""The work queue: keys, not events.

Promises (client-go's): *fair* — keys come out in the order they went in; *stingy* — a key added many times before it is
worked on comes out once; *exclusive* — a key is worked on by one worker at a time, and one added meanwhile comes out again after
`done`; *patient* — a key can be added for later, and a failing key waits longer each time (5 ms doubling to 1000 s).

`Core` is the state machine, without waits; `WorkQueue` adds the waiting and the metrics.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from setpoint.client.settled import Activity
from setpoint.kit import metrics
from setpoint.kit.clock import Clock, Timer

K = TypeVar("K", bound=Hashable)

BASE_DELAY = 0.005  # seconds
MAX_DELAY = 1000.0  # seconds
_SLACK = 1e-6  # seconds: what a sum of floats may be short of the moment it stands for

_DEPTH = metrics.gauge("workqueue_depth", "Current depth of workqueue", ("name",))
_ADDS = metrics.counter("workqueue_adds", "Total number of adds handled by workqueue", ("name",))
_RETRIES = metrics.counter("workqueue_retries", "Total number of retries handled by workqueue", ("name",))
_QUEUED = metrics.histogram(
    "workqueue_queue_duration_seconds", "How long in seconds an item stays in workqueue before being requested", ("name",)
)
_WORKED = metrics.histogram(
    "workqueue_work_duration_seconds", "How long in seconds processing an item from workqueue takes", ("name",)
)


class Core(Generic[K]):
    """Which keys are ready, being worked on, or waiting for a moment; `now` comes from the caller.

    A key is in `_dirty` from its add until a worker takes it; in `_processing` from then until `done`. Added while it is
    processed, it is dirty but not in `_ready`; `done` puts it there.
    """

    def __init__(self) -> None:
        self._ready: deque[K] = deque()
        self._dirty: dict[K, float] = {}
        self._processing: dict[K, float] = {}
        self._waiting: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = itertools.count()

    def add(self, key: K, now: float) -> bool:
        """Make `key` ready; False if it already was asked for."""
        if key in self._dirty:
            return False
        self._dirty[key] = now
        if key not in self._processing:
            self._ready.append(key)
        return True

    def add_at(self, key: K, due: float) -> bool:
        """Make `key` ready at `due`; the earlier of two moments holds. True if that is a new moment."""
        known = self._waiting.get(key)
        if known is not None and known <= due:
            return False
        self._waiting[key] = due
        heapq.heappush(self._heap, (due, next(self._order), key))
        return True

    def ripen(self, now: float) -> int:
        """Add the keys that are due; tell how many."""
        count = 0
        while (due := self.next_due()) is not None and due <= now:
            key = heapq.heappop(self._heap)[2]
            del self._waiting[key]
            count += self.add(key, now)
        return count

    def next_due(self) -> float | None:
        """When the next waiting key is due."""
        heap = self._heap
        while heap and self._waiting.get(heap[0][2]) != heap[0][0]:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def take(self, now: float) -> tuple[K, float] | None:
        """The next ready key and since when it waits; None if nothing is ready."""
        if not self._ready:
            return None
        key = self._ready.popleft()
        self._processing[key] = now
        return key, self._dirty.pop(key)

    def done(self, key: K) -> float:
        """End the work on `key`; gives the moment it began."""
        began = self._processing.pop(key)
        if key in self._dirty:
            self._ready.append(key)
        return began

    @property
    def depth(self) -> int:
        return len(self._ready)

    @property
    def queued(self) -> int:
        return len(self._dirty)

    @property
    def in_flight(self) -> int:
        return len(self._processing)


class WorkQueue(Generic[K]):
    """A `Core` that workers can wait on. `close` lets `get` raise `Closed` once nothing is ready."""

    class Closed(Exception):
        """The queue is closed and empty."""

    def __init__(self, clock: Clock, name: str = "", *, base_delay: float = BASE_DELAY, max_delay: float = MAX_DELAY) -> None:
        self.name = name
        self._clock = clock
        self._base = base_delay
        self._max = max_delay
        self._core: Core[K] = Core()
        self._failures: dict[K, int] = {}
        self._retrying: set[K] = set()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timer: Timer | None = None
        self._rings_at = 0.0
        self._closed = False
        _DEPTH.labels(name).set_function(lambda: self._core.depth)
        self._adds = _ADDS.labels(name)
        self._retries = _RETRIES.labels(name)
        self._queued = _QUEUED.labels(name)
        self._worked = _WORKED.labels(name)

    def __len__(self) -> int:
        return self._core.depth

    def add(self, key: K) -> None:
        """Ask for work on `key` now."""
        if self._core.add(key, self._clock.monotonic()):
            self._adds.inc()
            self._wake()

    def add_after(self, key: K, seconds: float) -> None:
        """Ask for work on `key` in `seconds`; if it already waits for an earlier moment, that holds."""
        if seconds <= 0:
            self.add(key)
        elif self._core.add_at(key, self._clock.monotonic() + seconds) and self._waiters:
            self._wind()

    def add_backoff(self, key: K) -> float:
        """Ask again for a key whose work failed; gives the delay in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(self._max, self._base * float(2 ** min(failures, 60)))
        self._retries.inc()
        self._retrying.add(key)
        self.add_after(key, delay)
        return delay

    def add_soon(self, key: K, seconds: float) -> None:
        """Ask for work on `key` in a moment, for what else comes until then, too; the queue is not at rest meanwhile."""
        self._retrying.add(key)
        self.add_after(key, seconds)

    def forget(self, key: K) -> None:
        """The work on `key` succeeded (or is given up): its next failure starts from the shortest delay."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """How often in a row the work on `key` failed."""
        return self._failures.get(key, 0)

    async def get(self) -> K:
        """The next key; the caller must call `done(key)`. Cancelling it takes nothing. Raises Closed."""
        while True:
            now = self._clock.monotonic()
            self._ripen(now)
            if (taken := self._core.take(now)) is not None:
                key, since = taken
                self._retrying.discard(key)
                self._queued.observe(now - since)
                if self._core.depth:
                    self._wake()
                return key
            if self._closed:
                raise WorkQueue.Closed
            await self._wait()

    async def _wait(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._wind()
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self._wake()  # the call was ours; pass it on
            elif waiter in self._waiters:
                self._waiters.remove(waiter)
            if not self._waiters:
                self._stop()
            raise

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _wind(self) -> None:
        """One timer, for what is due next, as long as anybody waits."""
        due = self._core.next_due()
        if due is None or (self._timer is not None and self._rings_at <= due):
            return
        self._stop()
        self._rings_at = due
        self._timer = self._clock.call_later(max(_SLACK, due - self._clock.monotonic()), self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._ripen(self._clock.monotonic())
        if self._core.depth:
            self._wake()
        if self._waiters:
            self._wind()

    def _ripen(self, now: float) -> None:
        """What was to be added at some moment counts as added then."""
        if count := self._core.ripen(now + _SLACK):
            self._adds.inc(count)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def done(self, key: K) -> None:
        """The work on `key` has ended, well or not."""
        began = self._core.done(key)
        self._worked.observe(self._clock.monotonic() - began)
        if self._core.depth:
            self._wake()

    def close(self) -> None:
        self._closed = True
        self._stop()
        while self._waiters:
            self._wake()

    def activity(self) -> Activity:
        due = self._core.next_due()
        at = None if due is None else self._clock.now() + due - self._clock.monotonic()
        return Activity(self._core.queued, self._core.in_flight, len(self._retrying), at)
