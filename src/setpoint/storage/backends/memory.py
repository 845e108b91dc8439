"""The store that forgets: for tests, for virtual time, and for clusters that need not outlive their process."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.kit.clock import Clock
from setpoint.storage.journal import Done, Recovered, Row
from setpoint.storage.local import LocalStore
from setpoint.storage.mvcc import Retention
from setpoint.storage.protocol import Describe


class MemoryJournal:
    """A Journal without a disk: every batch is durable at once, as far as durability goes here."""

    async def open(self) -> Recovered:
        return Recovered((), 0)

    def append(self, rows: Sequence[Row], done: Done) -> None:
        done(None)

    def check(self, done: Done) -> None:
        done(None)

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        pass

    async def close(self) -> None:
        pass


def memory_store(clock: Clock, *, retention: Retention | None = None, describe: Describe | None = None) -> LocalStore:
    """A store in memory; starts nothing until it is opened."""
    return LocalStore(MemoryJournal(), clock, retention=retention, describe=describe)
