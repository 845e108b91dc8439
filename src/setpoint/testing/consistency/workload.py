"""Concurrent clients that do anything to few keys, and record it all.

    history = History()
    load = Workload(history, keys, seed, prefixes=["pods/"])
    await record(load, [OfStore(store) for _ in range(4)], steps=100)
    assert check(history) == []

Few keys, so that clients meet; every client remembers what it last saw of each, so that its updates insist on versions that are
right, overtaken, or of an object that is gone. Watchers resume where they broke off until they have seen the last write.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from setpoint.kit.tasks import Tasks
from setpoint.testing.consistency.clients import Answered, Broken, Feed, Subject
from setpoint.testing.consistency.history import History, Operation, Version, Watching

PAUSE = 0.02  # seconds before a client tries again what broke


class Workload:
    """See the module. `prefixes` are what lists and watches ask for."""

    def __init__(
        self,
        history: History,
        keys: Sequence[str],
        seed: int,
        *,
        prefixes: Sequence[str],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.history = history
        self._keys = keys
        self._rng = random.Random(seed)  # noqa: S311  predictable on purpose
        self.prefixes = prefixes
        self._sleep = sleep
        self._known: dict[tuple[int, str], Version] = {}
        self._tokens = 0
        self._newest = 0

    # ---- one client after another

    async def client(self, number: int, subject: Subject, steps: int, pause: float = 0.0) -> None:
        """Do `steps` things at random."""
        acts = (self._create, self._update, self._delete, self._get, self._list, self._list_past)
        for _ in range(steps):
            [act] = self._rng.choices(acts, (5, 7, 3, 4, 2, 1))
            await act(number, subject)
            await self._sleep(self._rng.random() * pause)

    def _key(self) -> str:
        return self._rng.choice(self._keys)

    def _token(self, number: int) -> str:
        self._tokens += 1
        return f"t{self._tokens}-of-{number}"

    async def _create(self, number: int, subject: Subject) -> None:
        operation = self.history.call(number, "create", self._key(), token=self._token(number))
        await self._carry_out(operation, subject.create(operation.key, operation.token))

    async def _update(self, number: int, subject: Subject) -> None:
        key = self._key()
        operation = self.history.call(number, "update", key, token=self._token(number), expect=self._expectation(number, key))
        await self._carry_out(operation, subject.update(key, operation.token, operation.expect))

    async def _delete(self, number: int, subject: Subject) -> None:
        key = self._key()
        operation = self.history.call(number, "delete", key, expect=self._expectation(number, key))
        await self._carry_out(operation, subject.delete(key, operation.expect))

    async def _get(self, number: int, subject: Subject) -> None:
        operation = self.history.call(number, "get", self._key())
        await self._carry_out(operation, subject.get(operation.key))

    def _expectation(self, number: int, key: str) -> int:
        """The version last seen; none (any will do) one time in three."""
        known = self._known.get((number, key))
        return known.revision if known is not None and self._rng.random() < 0.66 else 0

    async def _carry_out(self, operation: Operation, call: Awaitable[Version]) -> None:
        try:
            version = await call
        except Answered as answered:
            if answered.outcome == "unknown":
                await self._sleep(PAUSE)
            else:
                self.history.answer(operation, answered.outcome)
            return
        self.history.answer(operation, "done")
        operation.life = version.life
        if operation.verb == "get":
            operation.found = version
        else:
            operation.revision = version.revision
        if version.revision:
            self._known[operation.client, operation.key] = version
            self._newest = max(self._newest, version.revision)

    async def _list(self, number: int, subject: Subject) -> None:
        await self._read_list(number, subject, 0)

    async def _list_past(self, number: int, subject: Subject) -> None:
        if self._newest:
            await self._read_list(number, subject, max(1, self._newest - self._rng.randrange(20)))

    async def _read_list(self, number: int, subject: Subject, revision: int) -> None:
        listing = self.history.list_called(number, self._rng.choice(self.prefixes), fresh=not revision)
        limit = self._rng.choice((0, 1, 2, 3))
        token = ""
        try:
            while True:
                part = await subject.page(listing.prefix, limit=limit, token=token, revision=revision)
                listing.items += part.items
                listing.revision = listing.revision or part.revision
                token = part.token
                if not token:
                    break
                listing.remaining.append((len(listing.items), part.remaining))
                await self._sleep(0)
        except Broken:
            await self._sleep(PAUSE)
            return
        self.history.list_answered(listing)
        for version in listing.items:
            self._known[number, version.key] = version

    # ---- watches

    async def watcher(self, number: int, subject: Subject, prefix: str, after: int) -> None:
        """Watch from `after` on, for ever; again from where it broke off, or from a list when that is too long ago."""
        while True:
            watching = self.history.watch_called(number, prefix, after)
            try:
                async with subject.watch(prefix, after) as feed:
                    await self._follow(watching, feed)
            except Broken as broken:
                await self._sleep(PAUSE)
                after = await self._begin_anew(number, subject, prefix) if broken.expired else watching.until

    async def _follow(self, watching: Watching, feed: Feed) -> None:
        while True:
            told, until = await feed.next()
            watching.events += told
            watching.until = max(watching.until, until)

    async def _begin_anew(self, number: int, subject: Subject, prefix: str) -> int:
        while True:
            try:
                return (await subject.page(prefix, limit=1)).revision
            except Broken:
                await self._sleep(PAUSE)

    async def finish(self, subject: Subject, seconds: float = 30) -> None:
        """Write once more where all look and let every watcher see it: all have then seen everything. Raises TimeoutError."""
        last = await self._last_write(subject)
        newest: dict[tuple[int, str], Watching] = {}
        async with asyncio.timeout(seconds):
            while True:
                for watching in self.history.watches:
                    newest[watching.client, watching.prefix] = watching
                if all(each.until >= last for each in newest.values()):
                    return
                await self._sleep(PAUSE)

    async def _last_write(self, subject: Subject) -> int:
        """Write to the key that all prefixes cover until it is acknowledged."""
        key = next(key for key in self._keys if all(key.startswith(prefix) for prefix in self.prefixes))
        while True:
            for act in (self._rewrite, self._anew):
                if revision := await act(subject, key):
                    return revision
            await self._sleep(PAUSE)

    async def _rewrite(self, subject: Subject, key: str) -> int:
        operation = self.history.call(0, "update", key, token=self._token(0))
        await self._carry_out(operation, subject.update(key, operation.token, 0))
        return operation.revision

    async def _anew(self, subject: Subject, key: str) -> int:
        operation = self.history.call(0, "create", key, token=self._token(0))
        await self._carry_out(operation, subject.create(key, operation.token))
        return operation.revision


async def record(
    load: Workload,
    subjects: Sequence[Subject],
    *,
    steps: int,
    after: int = 0,
    pause: float = 0.0,
    trouble: Callable[[], Coroutine[Any, Any, None]] | None = None,
    calm: Callable[[], None] = lambda: None,
) -> None:
    """Let one client per subject do `steps` things while two watch each prefix and `trouble()` troubles; `calm()` ends that."""
    async with Tasks("history") as tasks:
        for number, prefix in enumerate([*load.prefixes, *load.prefixes]):
            tasks.start(f"watcher {number}", load.watcher(100 + number, subjects[number % len(subjects)], prefix, after))
        troubling = tasks.start("trouble", trouble()) if trouble is not None else None
        async with asyncio.TaskGroup() as group:
            for number, subject in enumerate(subjects, 1):
                group.create_task(load.client(number, subject, steps, pause))
        if troubling is not None:
            troubling.cancel()
        calm()
        await load.finish(subjects[0])
        tasks.stop()
