"""Any sequence of writes, failures, compactions and restarts against the simplest model: a dict per revision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from setpoint.kit.clock import VirtualClock
from setpoint.storage.cache import Cache
from setpoint.storage.journal import Done, Recovered, Row
from setpoint.storage.local import LocalStore
from setpoint.storage.protocol import Compacted, Conflict, Exists, NotFound, Record, Store, StoreError, Watch
from setpoint.testing.storage import FaultyJournal, body, settle

T = TypeVar("T")
KEYS = st.sampled_from([f"{plural}/{namespace}/{name}" for plural in ("pods", "pods.x") for namespace in "de" for name in "ab"])
PREFIXES = st.sampled_from(["pods/", "pods/d/", "pods.x/e/", "pods/d/a", ""])


@dataclass
class KeptJournal:
    """A disk that is a list."""

    rows: dict[int, Row] = field(default_factory=dict)
    floor: int = 0

    async def open(self) -> Recovered:
        return Recovered([self.rows[revision] for revision in sorted(self.rows)], self.floor)

    def append(self, rows: Sequence[Row], done: Done) -> None:
        self.rows.update((row.revision, row) for row in rows)
        done(None)

    def check(self, done: Done) -> None:
        done(None)

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        self.floor = floor
        for revision in revisions:
            del self.rows[revision]

    async def close(self) -> None:
        pass


class StoreMachine(RuleBasedStateMachine):
    cached = False

    @initialize()
    def start(self) -> None:
        self.runner = asyncio.Runner()
        self.journal = KeptJournal()
        self.state: dict[str, tuple[bytes, int]] = {}
        self.snapshots: dict[int, dict[str, tuple[bytes, int]]] = {0: {}}
        self.floor = 0
        self.highest = 0
        self.watches: list[tuple[str, int, Watch]] = []
        self.written: list[tuple[int, str]] = []
        self.run(self.open())

    def run(self, work: Awaitable[T]) -> T:
        async def go() -> T:
            return await work

        return self.runner.run(go())

    async def open(self) -> None:
        self.faults = FaultyJournal(self.journal)
        local = LocalStore(self.faults, VirtualClock())
        self.store: Store = Cache(local, VirtualClock()) if self.cached else local
        await self.store.open()
        if self.cached:
            self.floor = self.store.revision
        self.watches = []

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.run(self.store.close())
            self.runner.close()

    def wrote(self, revision: int, key: str, value: bytes | None) -> None:
        assert revision > self.highest
        self.highest = revision
        if value is None:
            del self.state[key]
        else:
            self.state[key] = (value, revision)
        self.snapshots[revision] = dict(self.state)
        self.written.append((revision, key))

    @rule(key=KEYS, text=st.text("xyz", max_size=3))
    def create(self, key: str, text: str) -> None:
        if key in self.state:
            with pytest.raises(Exists):
                self.run(self.store.create(key, body(text)))
        else:
            record = self.run(self.store.create(key, body(text)))
            self.wrote(record.revision, key, record.value)

    @rule(key=KEYS, right=st.booleans(), delete=st.booleans())
    def change(self, key: str, right: bool, delete: bool) -> None:
        current = self.state.get(key)
        expect = current[1] if current and right else 0 if right else self.highest + 1

        def write() -> Awaitable[Any]:
            return self.store.delete(key, expect=expect) if delete else self.store.update(key, body("new"), expect=expect)

        if current is None or not right:
            with pytest.raises(NotFound if current is None else Conflict):
                self.run(write())
            return
        result = self.run(write())
        self.wrote(result.revision, key, None if delete else result.value)

    @rule(keys=st.lists(KEYS, min_size=2, max_size=8), fail=st.booleans())
    def write_together(self, keys: list[str], fail: bool) -> None:
        results = self.run(self._together(keys, fail=fail))
        for key, result in sorted(
            ((k, r) for k, r in zip(keys, results, strict=True) if not isinstance(r, BaseException)),
            key=lambda pair: pair[1].revision,
        ):
            assert not fail
            self.wrote(result.revision, key, result.value if isinstance(result, Record) else None)
        assert not fail or all(isinstance(result, StoreError) for result in results)

    async def _together(self, keys: list[str], *, fail: bool) -> list[Any]:
        self.faults.hold()
        tasks = []
        for n, key in enumerate(keys):
            head = await self.store.head(key)
            if head is None:
                work: Any = self.store.create(key, body(str(n)))
            elif n % 3 == 2:
                work = self.store.delete(key, expect=head.revision)
            else:
                work = self.store.update(key, body(str(n)), expect=head.revision)
            tasks.append(asyncio.ensure_future(work))
            await settle()
        if fail:
            self.faults.fail_next()
        self.faults.release()
        return await asyncio.gather(*tasks, return_exceptions=True)

    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        revision = data.draw(st.integers(self.floor, self.store.revision))
        self.run(self.store.compact(revision))
        self.floor = max(self.floor, revision)

    @rule()
    def restart(self) -> None:
        before = self.store.revision
        self.run(self.store.close())
        self.run(self.open())
        assert self.store.revision == before

    @rule(data=st.data(), prefix=PREFIXES, limit=st.integers(1, 4))
    def read_the_past(self, data: st.DataObject, prefix: str, limit: int) -> None:
        revision = data.draw(st.integers(0, self.store.revision))
        if revision == 0:
            return
        if revision < self.floor:
            with pytest.raises(Compacted):
                self.run(self.store.list(prefix, revision=revision))
            return
        then = self.snapshots[max(known for known in self.snapshots if known <= revision)]
        expected = sorted((key, value) for key, (value, _) in then.items() if key.startswith(prefix))
        found: list[tuple[str, bytes]] = []
        start, more = "", True
        while more:
            page = self.run(self.store.list(prefix, revision=revision, start=start, limit=limit))
            found += [(record.key, record.value) for record in page.records]
            assert page.remaining == len(expected) - len(found)
            more = page.more
            start = found[-1][0] + "\0" if found else ""
        assert found == expected

    @rule(data=st.data(), prefix=PREFIXES)
    def watch(self, data: st.DataObject, prefix: str) -> None:
        after = data.draw(st.integers(self.floor, self.store.revision))
        self.watches.append((prefix, after, self.run(self.store.watch(prefix, after=after))))

    @invariant()
    def reads_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        page = self.run(self.store.list(""))
        for n, (prefix, after, watch) in enumerate(self.watches):
            expected = [revision for revision, key in self.written if revision > after and key.startswith(prefix)]
            assert [event.revision for event in watch.ready()] == expected
            self.watches[n] = (prefix, self.highest, watch)
        assert {record.key: (record.value, record.revision) for record in page.records} == self.state
        assert self.run(self.store.count("pods/")) == sum(key.startswith("pods/") for key in self.state)


class CachedStoreMachine(StoreMachine):
    cached = True


CONFIG = settings(max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
TestStore = StoreMachine.TestCase
TestStore.settings = CONFIG
TestCachedStore = CachedStoreMachine.TestCase
TestCachedStore.settings = CONFIG
