"""The multi-version index: every object now, and as it was at any retained revision. Synchronous, without I/O.

A worked example. Writes: 5 creates `pods/d/a`, 6 creates `pods/d/b`, 7 updates a, 8 deletes b. Then

    live   a→7            what is there now
    past   a→[(5, until 7)]   b→[(6, until 8)]     what was there, and the revision that ended it
    gone   b              keys that only the past knows
    events 5 6 7 8        the writes themselves, for watches that resume

A read of a at 6 finds 7 too new and takes the past version that began at or before 6 and had not ended. History is dropped from
its oldest event on: dropping 7 ends the need for a's version 5 (nobody may read before 7 any more), dropping 8 for b's
version 6 and with it for the key b. `floor` is the newest dropped event: reads at `floor` and later are exact, as are watches
after it. Collections (all keys up to the first slash) are kept apart, so that a list or a resuming watch of one never looks
at another's keys or events.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain

from msgspec import Struct
from sortedcontainers import SortedList

from setpoint.storage.protocol import Compacted, Event, Future, Page, Record

Write = tuple[str, int, Record | None]  # key, revision, what it wrote (None: deleted)

_FORGET_AT_ONCE = 100  # events at the least
EVENT_BYTES = 1000  # what one retained event costs beside the value that it keeps alive: records, selection, index (measured)


class Retention(Struct, frozen=True):
    """How much history is kept: no event older than `seconds`, and no more than `bytes` of superseded objects."""

    seconds: float = 300.0
    bytes: int = 64 * 1024 * 1024


def collection_of(key: str) -> str:
    """The first segment with its slash: `pods/`."""
    return key[: key.find("/") + 1] or key


def _after(prefix: str) -> str:
    """The smallest string that follows every key with this prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _revision_of(event: Event) -> int:
    return event.revision


class _Collection:
    """All keys with one first segment."""

    __slots__ = ("_forgotten", "events", "gone", "keys", "live", "newest", "past")

    def __init__(self, live: dict[str, Record]) -> None:
        self.newest = 0  # the revision of the last write, or from which everything was loaded
        self.live = live  # all collections', so that a key is looked up at once; what of it is here, `keys` says
        self.keys: SortedList[str] = SortedList()
        self.past: dict[str, list[tuple[Record, int]]] = {}
        self.gone: SortedList[str] = SortedList()
        self.events: list[Event] = []
        self._forgotten = 0  # of the oldest events: they are let go many at a time

    def place(self, record: Record) -> None:
        if record.key not in self.live:
            self.keys.add(record.key)
        self.live[record.key] = record

    def displace(self, key: str) -> Record | None:
        record = self.live.pop(key, None)
        if record is not None:
            self.keys.remove(key)
        return record

    def apply(self, event: Event) -> None:
        key, previous, past = event.key, event.previous, self.past
        if event.record is None:
            self.displace(key)
            self.gone.add(key)
        else:
            if previous is None and key in past:
                self.gone.discard(key)
            self.place(event.record)
        if previous is not None:
            past.setdefault(key, []).append((previous, event.revision))
        self.events.append(event)
        self.newest = event.revision

    def forget(self, event: Event) -> None:
        """Drop the oldest event and what only readers before it could need."""
        self._forgotten += 1
        if self._forgotten > max(_FORGET_AT_ONCE, len(self.events) // 2):
            self.let_go()
        if event.previous is None:
            return
        versions = self.past[event.key]
        versions.pop(0)
        if not versions:
            del self.past[event.key]
            self.gone.discard(event.key)

    def let_go(self) -> None:
        """Free the memory of forgotten events."""
        del self.events[: self._forgotten]
        self._forgotten = 0

    def at(self, key: str, revision: int) -> Record | None:
        record = self.live.get(key)
        if record is not None and record.revision <= revision:
            return record
        for version, until in reversed(self.past.get(key, ())):
            if version.revision <= revision:
                return version if revision < until else None
        return None

    def bounds(self, prefix: str, start: str) -> tuple[int, int]:
        """The slice of `keys` that lies under `prefix` and from `start` on."""
        keys = self.keys
        return keys.bisect_left(max(prefix, start)), keys.bisect_left(_after(prefix))

    def events_after(self, revision: int) -> list[Event]:
        return self.events[bisect_right(self.events, revision, key=_revision_of) :]

    def page_now(self, prefix: str, start: str, limit: int) -> tuple[list[Record], int]:
        low, high = self.bounds(prefix, start)
        end = min(high, low + limit) if limit else high
        live = self.live
        return [live[key] for key in self.keys.islice(low, end)], high - end

    def page_at(self, revision: int, prefix: str, start: str, limit: int) -> tuple[list[Record], int]:
        newer = self.events_after(revision)
        if not newer:
            return self.page_now(prefix, start, limit)
        records = self._records_at(revision, prefix, max(prefix, start))
        if not limit:
            return list(records), 0
        page = [record for _, record in zip(range(limit), records, strict=False)]
        if len(page) < limit:
            return page, 0
        return page, self._count_at(revision, newer, prefix, page[-1].key + "\0")

    def _records_at(self, revision: int, prefix: str, start: str) -> Iterator[Record]:
        end = _after(prefix)
        inclusive = (True, False)
        for key in merge(self.keys.irange(start, end, inclusive), self.gone.irange(start, end, inclusive)):
            record = self.at(key, revision)
            if record is not None:
                yield record

    def _count_at(self, revision: int, newer: list[Event], prefix: str, start: str) -> int:
        """How many there were from `start` on: those of today, corrected by the keys written since."""
        low, high = self.bounds(prefix, start)
        touched = {event.key for event in newer if event.key >= start and event.key.startswith(prefix)}
        then = sum(self.at(key, revision) is not None for key in touched)
        return high - low + then - sum(key in self.live for key in touched)


class Index:
    """See the module. The caller applies events in the order of their revisions and says what time it is (seconds)."""

    def __init__(self, retention: Retention | None = None) -> None:
        self.retention = retention or Retention()
        self.revision = 0
        self.floor = 0
        self._collections: dict[str, _Collection] = {}
        self._live: dict[str, Record] = {}
        self._log: deque[tuple[float, int, Event, _Collection]] = deque()
        self._bytes = 0
        self._dead: list[int] = []

    def load(self, records: Iterable[Record], revision: int) -> None:
        """Begin anew with this state, without history."""
        self._collections.clear()
        self._live.clear()
        self._log.clear()
        self._bytes = 0
        keys: dict[str, list[str]] = {}
        for record in records:
            self._live[record.key] = record
            keys.setdefault(collection_of(record.key), []).append(record.key)
        for name, found in keys.items():
            collection = self._collection(name)
            collection.keys.update(found)
            collection.newest = revision
        self.revision = self.floor = revision

    def replay(self, floor: int, writes: Iterable[Write], now: float) -> None:
        """Begin anew from stored writes. Those up to `floor` leave no history; what they superseded is reported as dead."""
        state: dict[str, Record] = {}
        writes = iter(writes)
        newer: list[Write] = []
        for write in writes:
            key, revision, record = write
            if revision > floor:
                newer.append(write)
                break
            previous = state.pop(key, None)
            if previous is not None:
                self._dead.append(previous.revision)
            if record is None:
                self._dead.append(revision)
            else:
                state[key] = record
        self.load(state.values(), floor)
        for key, revision, record in chain(newer, writes):
            self.apply(Event(key, revision, record, self.get(key)), now)

    def _collection(self, key: str) -> _Collection:
        name = collection_of(key)
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = _Collection(self._live)
        return found

    def apply(self, event: Event, now: float) -> None:
        """Make one write visible and keep what it superseded, within the retention's bytes."""
        collection = self._collection(event.key)
        collection.apply(event)
        weight = _weight(event)
        self._log.append((now, weight, event, collection))
        self._bytes += weight
        self.revision = event.revision
        while self._bytes > self.retention.bytes:
            self._drop_oldest()

    def advance(self, revision: int) -> None:
        """Nothing that is kept here was written up to `revision`."""
        self.revision = max(self.revision, revision)

    def trim(self, now: float) -> None:
        """Drop history older than the retention allows."""
        oldest = now - self.retention.seconds
        while self._log and self._log[0][0] < oldest:
            self._drop_oldest()

    def compact(self, revision: int) -> None:
        """Drop history before `revision`: reads before it, and watches from before it, are Compacted from now on."""
        if revision > self.revision:
            raise Future(self.revision)
        if revision < self.floor:
            raise Compacted(self.floor)
        while self._log and self._log[0][2].revision <= revision:
            self._drop_oldest()
        self.floor = revision

    def _drop_oldest(self) -> None:
        _, weight, event, collection = self._log.popleft()
        collection.forget(event)
        self.floor = event.revision
        self._bytes -= weight
        if event.previous is not None:
            self._dead.append(event.previous.revision)
        if event.record is None:
            self._dead.append(event.revision)

    def take_dead(self) -> list[int]:
        """The revisions of writes that nothing needs any more, since the last call; for a journal to erase."""
        for collection in self._collections.values():
            collection.let_go()
        dead = self._dead
        self._dead = []
        return dead

    @property
    def history_bytes(self) -> int:
        return self._bytes

    def get(self, key: str) -> Record | None:
        return self._live.get(key)

    def get_at(self, key: str, revision: int) -> Record | None:
        """The object as of `revision`; raises Compacted, Future."""
        self.check(revision)
        collection = self._collections.get(collection_of(key))
        return None if collection is None else collection.at(key, revision)

    def check(self, revision: int) -> None:
        if revision < self.floor:
            raise Compacted(self.floor)
        if revision > self.revision:
            raise Future(self.revision)

    def _list_across(self, prefix: str, revision: int, start: str, limit: int) -> Page:
        """A range over several collections: only a cache that fills itself asks for it, so it need not be quick."""
        as_of = revision or self.revision
        collections = [(name, found) for name, found in self._collections.items() if name.startswith(prefix)]
        pages = (found.page_at(as_of, name, start, 0)[0] for name, found in collections)
        records = sorted(chain.from_iterable(pages), key=lambda record: record.key)
        page = records[:limit] if limit else records
        remaining = len(records) - len(page)
        return Page(page, as_of, remaining > 0, remaining)

    def count(self, prefix: str) -> int:
        if "/" not in prefix:
            return sum(len(found.keys) for name, found in self._collections.items() if name.startswith(prefix))
        collection = self._collections.get(collection_of(prefix))
        if collection is None:
            return 0
        low, high = collection.bounds(prefix, "")
        return high - low

    def events_after(self, prefix: str, revision: int) -> list[Event]:
        """The retained writes under `prefix` with a revision above `revision`; raises Compacted, Future."""
        self.check(revision)
        if "/" not in prefix:
            everything = (event for _, _, event, _ in self._log)
            return [event for event in everything if event.revision > revision and event.key.startswith(prefix)]
        collection = self._collections.get(collection_of(prefix))
        if collection is None:
            return []
        return [event for event in collection.events_after(revision) if event.key.startswith(prefix)]

    def newest(self, prefix: str) -> int:
        """The revision of the last write among all that begin with the prefix's first segment; 0 if there is none."""
        collection = self._collections.get(collection_of(prefix))
        return 0 if collection is None else collection.newest

    def list(self, prefix: str, revision: int, start: str, limit: int) -> Page:
        """A page of the range, now (revision 0) or as of `revision`; raises Compacted, Future."""
        if revision:
            self.check(revision)
        if "/" not in prefix:
            return self._list_across(prefix, revision, start, limit)
        collection = self._collections.get(collection_of(prefix))
        as_of = revision or self.revision
        if collection is None or (as_of == self.revision and not collection.keys):
            return Page([], as_of)
        if revision and revision != self.revision:
            records, remaining = collection.page_at(revision, prefix, start, limit)
        else:
            records, remaining = collection.page_now(prefix, start, limit)
        return Page(records, as_of, remaining > 0, remaining)


def _weight(event: Event) -> int:
    return EVENT_BYTES + (len(event.previous.value) if event.previous is not None else 0)
