"""The event recorder: what happened to an object, for people to read. It never blocks and never fails its caller.

Recording puts the event in a bounded queue (when full, it is dropped and counted); `run()` correlates and sends what is there. A
server that cannot be reached is tried again for two minutes per event; one that refuses an event loses it.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from typing import Any, Protocol

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.client.correlation import Correlator, CountCorrelator, Event, Send, SeriesCorrelator, timestamps
from setpoint.client.references import reference_to
from setpoint.client.settled import Activity
from setpoint.client.transport import TransportError
from setpoint.kit import logs, metrics
from setpoint.kit.clock import Clock

EVENTS: Resource[dict[str, Any]] = Resource("", "v1", "events", "Event", namespaced=True, type=dict)
CAPACITY = 1000
TRIES = 12
PAUSE = 10.0
log = logs.get_logger("client.events")
_DROPPED = metrics.counter("setpoint_events_dropped", "Events that found the recorder's queue full.", ("component",))


class EventRecorder(Protocol):
    """What components get; tests hand in a list-keeping one."""

    def event(  # the parts of an event
        self,
        obj: Any,
        kind: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        action: str = "",
        related: Any = None,
    ) -> None:
        """Record; `obj` is the Struct, JSON object or reference that it is about, `kind` is Normal or Warning."""


class Recorder:
    """The recorder of one component. `host` is the node's name on nodes; `series` chooses the newer events' form."""

    def __init__(self, client: ClientProtocol, component: str, clock: Clock, *, host: str = "", series: bool = False) -> None:
        self.name = f"events {component}"
        self._client = client
        self._component = component
        self._clock = clock
        self._host = host
        self._series = series
        self._correlator: Correlator = SeriesCorrelator() if series else CountCorrelator()
        self._queue: deque[Event] = deque()
        self._filled = asyncio.Event()
        self._sending = False
        self._stamp = 0

    def event(  # the parts of an event
        self,
        obj: Any,
        kind: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        action: str = "",
        related: Any = None,
    ) -> None:
        """Record; see EventRecorder."""
        if len(self._queue) >= CAPACITY:
            _DROPPED.labels(self._component).inc()
            return
        about = reference_to(obj, field_path)
        event: Event = {
            "metadata": {"name": f"{about['name']}.{self._suffix():x}", "namespace": about.get("namespace") or "default"},
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "type": kind,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
            **timestamps(self._clock.now(), series=self._series),
        }
        if self._series:
            event |= {"action": action or reason, "reportingInstance": self._host or self._component}
            if related is not None:
                event["related"] = reference_to(related)
        else:
            event["source"] = {"component": self._component, **({"host": self._host} if self._host else {})}
        self._queue.append(event)
        self._filled.set()

    def _suffix(self) -> int:
        """Nanoseconds, never twice the same for one recorder, nor as another's on a clock that stands still."""
        moment = int(self._clock.now() * 1_000_000) * 1000 + zlib.crc32(f"{self._component}/{self._host}".encode()) % 1000
        self._stamp = max(self._stamp + 1000, moment)
        return self._stamp

    async def run(self) -> None:
        """Send until cancelled; what is then in the queue is lost."""
        while True:
            await self._filled.wait()
            while self._queue:
                event = self._queue.popleft()
                self._sending = True
                try:
                    send = self._correlator.correlate(event, self._clock.now())
                    if send is not None:
                        await self._deliver(send)
                finally:
                    self._sending = False
            self._filled.clear()

    async def _deliver(self, send: Send) -> None:
        for _ in range(TRIES):
            try:
                await self._send(send)
                return
            except StatusError as error:
                log.debug("event refused", name=send.event["metadata"]["name"], error=error.message)
                return
            except TransportError:
                await self._clock.sleep(PAUSE)

    async def _send(self, send: Send) -> None:
        meta = send.event["metadata"]
        if send.patch is not None:
            try:
                await self._client.patch(EVENTS, meta["name"], send.patch, meta["namespace"], kind="strategic")
                return
            except StatusError as error:
                if error.code != 404:
                    raise
        await self._client.create(EVENTS, send.event, meta["namespace"])

    def activity(self) -> Activity:
        return Activity(len(self._queue), int(self._sending))
