from __future__ import annotations

import asyncio
from typing import Any, cast

from setpoint.api.machinery import status
from setpoint.api.types.core_v1 import Node, Pod
from setpoint.api.types.meta_v1 import ObjectMeta
from setpoint.client.client import ClientProtocol
from setpoint.client.events import CAPACITY, Recorder
from setpoint.client.transport import TransportError
from setpoint.kit.clock import VirtualClock

POD = Pod(metadata=ObjectMeta(name="web", namespace="ns", uid="u1", resource_version="7"))


class Sink:
    """Keeps what is written; raises the next of `errors` first."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.written: list[tuple[str, str, Any]] = []

    async def create(self, _resource: Any, body: Any, namespace: str = "", **_: Any) -> Any:
        if self.errors:
            raise self.errors.pop(0)
        self.written.append(("create", namespace, body))

    async def patch(self, _resource: Any, name: str, patch: Any, _namespace: str = "", **_: Any) -> Any:
        if self.errors:
            raise self.errors.pop(0)
        self.written.append(("patch", name, patch))


def recorder(sink: Sink, clock: VirtualClock, **options: Any) -> Recorder:
    return Recorder(cast("ClientProtocol", sink), "tester", clock, **options)


async def test_an_event_is_written_as_kubernetes_writes_it() -> None:
    sink, clock = Sink(), VirtualClock(1_900_000_000)
    events = recorder(sink, clock, host="n1")
    events.event(POD, "Normal", "Started", "Started container", field_path="spec.containers{web}")
    running = asyncio.ensure_future(events.run())
    await clock.idle()
    ((_, namespace, event),) = sink.written
    assert namespace == "ns"
    assert event["metadata"]["name"].startswith("web.1a5e")
    assert event["involvedObject"] == {
        "kind": "Pod",
        "namespace": "ns",
        "name": "web",
        "uid": "u1",
        "apiVersion": "v1",
        "resourceVersion": "7",
        "fieldPath": "spec.containers{web}",
    }
    assert event["source"] == {"component": "tester", "host": "n1"}
    assert (event["count"], event["firstTimestamp"]) == (1, "2030-03-17T17:46:40Z")
    assert events.activity().settled
    running.cancel()


async def test_events_about_nodes_are_in_default_and_series_have_microseconds() -> None:
    sink, clock = Sink(), VirtualClock(1_900_000_000)
    events = recorder(sink, clock, series=True)
    events.event(Node(metadata=ObjectMeta(name="n1")), "Normal", "Ready", "m", action="Watch", related=POD)
    running = asyncio.ensure_future(events.run())
    await clock.idle()
    ((_, namespace, event),) = sink.written
    assert namespace == "default"
    assert event["eventTime"] == "2030-03-17T17:46:40.000000Z"
    assert (event["action"], event["related"]["name"], "source" in event) == ("Watch", "web", False)
    running.cancel()


async def test_a_server_that_is_away_is_tried_again_and_a_refusal_is_not() -> None:
    sink, clock = Sink(TransportError("away"), status.bad_request("no")), VirtualClock()
    events = recorder(sink, clock)
    events.event(POD, "Normal", "A", "one")
    events.event(POD, "Normal", "B", "two")
    running = asyncio.ensure_future(events.run())
    await clock.advance(10)
    assert [body["reason"] for _, _, body in sink.written] == ["B"]
    running.cancel()


async def test_a_counted_event_that_is_gone_is_created_anew() -> None:
    sink, clock = Sink(), VirtualClock()
    events = recorder(sink, clock)
    running = asyncio.ensure_future(events.run())
    events.event(POD, "Normal", "A", "one")
    await clock.idle()
    sink.errors = [status.not_found("", "events", "x")]
    events.event(POD, "Normal", "A", "one")
    await clock.idle()
    assert [(kind, body["count"]) for kind, _, body in sink.written] == [("create", 1), ("create", 2)]
    running.cancel()


async def test_a_full_queue_drops_and_never_blocks() -> None:
    events = recorder(Sink(), VirtualClock())
    for number in range(CAPACITY + 50):
        events.event(POD, "Normal", "A", str(number))
    assert events.activity().queued == CAPACITY
