"""A line that old writes of this process cannot cross.

Every write is made on condition that the fence, a key of this process alone, has not moved since it was sent. To learn the
outcome of a write whose answer was lost, the fence is moved: from that revision on, the write has happened or never will,
wherever it may still be under way. Writes that were in flight meanwhile are turned away by it; that is known for sure, so they
are simply sent again.
"""

from __future__ import annotations

import asyncio
import secrets

from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.connection import PAUSE, Connection
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.protocol import Unavailable

LEASE_SECONDS = 3600
RENEW_SECONDS = 1200.0


class Fence:
    """See the module. `position` is the key's revision, 0 while there is none."""

    def __init__(self, connection: Connection, layout: Layout, clock: Clock) -> None:
        self.writer = secrets.token_hex(6)
        self.place = layout.own(f"writers/{self.writer}")
        self.position = 0
        self._connection = connection
        self._clock = clock
        self._moving = asyncio.Lock()

    async def standing(self) -> int:
        """The fence's position, putting it up first if there is none. Raises Unavailable."""
        return self.position or await self.move(0)

    async def move(self, beyond: int) -> int:
        """See to it that the fence stands beyond the position `beyond`, and tell where. Raises Unavailable."""
        async with self._moving:
            if self.position <= beyond:
                self.position = await self._put()
            return self.position

    async def look(self, refused_by: int) -> None:
        """Learn where the fence stands, since a write on condition that it stands at `refused_by` was turned away by it."""
        from aetcd.rpc import rpc_pb2 as pb

        async with self._moving:
            if self.position != refused_by:
                return
            found = (await self._connection.range(pb.RangeRequest(key=self.place, keys_only=True))).kvs
            self.position = found[0].mod_revision if found else 0

    async def _put(self) -> int:
        from aetcd.rpc import rpc_pb2 as pb

        grant = pb.LeaseGrantRequest(TTL=LEASE_SECONDS)
        lease = (await self._connection.read(lambda member: (member.lease.LeaseGrant, grant))).ID
        request = pb.PutRequest(key=self.place, value=b"", lease=lease)
        response = await self._connection.read(lambda member: (member.kv.Put, request))
        return int(response.header.revision)

    async def keep(self) -> None:
        """Renew the fence before its lease ends, for ever."""
        while True:
            await self._clock.sleep(RENEW_SECONDS)
            if self.position:
                try:
                    await self.move(self.position)
                except Unavailable:
                    await self._clock.sleep(PAUSE)
