"""What was written between two revisions, read from etcd's own history."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.storage.backends.etcd.connection import READ_SECONDS, Connection
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.backends.etcd.stand_in import name_of
from setpoint.storage.encryption.values import Unreadable, Values
from setpoint.storage.protocol import Compacted, Unavailable

if TYPE_CHECKING:
    from aetcd.rpc import kv_pb2


class Change(Struct, frozen=True):
    """One key's write. `name` is the write's own, where the value bears it; `previous` is what was there before."""

    place: bytes
    revision: int
    created: int
    value: bytes
    name: bytes
    previous: Any


def _change(event: kv_pb2.Event, layout: Layout, values: Values) -> Change:
    kv = event.kv
    previous = event.prev_kv if event.HasField("prev_kv") else None
    return Change(kv.key, kv.mod_revision, kv.create_revision, kv.value, _name(kv, layout, values), previous)


def _name(kv: kv_pb2.KeyValue, layout: Layout, values: Values) -> bytes:
    """The name of the write; of what is not of this server's writing and cannot be read, none."""
    try:
        return name_of(values.open(layout.key(kv.key), kv.value, kv.key))
    except Unreadable:
        return b""


async def between(connection: Connection, layout: Layout, values: Values, since: int, until: int) -> list[Change]:
    """Everything written after `since`, `until` included; at `until` something must have been written.

    Raises Compacted, Unavailable.
    """
    from aetcd.rpc import rpc_pb2 as pb
    from grpc import aio

    if since >= until:
        return []
    create = pb.WatchCreateRequest(key=layout.root, range_end=layout.end, start_revision=since + 1, prev_kv=True)
    found: list[Change] = []
    member, stream = connection.stream()
    try:
        await stream.write(pb.WatchRequest(create_request=create))
        while not found or found[-1].revision < until:
            async with asyncio.timeout(READ_SECONDS):
                response = await stream.read()
            if response is aio.EOF or response.canceled:
                if getattr(response, "compact_revision", 0):
                    raise Compacted(response.compact_revision)
                raise Unavailable("the history cannot be read")
            found += [_change(event, layout, values) for event in response.events]
    except (aio.AioRpcError, TimeoutError) as error:
        connection.leave(member)
        raise Unavailable(f"the history cannot be read: {error or 'no answer'}") from error
    finally:
        stream.cancel()
    return [change for change in found if change.revision <= until]
