"""Old history is forgotten every few minutes, by whichever API server comes first.

Each remembers the revision of one interval ago. A counter, a key of etcd that Kubernetes' API servers use alike, is raised on
condition that it is where it was seen last: who raises it compacts, the others learn where it is. So history is kept for one
interval at the least and two at the most, however many servers there are.
Source: apiserver `pkg/storage/etcd3/compact.go`.
"""

from __future__ import annotations

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.connection import Connection, Refusal
from setpoint.storage.protocol import Unavailable

COUNTER = b"compact_rev_key"
SECONDS = 300.0
log = logs.get_logger("storage.etcd")


class Compactor:
    """One server's part."""

    def __init__(self, connection: Connection, clock: Clock, *, seconds: float = SECONDS) -> None:
        self._connection = connection
        self._clock = clock
        self._seconds = seconds
        self._version = 0
        self._revision = 0

    async def run(self) -> None:
        while True:
            await self._clock.sleep(self._seconds)
            try:
                await self.round()
            except (Refusal, Unavailable) as error:
                log.debug("not compacted", why=str(error))

    async def round(self) -> None:
        """Raise the counter; if nobody else did, forget what lies before the revision of the last round."""
        from aetcd.rpc import rpc_pb2 as pb

        request = pb.TxnRequest()
        request.compare.add(target=pb.Compare.VERSION, result=pb.Compare.EQUAL, key=COUNTER, version=self._version)
        request.success.add().request_put.CopyFrom(pb.PutRequest(key=COUNTER, value=b"%d" % self._revision))
        request.failure.add().request_range.CopyFrom(pb.RangeRequest(key=COUNTER))
        response = await self._connection.read(lambda member: (member.kv.Txn, request))
        before, self._revision = self._revision, int(response.header.revision)
        if not response.succeeded:
            self._version = int(response.responses[0].response_range.kvs[0].version)
            return
        self._version += 1
        if before:
            compaction = pb.CompactionRequest(revision=before)
            await self._connection.read(lambda member: (member.kv.Compact, compaction))
            log.debug("compacted", revision=before)
