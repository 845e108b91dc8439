"""Keeps a picture of the objects under one prefix of the store, for what goes by them in the server's own process.

`load` takes what is there, `run` every change, for ever; where changes were missed it takes everything again. `catch_up` takes at
once what is ready: an authoriser asks for that before it decides, so that a right holds, and holds no more, from the moment at
which the write that gave or took it is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.protocol import Compacted, Lagged, Record, Store, Unavailable, Watch

log = logs.get_logger("storage.following")

_PAUSE = 1.0  # seconds until the store is asked again that could not answer
_CAPACITY = 10_000  # events that may wait

Take = Callable[[str, Record | None], None]
#: called when all that was ready has been taken
Taken = Callable[[], None]


class Following:
    """`take(key, record)` is told how an object is now, None where it is gone; `taken` once after each burst, and each `load`."""

    def __init__(self, store: Store, clock: Clock, prefix: str, take: Take, taken: Taken | None = None) -> None:
        self._store = store
        self._clock = clock
        self._take = take
        self._taken = taken
        self._known: set[str] = set()
        self._revision = 0
        self._watch: Watch | None = None
        self.prefix = prefix

    async def load(self) -> None:
        page = await self._store.list(self.prefix)
        self._revision = page.revision
        found = {record.key for record in page.records}
        for key in self._known - found:
            self._tell(key, None)
        for record in page.records:
            self._tell(record.key, record)
        self._rest()

    async def run(self) -> None:
        """Never ends; `load` need not have been called before."""
        behind = not self._revision
        while True:
            try:
                if behind:
                    await self.load()
                behind = False
                await self._follow()
            except (Lagged, Compacted):
                behind = True
            except Unavailable:
                behind = True
                await self._clock.sleep(_PAUSE)

    def catch_up(self) -> bool:
        """Take what is ready; whether there was anything."""
        found = False
        while self._watch is not None and (events := self._watch.ready()):
            found = True
            for event in events:
                self._revision = event.revision
                self._tell(event.key, event.record)
        if found:
            self._rest()
        return found

    async def _follow(self) -> None:
        async with await self._store.watch(self.prefix, after=self._revision, capacity=_CAPACITY) as watch:
            self._watch = watch
            try:
                while True:
                    for event in await watch.next():
                        self._revision = event.revision
                        self._tell(event.key, event.record)
                    self._rest()
            finally:
                self._watch = None

    def _tell(self, key: str, record: Record | None) -> None:
        if record is None:
            self._known.discard(key)
        else:
            self._known.add(key)
        try:
            self._take(key, record)
        except Exception:  # an object that was let in and cannot be understood must not end the following of the others
            log.exception("an object cannot be taken into account", key=key)

    def _rest(self) -> None:
        if self._taken is None:
            return
        try:
            self._taken()
        except Exception:  # nor must what is made of all of them
            log.exception("what the objects say cannot be put into force", prefix=self.prefix)


class Picture(Following):
    """The objects themselves, decoded, by key; not to be changed. `changed` is called once after each burst of changes."""

    def __init__(self, store: Store, clock: Clock, prefix: str, changed: Taken) -> None:
        super().__init__(store, clock, prefix, self._keep, changed)
        self.objects: dict[str, dict[str, Any]] = {}

    def _keep(self, key: str, record: Record | None) -> None:
        if record is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = orjson.loads(record.value)
