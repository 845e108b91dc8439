"""A store whose records can be read in the version of one endpoint, though a webhook must be asked for that.

Codecs cannot wait. So whatever leaves the store gets its other forms here, a page at a time; and what is to be written is
converted here, before the write, there and back: a webhook that fails changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self

from setpoint.storage.protocol import Encode, Encoded, Event, Only, Page, Record, Store, Watch


class Forms(Protocol):
    """What a codec does that knows a webhook."""

    async def prepare(self, records: Sequence[Record]) -> None:
        """Give records the forms that reading them needs. Raises 500."""


class Writing(Protocol):
    """What a codec encodes by: `there_and_back` before the write, `keep` after."""

    def __call__(self, revision: int) -> Encoded: ...
    async def there_and_back(self) -> None: ...
    def keep(self, record: Record) -> None: ...


class ConvertingStore:
    """All of a store's methods; those that are not here are the store's own."""

    def __init__(self, store: Store, codec: Forms) -> None:
        self._store = store
        self._codec = codec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get(self, key: str, *, revision: int = 0) -> Record:
        record = await self._store.get(key, revision=revision)
        await self._codec.prepare((record,))
        return record

    async def head(self, key: str) -> Record | None:
        record = await self._store.head(key)
        if record is not None:
            await self._codec.prepare((record,))
        return record

    async def list(self, prefix: str, *, revision: int = 0, start: str = "", limit: int = 0) -> Page:
        page = await self._store.list(prefix, revision=revision, start=start, limit=limit)
        await self._codec.prepare(page.records)
        return page

    async def create(self, key: str, encode: Encode, *, ttl: float = 0) -> Record:
        writing: Writing = encode  # type: ignore[assignment]  # made by our codec
        await writing.there_and_back()
        record = await self._store.create(key, writing, ttl=ttl)
        writing.keep(record)
        return record

    async def update(self, key: str, encode: Encode, *, expect: int = 0, ttl: float = 0) -> Record:
        writing: Writing = encode  # type: ignore[assignment]  # made by our codec
        await writing.there_and_back()
        record = await self._store.update(key, writing, expect=expect, ttl=ttl)
        writing.keep(record)
        return record

    async def watch(self, prefix: str, *, after: int, capacity: int = 1000, only: Only | None = None) -> Watch:
        """`only` would look at records before they are converted, so all of them come."""
        return ConvertingWatch(await self._store.watch(prefix, after=after, capacity=capacity), self._codec)


class ConvertingWatch:
    """A watch whose events come when their objects are converted; a `next` that is cancelled meanwhile loses none."""

    def __init__(self, watch: Watch, codec: Forms) -> None:
        self._watch = watch
        self._codec = codec
        self._waiting: Sequence[Event] = ()

    async def __aenter__(self) -> Self:
        await self._watch.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._watch.__aexit__(*error)

    async def next(self) -> Sequence[Event]:
        if not self._waiting:
            self._waiting = await self._watch.next()
        await self._codec.prepare(list(_records(self._waiting)))
        events, self._waiting = self._waiting, ()
        return events

    def ready(self) -> Sequence[Event]:
        return ()

    @property
    def progress(self) -> int:
        return self._waiting[0].revision - 1 if self._waiting else self._watch.progress


def _records(events: Iterable[Event]) -> Iterable[Record]:
    for event in events:
        if event.previous is not None:
            yield event.previous
        if event.record is not None:
            yield event.record
