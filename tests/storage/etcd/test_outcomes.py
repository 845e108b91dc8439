"""A write whose answer is lost: made once or not at all, and the caller is told which."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from setpoint.kit.clock import RealClock
from setpoint.storage.backends.etcd import writes
from setpoint.storage.backends.etcd.connection import Connection, Unanswered
from setpoint.storage.backends.etcd.store import EtcdStore, etcd_store
from setpoint.storage.cache import Cache
from setpoint.storage.protocol import Conflict, Encoded, Exists, NotFound, Unavailable, Uncertain
from setpoint.testing.etcd import Etcd
from setpoint.testing.storage import body

Send = Callable[[Any], Awaitable[Any]]


class Line:
    """The way to etcd, on which the answers of the next writes go wrong as `trouble(send, request)` has it."""

    def __init__(self, store: Cache) -> None:
        upstream = store._upstream
        assert isinstance(upstream, EtcdStore)
        self.connection: Connection = upstream._connection
        self.send: Send = self.connection.write
        self.late: list[Any] = []

    def next(self, *trouble: Callable[[Send, Any], Awaitable[Any]]) -> None:
        queue = list(trouble)

        async def write(request: Any) -> Any:
            return await (queue.pop(0)(self.send, request) if queue else self.send(request))

        self.connection.write = write  # type: ignore[method-assign]  # a double

    async def deaf(self, send: Send, request: Any) -> Any:
        """It happens; nobody hears of it."""
        await send(request)
        raise Unanswered("lost")

    async def dropped(self, send: Send, request: Any) -> Any:
        """It never leaves."""
        raise Unanswered("lost")

    async def delayed(self, send: Send, request: Any) -> Any:
        """It is under way for longer than anybody waits."""
        self.late.append(request)
        raise Unanswered("lost")

    def after(self, meddle: Callable[[], Awaitable[Any]]) -> Callable[[Send, Any], Awaitable[Any]]:
        async def trouble(send: Send, request: Any) -> Any:
            await send(request)
            await meddle()
            raise Unanswered("lost")

        return trouble

    def before(self, meddle: Callable[[], Awaitable[Any]]) -> Callable[[Send, Any], Awaitable[Any]]:
        async def trouble(*_: Any) -> Any:
            await meddle()
            raise Unanswered("lost")

        return trouble


@asynccontextmanager
async def opened(etcd: Etcd, root: str) -> AsyncIterator[Cache]:
    store = etcd_store(etcd.members(root), RealClock())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def store(one: Etcd, root: str) -> AsyncIterator[Cache]:
    async with opened(one, root) as store:
        await store.create("nodes/warm", body("up"))
        yield store


@pytest.fixture
async def other(one: Etcd, root: str) -> AsyncIterator[Cache]:
    async with opened(one, root) as store:
        yield store


@pytest.fixture
def line(store: Cache) -> Line:
    return Line(store)


@pytest.mark.parametrize("trouble", ["deaf", "dropped", "delayed"])
async def test_every_write_is_made_once(store: Cache, line: Line, trouble: str) -> None:
    wrong = getattr(line, trouble)
    before = store.revision
    line.next(wrong)
    made = await store.create("pods/d/a", body("a"))
    line.next(wrong)
    changed = await store.update("pods/d/a", body("b"), expect=made.revision)
    assert changed.created == made.created
    line.next(wrong)
    gone = await store.delete("pods/d/a", expect=changed.revision)
    assert gone.previous is not None
    assert (gone.previous.revision, gone.previous.value) == (changed.revision, changed.value)
    line.next(wrong)
    await store.create("servicenodeports/30001", lambda _: Encoded(b"held"))  # tells no revision
    async with await store.watch("", after=before) as watch:
        seen = [(event.key, event.record is not None) for event in await watch.next()]
    assert seen == [("pods/d/a", True), ("pods/d/a", True), ("pods/d/a", False), ("servicenodeports/30001", True)]
    for request in line.late:
        assert not (await line.send(request)).succeeded, "what was given up must never happen"


async def test_a_write_in_the_way_of_a_fence_is_sent_again(store: Cache, line: Line) -> None:
    line.next(line.dropped)
    records = await asyncio.gather(*(store.create(f"pods/d/{n}", body("x")) for n in range(40)))
    assert len({record.revision for record in records}) == 40


async def test_others_writes_are_not_taken_for_ours(store: Cache, other: Cache, line: Line) -> None:
    line.next(line.before(lambda: other.create("pods/d/a", body("a"))))
    with pytest.raises(Exists):
        await store.create("pods/d/a", body("a"))
    made = await store.get("pods/d/a")
    line.next(line.before(lambda: other.update("pods/d/a", body("b"), expect=made.revision)))
    with pytest.raises(Conflict):
        await store.update("pods/d/a", body("b"), expect=made.revision)
    line.next(line.before(lambda: other.delete("pods/d/a")))
    with pytest.raises(NotFound):
        await store.delete("pods/d/a")


async def test_ours_is_known_though_others_wrote_since(store: Cache, other: Cache, line: Line) -> None:
    line.next(line.after(lambda: other.update("pods/d/a", body("theirs"))))
    made = await store.create("pods/d/a", body("ours"))
    assert (await store.get("pods/d/a")).revision > made.revision == made.created
    line.next(line.after(lambda: other.delete("pods/d/a")))
    await store.update("pods/d/a", body("again"))
    made = await store.create("pods/d/a", body("anew"))
    line.next(line.after(lambda: other.create("pods/d/a", body("theirs"))))
    gone = await store.delete("pods/d/a", expect=made.revision)
    assert gone.revision < (await store.get("pods/d/a")).revision


async def test_what_cannot_be_known_is_called_uncertain(store: Cache, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: Any, **__: Any) -> Any:
        raise Unavailable("etcd is away")

    monkeypatch.setattr(writes, "RESOLVE_SECONDS", 0.2)
    line.next(line.deaf)
    read = line.connection.read
    line.connection.read = nothing  # type: ignore[method-assign]  # a double
    with pytest.raises(Uncertain, match="is not known"):
        await store.create("pods/d/a", body("a"))
    line.connection.read = read  # type: ignore[method-assign]  # a double
    assert (await store.get("pods/d/a")).selection == "a"
