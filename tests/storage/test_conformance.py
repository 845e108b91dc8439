"""The exported suite on every backend of this process, and on the watch cache over each.

What is pending behind the cache is nothing that the cache knows of, so it is not asked about group commit.
"""

from __future__ import annotations

from pathlib import Path

from setpoint.kit.clock import Clock
from setpoint.storage.backends.memory import MemoryJournal
from setpoint.storage.backends.sqlite import SQLiteJournal
from setpoint.storage.cache import Cache
from setpoint.storage.local import LocalStore
from setpoint.testing.storage import FaultyJournal, StoreConformance, Subject


class TestMemory(StoreConformance):
    virtual_time = True

    def build(self, directory: Path, clock: Clock) -> Subject:
        faults = FaultyJournal(MemoryJournal())
        return Subject(LocalStore(faults, clock), faults)


class TestSQLite(StoreConformance):
    persistent = True

    def build(self, directory: Path, clock: Clock) -> Subject:
        faults = FaultyJournal(SQLiteJournal(directory))
        return Subject(LocalStore(faults, clock), faults)


class TestCacheOverMemory(TestMemory):
    def build(self, directory: Path, clock: Clock) -> Subject:
        inner = super().build(directory, clock)
        return Subject(Cache(inner.store, clock))


class TestCacheOverSQLite(TestSQLite):
    def build(self, directory: Path, clock: Clock) -> Subject:
        inner = super().build(directory, clock)
        return Subject(Cache(inner.store, clock))
