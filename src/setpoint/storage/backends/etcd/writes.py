"""Writes whose outcome is always known: made once, or not at all, and the caller is told which.

A transaction writes one object on two conditions: the object is as expected, and the fence stands where it stood. An answer says
what came of it. Where none comes (a member died, a leader changed, the network hung), the fence is moved and everything that was
written between the sending and the fence is read: the write is in there, by its name, or it never happened and is sent again
while there is time. What is removed has no name in it, so removals (and objects without a revision in them) leave their name
in a key of this process, in the same transaction.

Only when etcd stays away for longer than `RESOLVE_SECONDS` is a write given up as Uncertain, which says just that.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.connection import PATIENCE, PAUSE, Connection, NotSent, Unanswered
from setpoint.storage.backends.etcd.fence import Fence
from setpoint.storage.backends.etcd.history import Change, between
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.backends.etcd.stand_in import encode_unknown, reveal
from setpoint.storage.encryption.values import Values
from setpoint.storage.protocol import (
    Compacted,
    Conflict,
    Encode,
    Encoded,
    Event,
    Exists,
    NotFound,
    Record,
    Unavailable,
    Uncertain,
)

if TYPE_CHECKING:
    from aetcd.rpc import kv_pb2, rpc_pb2

log = logs.get_logger("storage.etcd")

RESOLVE_SECONDS = 45.0
MAX_PENDING = 5_000  # writes under way; more are refused


@dataclass(slots=True)
class _Write:
    """One write on its way. `since` is a revision before which it cannot have happened."""

    key: str
    place: bytes
    name: bytes
    since: int
    fence: int = 0
    encoded: Encoded | None = None  # None: a removal
    sealed: bytes = b""  # what etcd gets of it
    marked: bool = False
    expect: int = 0  # 0 with `creates` False: any
    creates: bool = False
    lease: int = 0

    def holds(self, current: kv_pb2.KeyValue | None) -> bool:
        """Whether the object is as the write expects it."""
        if current is None:
            return self.creates
        return not self.creates and self.expect in (0, current.mod_revision)


class Writer:
    """All writes of one process."""

    def __init__(self, connection: Connection, layout: Layout, fence: Fence, clock: Clock, values: Values) -> None:
        self._connection = connection
        self._layout = layout
        self._values = values
        self._fence = fence
        self._clock = clock
        self._names = itertools.count(1)
        self._mark = layout.own(f"marks/{fence.writer}")
        self._resolving = asyncio.Lock()
        #: what was written here and may come back by the watch, by name
        self.under_way: dict[bytes, _Write] = {}

    # ---- what the store asks

    async def create(self, key: str, encode: Encode, ttl: float) -> Record:
        write = self._new(key)
        write.creates = True
        return await self._put(write, encode, ttl)

    async def update(self, key: str, encode: Encode, expect: int, ttl: float) -> Record:
        write = self._new(key)
        write.expect = expect
        return await self._put(write, encode, ttl)

    async def delete(self, key: str, expect: int) -> Event:
        write = self._new(key)
        write.expect, write.marked = expect, True
        made = await self._carry_out(write)
        return Event(key, made.revision, None, made.previous)

    # ---- one write

    def _new(self, key: str) -> _Write:
        if len(self.under_way) >= MAX_PENDING:
            raise Unavailable("too many writes wait for etcd")
        name = f"{self._fence.writer}.{next(self._names):x}".encode()
        return _Write(key, self._layout.place(key), name, self._connection.revision)

    async def _put(self, write: _Write, encode: Encode, ttl: float) -> Record:
        self._values.ready(write.key)
        write.encoded, named = encode_unknown(encode, write.name)
        write.marked = not named
        write.sealed = self._values.seal(write.key, write.encoded.value, write.place)
        if ttl:
            write.lease = await self._grant(ttl)
        made = await self._carry_out(write)
        value = reveal(write.encoded.value, made.revision)
        return Record(write.key, value, made.revision, made.created, write.encoded.selection)

    async def _grant(self, ttl: float) -> int:
        """A lease of the object's own: leases that several objects shared would end them in one revision."""
        from aetcd.rpc import rpc_pb2 as pb

        request = pb.LeaseGrantRequest(TTL=max(1, round(ttl)))
        return int((await self._connection.read(lambda member: (member.lease.LeaseGrant, request))).ID)

    async def _carry_out(self, write: _Write) -> _Made:
        self.under_way[write.name] = write
        try:
            return await self._until_known(write)
        finally:
            del self.under_way[write.name]

    async def _until_known(self, write: _Write) -> _Made:
        deadline = self._clock.monotonic() + PATIENCE
        while True:
            write.fence = await self._fence.standing()
            try:
                response = await self._connection.write(self._request(write))
            except NotSent as error:
                why = str(error)
            except Unanswered as error:
                why = str(error)
                made = await self._find_out(write)
                if made is not None:
                    return made
            else:
                if response.succeeded:
                    return await self._made(write, response)
                await self._turned_away(write, response)
                why = "the fence moved"
            if self._clock.monotonic() >= deadline:
                raise Unavailable(f"etcd at {self._connection.where} did not take the write: {why}")
            if why != "the fence moved":
                await self._clock.sleep(PAUSE)

    def _request(self, write: _Write) -> rpc_pb2.TxnRequest:
        from aetcd.rpc import rpc_pb2 as pb

        request = pb.TxnRequest()
        request.compare.add(target=pb.Compare.MOD, result=pb.Compare.EQUAL, key=self._fence.place, mod_revision=write.fence)
        if write.creates or write.expect:
            request.compare.add(target=pb.Compare.MOD, result=pb.Compare.EQUAL, key=write.place, mod_revision=write.expect)
        else:
            request.compare.add(target=pb.Compare.VERSION, result=pb.Compare.GREATER, key=write.place, version=0)
        if write.encoded is None:
            request.success.add().request_delete_range.CopyFrom(pb.DeleteRangeRequest(key=write.place, prev_kv=True))
        else:
            request.success.add().request_put.CopyFrom(pb.PutRequest(key=write.place, value=write.sealed, lease=write.lease))
            if not write.creates:  # for its revision of creation
                request.success.add().request_range.CopyFrom(pb.RangeRequest(key=write.place, keys_only=True))
        if write.marked:
            request.success.add().request_put.CopyFrom(pb.PutRequest(key=self._mark, value=write.name))
        request.failure.add().request_range.CopyFrom(pb.RangeRequest(key=write.place))
        return request

    async def _turned_away(self, write: _Write, response: rpc_pb2.TxnResponse) -> None:
        """The conditions did not hold: raises the object's refusal, or learns where the fence stands."""
        found = response.responses[0].response_range.kvs
        current = found[0] if found else None
        if write.holds(current):
            await self._fence.look(write.fence)
            return
        if current is None:
            raise NotFound(write.key)
        if write.creates:
            raise Exists(write.key)
        await self._values.prepare((current.value,))
        raise Conflict(record_of(self._values, write.key, current))

    async def _made(self, write: _Write, response: rpc_pb2.TxnResponse) -> _Made:
        revision, first = int(response.header.revision), response.responses
        if write.encoded is None:
            await self._values.prepare((first[0].response_delete_range.prev_kvs[0].value,))
            previous = record_of(self._values, write.key, first[0].response_delete_range.prev_kvs[0])
            self._values.forget(write.key)
            return _Made(revision, 0, previous)
        return _Made(revision, revision if write.creates else int(first[1].response_range.kvs[0].create_revision))

    # ---- a write without an answer

    async def _find_out(self, write: _Write) -> _Made | None:
        """What came of it; None: it did not happen, and never will. Raises Uncertain."""
        deadline = self._clock.monotonic() + RESOLVE_SECONDS
        log.info("a write has no answer", key=write.key)
        while True:
            try:
                until = await self._fence.move(write.fence)
                async with self._resolving:  # one after another: what is read may be much
                    changes = await between(self._connection, self._layout, self._values, write.since, until)
                await self._values.prepare(change.previous.value for change in changes if change.previous is not None)
                return self._among(write, changes)
            except Compacted as error:
                raise Uncertain(f"whether {write.key} was written cannot be told any more: {error}") from error
            except Unavailable as error:
                if self._clock.monotonic() >= deadline:
                    raise Uncertain(f"whether {write.key} was written is not known: {error}") from error
            await self._clock.sleep(PAUSE)

    def _among(self, write: _Write, changes: Sequence[Change]) -> _Made | None:
        ours = {change.revision for change in changes if change.place == self._mark and change.value == write.name}
        for change in changes:
            if change.place != write.place:
                continue
            if change.revision in ours or (change.name == write.name and not write.marked):
                previous = record_of(self._values, write.key, change.previous) if change.previous is not None else None
                return _Made(change.revision, change.created, previous)
        return None


@dataclass(frozen=True, slots=True)
class _Made:
    """What a write came to."""

    revision: int
    created: int = 0
    previous: Record | None = None


def record_of(values: Values, key: str, kv: Any) -> Record:
    """What lies in etcd as the store shows it; raises Unreadable."""
    value = reveal(values.open(key, kv.value, kv.key), kv.mod_revision)
    return Record(key, value, kv.mod_revision, kv.create_revision)
