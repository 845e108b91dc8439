"""The store under test, and what the tests need around it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from setpoint.kit.clock import Clock, RealClock, VirtualClock
from setpoint.storage.protocol import Encode, Encoded, Event, Record, Store, StoreError, Watch
from setpoint.testing.storage.faults import FaultyJournal


@dataclass(frozen=True, slots=True)
class Subject:
    """A store to test, and the journal below it if its commits can be held and failed."""

    store: Store
    faults: FaultyJournal | None = None


def body(text: str) -> Encode:
    """An `encode` whose bytes tell the text and the revision."""
    return lambda revision: Encoded(value(text, revision), selection=text)


def value(text: str, revision: int) -> bytes:
    """What `body(text)` stores at a revision."""
    return f'{{"text":"{text}","resourceVersion":"{revision}"}}'.encode()


async def settle() -> None:
    """Let every ready task run (a few rounds of the loop)."""
    for _ in range(10):
        await asyncio.sleep(0)


async def collect(watch: Watch, until: int) -> list[Event]:
    """Read `watch` up to the revision `until`."""
    events: list[Event] = []
    while not events or events[-1].revision < until:
        events += await watch.next()
    return events


def keys(records: Iterable[Record]) -> list[str]:
    return [record.key for record in records]


class StoreRig(ABC):
    """Builds and opens the store under test; see the package."""

    persistent = False
    virtual_time = False
    patience = 2.0
    """Seconds for what the store does by itself, such as letting things expire."""

    @abstractmethod
    def build(self, directory: Path, clock: Clock) -> Subject:
        """The store over the data in `directory`, not yet opened."""

    @pytest.fixture
    def clock(self) -> Clock:
        return VirtualClock() if self.virtual_time else RealClock()

    @pytest.fixture
    async def subject(self, tmp_path: Path, clock: Clock) -> AsyncIterator[Subject]:
        async with self.opened(tmp_path, clock) as subject:
            yield subject

    @pytest.fixture
    def store(self, subject: Subject) -> Store:
        return subject.store

    @pytest.fixture
    def faults(self, subject: Subject) -> FaultyJournal:
        if subject.faults is None:
            pytest.skip("commits of this store cannot be held")
        return subject.faults

    @asynccontextmanager
    async def opened(self, directory: Path, clock: Clock) -> AsyncIterator[Subject]:
        subject = self.build(directory, clock)
        await subject.store.open()
        try:
            yield subject
        finally:
            if subject.faults is not None:
                subject.faults.release()
            await subject.store.close()


async def elapse(clock: Clock, seconds: float) -> None:
    """Let time pass on whichever clock."""
    if isinstance(clock, VirtualClock):
        await clock.advance(seconds)
    else:
        await clock.sleep(seconds)


async def until(read: Callable[[], object], expected: object, seconds: float = 2.0) -> None:
    """Read again and again until the answer is as expected, for some seconds."""
    for _ in range(int(seconds * 50)):
        answer = read()
        if asyncio.iscoroutine(answer):
            answer = await answer
        if answer == expected:
            return
        await asyncio.sleep(0.02)
    raise StoreError(f"expected {expected!r}, last read {answer!r}")
