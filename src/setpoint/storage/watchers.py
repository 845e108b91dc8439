"""Who watches what: events go only to the watchers whose prefix they bear, whatever the number of the others.

Watchers are kept by prefix. Those of one collection (`pods/`) come in few lengths, so publishing an event looks up the
beginnings of its key that have these lengths instead of asking every watcher; below a prefix, those that want only objects of
one value (the pods of one node) are found by it. Each watcher has a bounded queue; one that is full drops its watcher, which
then raises Lagged: its client lists again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Self

from setpoint.storage.protocol import Event, Lagged, Only, Record, StoreError, Unavailable

#: events that keep their encoded lines, the newest; older ones, kept as history, are seldom asked for and encoded anew
KEEP_LINES = 1000
#: bytes of objects that a watcher gets at once, more or less: a thousand slow ones must not each hold all that they missed
AT_ONCE = 32 * 1024
WOKEN_AT_ONCE = 200  # watchers
_FEW = 4  # events that are not worth counting
_LINE = 500  # bytes that a deletion is taken for


class Watcher:
    """One stream of events; see `protocol.Watch`. Cancelling `next` loses no event."""

    __slots__ = ("_after", "_capacity", "_ended", "_queue", "_waiter", "_watchers", "only", "prefix")

    def __init__(
        self, watchers: Watchers, prefix: str, after: int, backlog: Sequence[Event], capacity: int, only: Only | None
    ) -> None:
        self.prefix = prefix
        self.only = only
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
        queue = self._queue
        if len(queue) <= _FEW:
            events = list(queue)
            queue.clear()
            return events
        events, size = [], 0
        while queue and size < AT_ONCE:
            event = queue.popleft()
            events.append(event)
            size += len(event.record.value) if event.record is not None else _LINE
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
            self._watchers.wake(self, waiter)

    def wake_now(self) -> None:
        """Its turn has come."""
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class _Group:
    """The watchers of one prefix: those that want everything, and the others by what they want."""

    __slots__ = ("_by_value", "_everything")

    def __init__(self) -> None:
        self._everything: dict[Watcher, None] = {}
        self._by_value: dict[Callable[[Record], str], dict[str, dict[Watcher, None]]] = {}

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Watcher]:
        yield from self._everything
        for by_value in self._by_value.values():
            for watchers in by_value.values():
                yield from watchers

    def add(self, watcher: Watcher) -> None:
        only = watcher.only
        if only is None:
            self._everything[watcher] = None
        else:
            self._by_value.setdefault(only.value_of, {}).setdefault(only.value, {})[watcher] = None

    def remove(self, watcher: Watcher) -> bool:
        """Whether nobody is left."""
        only = watcher.only
        if only is None:
            self._everything.pop(watcher, None)
        elif (watchers := self._by_value.get(only.value_of, {}).get(only.value)) is not None:
            watchers.pop(watcher, None)
            if not watchers:
                self._forget(only)
        return not self._everything and not self._by_value

    def _forget(self, only: Only) -> None:
        by_value = self._by_value[only.value_of]
        del by_value[only.value]
        if not by_value:
            del self._by_value[only.value_of]

    def offer(self, event: Event) -> list[Watcher]:
        """Give `event` to whom it concerns; those without room for it."""
        slow = [watcher for watcher in self._everything if not watcher.offer(event)]
        for value_of, by_value in self._by_value.items():
            values = {value_of(record) for record in (event.record, event.previous) if record is not None}
            slow += [watcher for value in values for watcher in by_value.get(value, ()) if not watcher.offer(event)]
        return slow


def _collection_of(prefix: str) -> str:
    """The first segment with its slash; empty for a prefix that ends before one."""
    return prefix[: prefix.find("/") + 1]


class Watchers:
    """All watchers of one store. `revision` is that of the newest published event."""

    def __init__(self) -> None:
        self.revision = 0
        self.lagged = 0
        self._by_prefix: dict[str, _Group] = {}
        # by collection, and by "" for what lies above all of them: how many prefixes have which length
        self._lengths: dict[str, dict[int, int]] = {}
        self._encoded: deque[Event] = deque()
        self._woken = 0  # in this turn of the loop
        self._due: dict[Watcher, None] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_prefix.values()))

    def add(self, prefix: str, after: int, backlog: Sequence[Event], capacity: int, only: Only | None = None) -> Watcher:
        watcher = Watcher(self, prefix, after, backlog, capacity, only)
        group = self._by_prefix.get(prefix)
        if group is None:
            group = self._by_prefix[prefix] = _Group()
            lengths = self._lengths.setdefault(_collection_of(prefix), {})
            lengths[len(prefix)] = lengths.get(len(prefix), 0) + 1
        group.add(watcher)
        return watcher

    def remove(self, watcher: Watcher) -> None:
        group = self._by_prefix.get(watcher.prefix)
        if group is not None and group.remove(watcher):
            del self._by_prefix[watcher.prefix]
            collection = _collection_of(watcher.prefix)
            lengths = self._lengths[collection]
            lengths[len(watcher.prefix)] -= 1
            if not lengths[len(watcher.prefix)]:
                del lengths[len(watcher.prefix)]
            if not lengths:
                del self._lengths[collection]

    def wake(self, watcher: Watcher, waiter: asyncio.Future[None]) -> None:
        """Wake a watcher, in this turn of the loop or a later one: ten thousand at once would hold all others up."""
        if self._woken >= WOKEN_AT_ONCE:
            self._due[watcher] = None
            return
        if not self._woken:
            waiter.get_loop().call_soon(self._next_turn)
        self._woken += 1
        waiter.set_result(None)

    def _next_turn(self) -> None:
        self._woken = min(len(self._due), WOKEN_AT_ONCE)
        for watcher in [*islice(self._due, self._woken)]:
            del self._due[watcher]
            watcher.wake_now()
        if self._woken:
            asyncio.get_running_loop().call_soon(self._next_turn)

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
        collection = _collection_of(key)
        for each in (collection, "") if collection else ("",):
            for length in self._lengths.get(each, ()):
                group = self._by_prefix.get(key[:length])
                if group is not None and length <= len(key):
                    slow += group.offer(event)
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
        self._lengths.clear()
