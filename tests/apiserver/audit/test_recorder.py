from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import orjson
import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.status import forbidden_object, unauthorized
from setpoint.api.machinery.user import ADMIN, ANONYMOUS, UserInfo
from setpoint.apiserver import answers
from setpoint.apiserver.audit.event import Event
from setpoint.apiserver.audit.lines import lines
from setpoint.apiserver.audit.policy import Policy
from setpoint.apiserver.audit.recorder import Recorder
from setpoint.apiserver.authorization.decision import Decision, Rules
from setpoint.apiserver.call import Call
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response, json_response
from setpoint.apiserver.routing import RequestInfo, parse
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store

CONFIGMAPS = "/api/v1/namespaces/d/configmaps"
SECRETS = "/api/v1/namespaces/d/secrets"


class Door:
    """Lets in who has proved an identity, and says why."""

    async def authorize(self, request: Request, info: RequestInfo) -> None:
        info.decision = await self.decide(request.user, info)
        if not info.decision.allowed:
            raise forbidden_object("", info.resource, info.name, "no rule")

    async def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        allowed = "system:authenticated" in user.groups
        return Decision(allowed, "by some rule" if allowed else "by none")

    def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


class Rig:
    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.lines: list[bytes] = []  # without those of requests that are still under way
        self._recorder: Recorder | None = None

    def put(self, event: Event) -> None:
        sent = msgspec.msgpack.encode(event)
        found = b"".join(lines([msgspec.msgpack.decode(sent, type=Event)])).splitlines(keepends=True)
        assert len(found) == (2 if event.comes else 1)
        self.lines += found

    def record(self, *rules: dict[str, Any], **policy: Any) -> Rig:
        recorder = Recorder(Policy({"rules": rules, **policy}), self, self.pipeline.clock, lambda _, __: None)
        self.pipeline.audit = self._recorder = recorder
        return self

    def events(self) -> list[dict[str, Any]]:
        if self._recorder is not None:
            self._recorder.flush()
        found = [orjson.loads(line) for line in self.lines]
        self.lines.clear()
        return found

    async def __call__(self, line: str, body: Any = None, user: UserInfo = ADMIN, **headers: str) -> Response:
        method, target = line.split(" ")
        path, _, query = target.partition("?")
        content = b"" if body is None else body if isinstance(body, bytes) else orjson.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(
            method,
            path,
            {name: [value] for name, _, value in (each.partition("=") for each in query.split("&") if each)},
            {"user-agent": "t/1"} | named,
            content,
            user,
            target=target,
            peer="192.0.2.7",
            identity=named.get("audit-id", ""),
        )
        return await self.pipeline.handle(request)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    yield Rig(Pipeline(RESOURCES, store, clock, schemas=trees.load(), authorizer=Door()))
    await store.close()


async def test_an_event_has_kubernetes_shape(rig: Rig) -> None:
    rig.record({"level": "Metadata"}, omitStages=["RequestReceived"])
    await rig(f"POST {CONFIGMAPS}?fieldManager=m", {"metadata": {"name": "a"}}, audit_id="mine")
    [line] = rig.lines
    [event] = rig.events()
    received, stamped = event["requestReceivedTimestamp"], event["stageTimestamp"]
    assert event == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "mine",
        "stage": "ResponseComplete",
        "requestURI": f"{CONFIGMAPS}?fieldManager=m",
        "verb": "create",
        "user": {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["192.0.2.7"],
        "userAgent": "t/1",
        "objectRef": {"resource": "configmaps", "namespace": "d", "apiVersion": "v1", "name": "a"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestReceivedTimestamp": received,
        "stageTimestamp": stamped,
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "by some rule"},
    }
    assert received.endswith(".000000Z")
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1


async def test_every_request_has_an_identity_of_its_own(rig: Rig) -> None:
    rig.record({"level": "Metadata"})
    for _ in range(2):
        await rig(f"GET {CONFIGMAPS}")
    events = rig.events()
    assert [event["stage"] for event in events] == ["RequestReceived", "ResponseComplete"] * 2
    assert [event["auditID"] == events[0]["auditID"] for event in events] == [True, True, False, False]


async def test_bodies_are_recorded_as_the_policy_says(rig: Rig) -> None:
    rig.record(
        {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets"]}]},
        {"level": "Request", "verbs": ["patch", "delete"]},
        {"level": "RequestResponse"},
        omitStages=["RequestReceived"],
    )
    secret = {"metadata": {"name": "s"}, "stringData": {"password": "hunter2"}}
    await rig(f"POST {SECRETS}", secret)
    assert b"hunter2" not in b"".join(rig.lines)
    assert rig.events()[0]["objectRef"]["name"] == "s"
    await rig(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}, "data": {"x": "y"}})
    [event] = rig.events()
    assert event["requestObject"] == {"metadata": {"name": "a"}, "data": {"x": "y"}}
    assert event["responseObject"]["metadata"]["uid"]
    assert event["responseObject"]["metadata"]["managedFields"]
    await rig(f"PATCH {CONFIGMAPS}/a", {"data": {"x": "z"}}, content_type="application/merge-patch+json")
    [event] = rig.events()
    assert event["requestObject"] == {"data": {"x": "z"}}
    assert "responseObject" not in event
    await rig(f"DELETE {CONFIGMAPS}/a")
    [event] = rig.events()
    assert event["responseStatus"]["status"] == "Success"
    assert event["responseStatus"]["details"]["name"] == "a"


async def test_what_is_passed_on_to_pods_is_not_recorded(rig: Rig) -> None:
    rig.record({"level": "RequestResponse"}, omitStages=["RequestReceived"])

    async def pod(_: Call) -> Response:
        return json_response({"kind": "Secret", "data": {"a": "eHl6"}})

    rig.pipeline.subresource("pods/proxy", pod)
    await rig("POST /api/v1/namespaces/d/pods/p/proxy/login", {"metadata": {"uid": "u"}, "password": "xyz"})
    events = rig.events()
    assert [event["stage"] for event in events] == ["ResponseStarted", "ResponseComplete"]
    reference = {"resource": "pods", "namespace": "d", "name": "p", "apiVersion": "v1", "subresource": "proxy"}
    assert [event["objectRef"] for event in events] == [reference] * 2
    assert b"xyz" not in b"".join(rig.lines)
    assert b"eHl6" not in b"".join(rig.lines)


async def test_field_managers_can_be_left_out(rig: Rig) -> None:
    rig.record({"level": "RequestResponse"}, omitStages=["RequestReceived"], omitManagedFields=True)
    for _ in range(2):
        await rig(f"POST {CONFIGMAPS}", {"metadata": {"generateName": "a-"}, "data": {"x": "y"}})
    answer = await rig(f"GET {CONFIGMAPS}")
    assert b"managedFields" in (answer.body or b"")
    assert b"managedFields" not in b"".join(rig.lines)
    await rig(f"GET {CONFIGMAPS}", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert b"managedFields" not in b"".join(rig.lines)


async def test_refusals_say_why(rig: Rig) -> None:
    rig.record({"level": "Metadata"}, omitStages=["RequestReceived"])
    await rig(f"GET {CONFIGMAPS}/absent")
    [event] = rig.events()
    assert event["responseStatus"] == {
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "absent" not found',
        "reason": "NotFound",
        "details": {"name": "absent", "kind": "configmaps"},
        "code": 404,
    }
    await rig(f"GET {CONFIGMAPS}", user=ANONYMOUS)
    [event] = rig.events()
    assert event["responseStatus"]["reason"] == "Forbidden"
    assert event["annotations"] == {"authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "by none"}
    assert event["user"] == {"username": "system:anonymous", "groups": ["system:unauthenticated"]}


async def test_a_watch_is_recorded_when_it_begins_and_when_it_ends(rig: Rig) -> None:
    rig.record({"level": "Metadata"})
    response = await rig(f"GET {CONFIGMAPS}?watch=1")
    assert [event["stage"] for event in rig.events()] == ["RequestReceived", "ResponseStarted"]
    assert response.stream is not None
    await response.stream.aclose()  # type: ignore[attr-defined]  # a generator
    assert [event["stage"] for event in rig.events()] == ["ResponseComplete"]
    await response.stream.aclose()  # type: ignore[attr-defined]  # a generator
    assert rig.events() == []


async def test_lines_are_in_the_order_in_which_things_happened(rig: Rig) -> None:
    rig.record({"level": "Metadata"})
    watch = await rig(f"GET {CONFIGMAPS}?watch=1", audit_id="watch")
    await rig(f"GET {CONFIGMAPS}", audit_id="list")
    assert watch.stream is not None
    await watch.stream.aclose()  # type: ignore[attr-defined]  # a generator
    assert [(event["auditID"], event["stage"]) for event in rig.events()] == [
        ("watch", "RequestReceived"),
        ("watch", "ResponseStarted"),
        ("list", "RequestReceived"),
        ("list", "ResponseComplete"),
        ("watch", "ResponseComplete"),
    ]


async def test_an_unexpected_error_is_a_panic(rig: Rig) -> None:
    async def broken(_: Request) -> Response:
        raise RuntimeError("broken")

    rig.record({"level": "Metadata"}, omitStages=["RequestReceived"])
    rig.pipeline.mount("/broken", broken)
    answer = await rig("GET /broken")
    assert answer.status == 500
    assert b"broken" not in (answer.body or b"")
    [event] = rig.events()
    assert event["stage"] == "Panic"
    assert event["responseStatus"]["message"] == "APIServer panic'd: broken"
    assert "objectRef" not in event


async def test_who_is_impersonated_stands_beside_who_asks(rig: Rig) -> None:
    rig.record({"level": "Metadata"}, omitStages=["RequestReceived"])
    await rig(f"GET {CONFIGMAPS}", impersonate_user="ann")
    [event] = rig.events()
    assert event["user"]["username"] == "kubernetes-admin"
    assert event["impersonatedUser"]["username"] == "ann"


async def test_strangers_are_recorded(rig: Rig) -> None:
    rig.record({"level": "Metadata"})
    request = Request("GET", CONFIGMAPS, headers={"user-agent": "t/1"}, target=CONFIGMAPS, peer="192.0.2.7")
    response = answers.error_answer(request, unauthorized())
    assert isinstance(rig.pipeline.audit, Recorder)
    rig.pipeline.audit.refused(request, parse(request), response)
    [event] = rig.events()
    assert (event["stage"], event["user"], event["responseStatus"]["code"]) == ("ResponseComplete", {}, 401)
    assert event["responseStatus"]["message"] == "Authentication attempt failed"


async def test_a_request_under_way_is_told_of(rig: Rig) -> None:
    under_way, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Response:
        request.annotations["noted"] = "meanwhile"
        under_way.set()
        await goes_on.wait()
        return json_response({})

    rig.record({"level": "Metadata"})
    rig.pipeline.mount("/slow", slow)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(rig("GET /slow"))
        await under_way.wait()
        [event] = rig.events()
        assert event["stage"] == "RequestReceived"
        assert "annotations" not in event
        goes_on.set()
    [event] = rig.events()
    assert event["stage"] == "ResponseComplete"
    assert event["annotations"]["noted"] == "meanwhile"


async def test_what_is_not_recorded_is_served(rig: Rig) -> None:
    rig.record({"level": "None"})
    assert (await rig(f"GET {CONFIGMAPS}")).status == 200
    assert rig.events() == []


def test_the_pipeline_knows_nothing_of_audit_when_it_is_off(rig: Rig) -> None:
    assert rig.pipeline.audit is None
