"""The narrow waist: what the API server asks of a store, and what a store promises.

Promises
--------
- *One counter.* Every write (create, update, delete) gets the next revision of one counter. Revisions strictly increase, are
  never used twice, not even after a crash, and start above 0.
- *Durable first.* A write is acknowledged, readable by `get`/`list` and shown to watchers only after it is durable. Writes
  become visible in the order of their revisions, and a watcher sees each exactly once, in order, without a gap.
- *Judged against the pending head.* A write's condition is compared with the newest state that any earlier write, acknowledged
  or not, has asked for; so `head` may show what is not yet durable. If the commit of a batch fails, every write of the batch
  and every later one that was judged by it fails with Unavailable, and the head falls back. Refusals (Exists, Conflict,
  NotFound) that rest on a pending write are raised only once that write is durable.
- *Cancellation.* A cancelled write may still happen: `encode` was called and the batch goes on. Cancelled reads and waits
  leave nothing behind.
- *Snapshots.* `get` and `list` at a past revision answer exactly what was there; beyond retained history they raise Compacted.

Keys are `<plural>[.<group>]/[<namespace>/]<name>`, ordered by their bytes: `pods/default/web-1`, `deployments.apps/default/web`,
`nodes/n1`. Values are the stored JSON (design, decision 4): they begin with kind and apiVersion and contain their own
resourceVersion, which is why a writer passes `encode`, called once with the revision that the write gets. A store that learns
it only afterwards (etcd) passes a number instead which nothing else contains, and puts the revision in its place.

Any write may raise Unavailable; on a remote store also Rejected and, at the worst, Uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from msgspec import Struct


class StoreError(Exception):
    """The closed set of what can go wrong in a store; nothing else leaves it."""


class NotFound(StoreError, KeyError):
    """No object has this key."""


class Exists(StoreError):
    """An object with this key is there already (it may be being deleted)."""


class Conflict(StoreError):
    """The object is not at the expected revision; `current` is the pending head."""

    def __init__(self, current: Record) -> None:
        super().__init__(f"{current.key} is at revision {current.revision}")
        self.current = current


class Compacted(StoreError):
    """The revision lies before the retained history; `oldest` is the first that can still be read."""

    def __init__(self, oldest: int) -> None:
        super().__init__(f"history begins at revision {oldest}")
        self.oldest = oldest


class Future(StoreError):
    """The revision has not happened yet; `current` is the newest."""

    def __init__(self, current: int) -> None:
        super().__init__(f"the newest revision is {current}")
        self.current = current


class Unavailable(StoreError):
    """The store cannot answer or commit now. The write did not happen, and will not while this process lives; one whose sync
    failed may still be found on the disk by the next process, if this one dies before any commit succeeds again.
    """


class Uncertain(StoreError):
    """A remote store did not answer for so long that nobody knows whether the write happened; it may have."""


class Rejected(StoreError):
    """The store does not take this write (too large, no room); it did not happen. The text is the store's own."""


class Lagged(StoreError):
    """A watcher did not read and was dropped; it must list again."""


@dataclass(slots=True)
class Record:
    """One object at one revision. Immutable by convention and shared by all readers; never change it.

    `revision` is that of the last write, `created` that of the create. `selection` is what selectors need
    (labels and selectable fields); the API server gives it with a write and the store computes it by its `describe` function
    for records read from disk, once, when first asked. `forms` caches other encodings of the same object (served versions).
    """

    key: str
    value: bytes
    revision: int
    created: int
    selection: Any = None
    forms: dict[Any, bytes] | None = None


class Event(Struct):
    """One write as a watcher sees it. `record` is the new state (None: deleted), `previous` the one before (None: created).

    `lines` caches encoded watch frames, so that each is made once whatever the number of watchers; old events lose them.
    """

    key: str
    revision: int
    record: Record | None
    previous: Record | None
    lines: dict[Any, bytes] | None = None


class Encoded(Struct, frozen=True):
    """What `encode` returns: the stored bytes and what selectors need of them."""

    value: bytes
    selection: Any = None


@dataclass(frozen=True, slots=True)
class Only:
    """Writes whose object has `value` now, or had it before: watchers that agree on `value_of` (the same function) are found by
    their value instead of being asked one by one.
    """

    value_of: Callable[[Record], str]
    value: str


Encode = Callable[[int], Encoded]
Describe = Callable[[str, bytes], Any]
#: whether the object with this key lies in the store otherwise than it would be written now (sealed by an older key), so that
#: even a write that changes nothing is to be made
Outdated = Callable[[str], bool]


#: raises Unavailable where an object with this key cannot be written now, since nothing is there to seal it with
Ready = Callable[[str], None]


def never(_key: str) -> bool:
    """For stores that keep everything in one way."""
    return False


def always(_key: str) -> None:
    """For stores that seal nothing."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a range: `records` in key order, all as of `revision`; `more` tells whether others follow, `remaining` how many."""

    records: Sequence[Record]
    revision: int
    more: bool = False
    remaining: int = 0


class Watch(Protocol):
    """A stream of events under one prefix. `async with` it; leaving ends it.

    `next()` waits for at least one event and returns all that are ready, in order; raises Lagged when this watcher was dropped,
    Unavailable when the store stops. `progress` is the revision up to which everything has been returned (for bookmarks).
    """

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *error: object) -> None: ...
    async def next(self) -> Sequence[Event]: ...
    def ready(self) -> Sequence[Event]:
        """What can be returned without waiting; may be empty."""

    @property
    def progress(self) -> int: ...


@runtime_checkable
class Diagnosed(Protocol):
    """A store that says how it is; health checks ask."""

    @property
    def trouble(self) -> str:
        """Why it cannot commit now, as far as it knows; empty when it can."""


class Store(Protocol):
    """See the module's docstring for what a store promises."""

    async def open(self) -> None:
        """Start; raises StoreError with one clear line when the data cannot be used (in use, newer, not writable)."""

    async def close(self) -> None:
        """Commit what is waiting, end watches, stop."""

    @property
    def outdated(self) -> Outdated:
        """Whether an object lies there otherwise than it would be written now."""

    @property
    def revision(self) -> int:
        """The newest durable revision."""

    async def latest(self) -> int:
        """The newest durable revision of the whole system, which a consistent read must reach. Asks a remote backend."""

    async def settle(self, key: str) -> None:
        """Return once what `head` shows of `key` (its absence too) is durable; raises Unavailable if that failed.

        For answers that rest on the head but write nothing themselves: no-ops, refused preconditions, NotFound. Call it before
        the answer, without awaiting anything else since `head`. Returns at once when nothing is pending.
        """

    async def still(self, key: str, revision: int) -> bool:
        """Whether the head of `key` is at `revision` (0: it is absent), which then is durable; else False.

        An answer that rests on what `head` has shown may be given if so; if not, it is to be worked out again: on a remote store
        the head may be what this server knows, and behind.
        """

    async def get(self, key: str, *, revision: int = 0) -> Record:
        """The object now (revision 0) or as of `revision`; raises NotFound, Compacted, Future."""

    def known(self, key: str) -> Record | None:
        """The object as it is shown here, at no cost. On a remote store other servers' newest writes may be missing: for what
        Kubernetes would ask an informer.
        """

    def newest(self, prefix: str) -> int:
        """The revision of the last write shown here to any object whose key has the prefix's first segment; 0 if there was none.

        While it stays the same, `list` of the prefix at the revision shown here gives the same objects.
        """

    async def head(self, key: str) -> Record | None:
        """The object as the next write will find it; on a remote store, as far as is known here (see `still`)."""

    async def list(self, prefix: str, *, revision: int = 0, start: str = "", limit: int = 0) -> Page:
        """Objects whose keys begin with `prefix`, from the key `start` on, `limit` at the most (0: all), now or as of `revision`.

        Raises Compacted, Future.
        """

    async def count(self, prefix: str) -> int:
        """How many objects there are now."""

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        """Add an object; it vanishes after `ttl` seconds if given. Raises Exists, Unavailable."""

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        """Replace an object that is at revision `expect` (0: any). Raises NotFound, Conflict, Unavailable."""

    async def delete(self, key: str, *, expect: int = 0) -> Event:
        """Remove an object that is at revision `expect` (0: any); the event's revision is the deletion's.

        Raises NotFound, Conflict, Unavailable.
        """

    async def watch(self, prefix: str, *, after: int, capacity: int = 1000, only: Only | None = None) -> Watch:
        """Every write under `prefix` with a revision above `after`; `capacity` bounds the unread events.

        `only` spares a watcher what it would throw away; it may be given more than it asked for.

        Raises Compacted, Future.
        """

    async def compact(self, revision: int) -> None:
        """Forget history before `revision`; what is current stays."""

    async def wait_for(self, revision: int, seconds: float) -> bool:
        """Wait until `revision` is durable here, `seconds` at the most."""
