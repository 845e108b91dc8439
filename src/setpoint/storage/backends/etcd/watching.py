"""One watch over everything under the root, which outlives the member that it began with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.connection import PAUSE, Connection, Member
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.backends.etcd.stand_in import reveal
from setpoint.storage.encryption.values import Values
from setpoint.storage.protocol import Event, Lagged, Record, Unavailable

if TYPE_CHECKING:
    from aetcd.rpc import kv_pb2, rpc_pb2

log = logs.get_logger("storage.etcd")

Selection = Callable[[bytes], Any]


class EtcdWatch:
    """See `protocol.Watch`. `next` may return nothing but progress; `previous` of its events is for the cache to fill in.

    A broken stream goes on at another member, just after what was seen last. Lagged: history was compacted meanwhile.
    Cancelling `next` ends the watch.
    """

    def __init__(
        self, connection: Connection, layout: Layout, clock: Clock, after: int, selection: Selection, values: Values
    ) -> None:
        self._values = values
        self._connection = connection
        self._layout = layout
        self._clock = clock
        self._selection = selection
        self._progress = after
        self._member: Member | None = None
        self._stream: Any = None
        self._closed = False
        self._silent = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._closed = True
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None

    def restart(self) -> None:
        """Go on at another member: this one hangs."""
        if self._stream is not None:
            self._silent = True
            self._stream.cancel()

    @property
    def progress(self) -> int:
        return self._progress

    def ready(self) -> Sequence[Event]:
        return ()

    async def next(self) -> Sequence[Event]:
        from grpc import aio

        while not self._closed:
            try:
                if self._stream is None:
                    await self._begin()
                response = await self._stream.read()
            except aio.AioRpcError as error:
                await self._break(error.details() or error.code().name)
                continue
            except asyncio.CancelledError:  # also what a stream says that was cancelled here
                if not self._silent or _is_cancelled():
                    raise
                self._silent = False
                await self._break("the member is silent")
                continue
            if response is aio.EOF:
                await self._break("the stream ended")
            elif response.canceled:
                await self._cancelled(response)
            elif not response.created:
                await self._values.prepare(event.kv.value for event in response.events)
                return self._take(response)
        raise Unavailable("the store stops")

    async def _begin(self) -> None:
        from aetcd.rpc import rpc_pb2 as pb

        create = pb.WatchCreateRequest(
            key=self._layout.root, range_end=self._layout.end, start_revision=self._progress + 1, progress_notify=True
        )
        self._member, self._stream = self._connection.stream()
        await self._stream.write(pb.WatchRequest(create_request=create))

    async def _break(self, why: str) -> None:
        log.info("the watch of etcd goes on elsewhere", why=why, after=self._progress)
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None
        if self._member is not None and not self._closed:
            self._connection.leave(self._member)
        await self._clock.sleep(PAUSE)

    async def _cancelled(self, response: rpc_pb2.WatchResponse) -> None:
        if response.compact_revision:
            self.close()
            raise Lagged(f"etcd's history begins at revision {response.compact_revision}")
        await self._break(response.cancel_reason or "the watch was cancelled")

    def _take(self, response: rpc_pb2.WatchResponse) -> Sequence[Event]:
        """The events of objects; progress is what came last, or what a notification without events tells."""
        events = response.events
        if events:
            self._progress = events[-1].kv.mod_revision
        elif response.watch_id >= 0:
            self._progress = max(self._progress, response.header.revision)
        return [event for each in events if (event := self._event(each)) is not None]

    def _event(self, event: kv_pb2.Event) -> Event | None:
        kv = event.kv
        key = self._layout.key(kv.key)
        if not key:
            return None
        if event.type:  # 1: deleted
            self._values.forget(key)
            return Event(key, kv.mod_revision, None, None)
        value = self._values.open(key, kv.value, kv.key)
        record = Record(key, reveal(value, kv.mod_revision), kv.mod_revision, kv.create_revision, self._selection(value))
        return Event(key, kv.mod_revision, record, None)


def _is_cancelled() -> bool:
    """Whether it is the running task that was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
