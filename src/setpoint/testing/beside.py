"""Checks of every write of a store by a process of its own, so that they take nothing of the time of what is checked.

async with Beside(store, clock, Care) as care:
    ...
assert care.violations() == []
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection

from setpoint.kit.clock import Clock, VirtualClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Event, Record, Store
from setpoint.testing.invariants import Following, Invariants

_TOGETHER = 64
"""Writes that are sent at once: each message wakes the other process."""
#: a record as it is sent: key, value, revision, revision of the create
_Sent = tuple[str, bytes, int, int]


class Beside(Following):
    """Has another process check what happens to a store, by `checks`."""

    def __init__(self, store: Store, clock: Clock, checks: type[Invariants]) -> None:
        super().__init__(store)
        self._clock = clock
        self._unsent: list[tuple[float, str, int, _Sent | None, _Sent | None]] = []
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_check, args=(theirs, checks), daemon=True)
        self._process.start()
        theirs.close()

    async def __aexit__(self, *error: object) -> None:
        await super().__aexit__(*error)
        self._connection.close()
        self._process.join()

    def begin(self, records: Iterable[Record], revision: int) -> None:
        self._connection.send(([_sent(record) for record in records], revision))

    def take(self, events: Iterable[Event]) -> None:
        now = self._clock.monotonic()
        self._unsent += [(now, each.key, each.revision, _sent(each.record), _sent(each.previous)) for each in events]
        if len(self._unsent) >= _TOGETHER:
            self._send()

    def violations(self) -> list[str]:
        """What was wrong with all that happened until now."""
        self.goes_on()
        self._send()
        self._connection.send(None)
        found: list[str] = self._connection.recv()
        return found

    def _send(self) -> None:
        self._connection.send(self._unsent)
        self._unsent = []


def _sent(record: Record | None) -> _Sent | None:
    return None if record is None else (record.key, record.value, record.revision, record.created)


def _received(sent: _Sent | None) -> Record | None:
    return None if sent is None else Record(*sent)


class _Moment(VirtualClock):
    """The moment at which the writes happened that are being checked."""

    moment = 0.0

    def monotonic(self) -> float:
        return self.moment


def _check(connection: Connection, checks: type[Invariants]) -> None:
    """The other process, until the connection is at its end."""
    clock = _Moment()
    made = checks(memory_store(clock), clock)
    with suppress(EOFError):
        records, revision = connection.recv()
        made.begin([Record(*sent) for sent in records], revision)
        while True:
            given = connection.recv()
            if given is None:
                connection.send(made.violations)
                continue
            for clock.moment, key, revision, new, old in given:
                made.take((Event(key, revision, _received(new), _received(old)),))
