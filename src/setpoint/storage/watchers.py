"""Who watches what: events go only to the watchers whose prefix they bear, whatever the number of the others.

Watchers are kept by prefix. Prefixes come in few lengths, so publishing an event looks up the beginnings of its key that have
these lengths instead of asking every watcher. Each watcher has a bounded queue; one that is full drops its watcher, which
then raises Lagged: its client lists again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Self

from setpoint.storage.protocol import Event, Lagged, StoreError, Unavailable

#: events that keep their encoded lines, the newest; older ones, kept as history, are seldom asked for and encoded anew
KEEP_LINES = 1000


class Watcher:
    """One stream of events; see `protocol.Watch`. Cancelling `next` loses no event."""

    __slots__ = ("_after", "_capacity", "_ended", "_queue", "_waiter", "_watchers", "prefix")

    def __init__(self, watchers: Watchers, prefix: str, after: int, backlog: Sequence[Event], capacity: int) -> None:
        self.prefix = prefix
        self._watchers = watchers
        self._after = after
        self._queue: deque[Event] = deque(backlog)
        # What it missed before it came does not count against it.
        self._capacity = capacity + len(backlog)
        self._waiter: asyncio.Future[None] | None = None
        self._ended: StoreError | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self._watchers.remove(self)
        self._queue.clear()

    async def next(self) -> Sequence[Event]:
        while not self._queue:
            if self._ended is not None:
                raise self._ended
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self.ready()

    def ready(self) -> Sequence[Event]:
        events = list(self._queue)
        self._queue.clear()
        return events

    @property
    def progress(self) -> int:
        if self._queue:
            return self._queue[0].revision - 1
        return max(self._after, self._watchers.revision) if self._ended is None else self._after

    def offer(self, event: Event) -> bool:
        """Queue `event`; False when there is no room."""
        if len(self._queue) >= self._capacity:
            return False
        self._queue.append(event)
        self._wake()
        return True

    def end(self, error: StoreError) -> None:
        """Raise `error` from `next`; what a dropped watcher had not read is let go."""
        self._ended = error
        self._after = self.progress
        self._queue.clear()
        self._wake()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class Watchers:
    """All watchers of one store. `revision` is that of the newest published event."""

    def __init__(self) -> None:
        self.revision = 0
        self.lagged = 0
        self._by_prefix: dict[str, dict[Watcher, None]] = {}
        self._lengths: tuple[int, ...] = ()
        self._encoded: deque[Event] = deque()

    def __len__(self) -> int:
        return sum(map(len, self._by_prefix.values()))

    def add(self, prefix: str, after: int, backlog: Sequence[Event], capacity: int) -> Watcher:
        watcher = Watcher(self, prefix, after, backlog, capacity)
        if prefix not in self._by_prefix:
            self._by_prefix[prefix] = {}
            self._measure()
        self._by_prefix[prefix][watcher] = None
        return watcher

    def remove(self, watcher: Watcher) -> None:
        group = self._by_prefix.get(watcher.prefix)
        if group is not None and group.pop(watcher, watcher) is None and not group:
            del self._by_prefix[watcher.prefix]
            self._measure()

    def _measure(self) -> None:
        self._lengths = tuple({len(prefix) for prefix in self._by_prefix})

    def publish(self, events: Sequence[Event], revision: int) -> None:
        """Give each event to those who watch it; `revision` is what everyone has now seen."""
        for event in events:
            self._publish(event)
        self._encoded += events
        while len(self._encoded) > KEEP_LINES:
            self._encoded.popleft().lines = None
        self.revision = revision

    def _publish(self, event: Event) -> None:
        slow: list[Watcher] = []
        key = event.key
        for length in self._lengths:
            group = self._by_prefix.get(key[:length])
            if group is not None and length <= len(key):
                slow += [watcher for watcher in group if not watcher.offer(event)]
        for watcher in slow:
            self.lagged += 1
            self.remove(watcher)
            watcher.end(Lagged(f"the watch of {watcher.prefix!r} did not keep up"))

    def end_all(self, error: StoreError | None = None) -> None:
        """End every watch, with Unavailable unless told otherwise."""
        for group in self._by_prefix.values():
            for watcher in group:
                watcher.end(error or Unavailable("the store stops"))
        self._by_prefix.clear()
        self._measure()
