"""Classification and the door, through the pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.user import ADMIN, ANONYMOUS, UserInfo
from setpoint.apiserver.flow_control import widths
from setpoint.apiserver.flow_control.debug import Dumps
from setpoint.apiserver.flow_control.following import FlowControlObjects
from setpoint.apiserver.flow_control.levels import Level
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import parse
from setpoint.app import first_objects
from setpoint.kit.clock import VirtualClock
from setpoint.registry.table import RESOURCES
from setpoint.storage.backends.memory import memory_store

CONFIGMAPS = "/api/v1/namespaces/d/configmaps"
FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"


def user(name: str, *groups: str) -> UserInfo:
    return UserInfo(name, groups=(*groups, "system:authenticated"))


class Api:
    def __init__(self, pipeline: Pipeline, clock: VirtualClock) -> None:
        self.pipeline = pipeline
        self.clock = clock
        self.control = pipeline.flow_control

    async def __call__(self, line: str, body: Any = None, who: UserInfo = ADMIN, query: Any = None) -> Response:
        method, path = line.split(" ")
        headers = {"user-agent": "t/1"} | ({"content-type": "application/merge-patch+json"} if method == "PATCH" else {})
        content = b"" if body is None else orjson.dumps(body)
        return await self.pipeline.handle(Request(method, path, query or {}, headers, content, who))

    def flow(self, line: str, who: UserInfo) -> tuple[str, str]:
        """The schema and distinguisher of a request."""
        method, path = line.split(" ")
        request = Request(method, path, user=who)
        info = parse(request)
        entered = self.control.enter(request, info)
        if entered is not None:
            entered.leave()
        return (info.flow.schema.name, info.flow.distinguisher) if info.flow is not None else ("", "")


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = Pipeline(RESOURCES, store, clock, schemas=trees.load())
    made = Api(pipeline, clock)
    for plural, bodies in (
        ("prioritylevelconfigurations", first_objects.priority_levels()),
        ("flowschemas", first_objects.flow_schemas()),
    ):
        for body in bodies:
            assert (await made(f"POST {FLOW}/{plural}", body)).status == 201
    following = FlowControlObjects(pipeline.flow_control, store, clock)
    await following.load()
    task = asyncio.ensure_future(following.run())
    await clock.idle()
    yield made
    task.cancel()
    await store.close()


def fill(level: Level, seats: int) -> None:
    for _ in range(seats):
        level.take(1)


@pytest.mark.parametrize(
    ("line", "who", "expected"),
    [
        ("GET /api/v1/pods", ADMIN, ("exempt", "")),
        ("GET /healthz", ANONYMOUS, ("probes", "")),
        ("GET /healthz/etcd", ANONYMOUS, ("global-default", "system:anonymous")),
        ("GET /api/v1/pods", ANONYMOUS, ("global-default", "system:anonymous")),
        ("GET /api/v1/pods", user("ann"), ("global-default", "ann")),
        ("GET /api/v1/namespaces/x/pods/p/log", user("ann"), ("", "")),
        (
            "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n",
            user("system:node:n", "system:nodes"),
            ("system-node-high", "system:node:n"),
        ),
        ("PATCH /api/v1/nodes/n/status", user("system:node:n", "system:nodes"), ("system-node-high", "system:node:n")),
        ("GET /api/v1/pods", user("system:node:n", "system:nodes"), ("system-nodes", "system:node:n")),
        (
            "PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/k",
            user("system:kube-scheduler"),
            ("system-leader-election", "system:kube-scheduler"),
        ),
        ("GET /api/v1/namespaces/x/pods", user("system:kube-scheduler"), ("kube-scheduler", "x")),
        (
            "GET /api/v1/namespaces/x/pods",
            user("system:serviceaccount:kube-system:a", "system:serviceaccounts"),
            ("kube-system-service-accounts", "x"),
        ),
        (
            "GET /api/v1/namespaces/x/pods",
            user("system:serviceaccount:x:a", "system:serviceaccounts"),
            ("service-accounts", "system:serviceaccount:x:a"),
        ),
        ("GET /api/v1/pods", UserInfo("odd"), ("catch-all", "odd")),
    ],
)
async def test_requests_belong_to_the_schemas_that_kubernetes_puts_them_to(
    api: Api, line: str, who: UserInfo, expected: tuple[str, str]
) -> None:
    assert api.flow(line, who) == expected


async def test_answers_tell_schema_and_level_by_uid(api: Api) -> None:
    uids = {}
    for plural in ("flowschemas", "prioritylevelconfigurations"):
        answer = orjson.loads((await api(f"GET {FLOW}/{plural}/global-default")).body or b"")
        uids[plural] = answer["metadata"]["uid"]
    for line in (f"GET {CONFIGMAPS}", f"GET {CONFIGMAPS}/absent", "GET /version"):
        headers = (await api(line, who=user("ann"))).headers
        assert headers["X-Kubernetes-Pf-Flowschema-Uid"] == uids["flowschemas"]
        assert headers["X-Kubernetes-Pf-Prioritylevel-Uid"] == uids["prioritylevelconfigurations"]


async def test_seats_follow_the_shares(api: Api) -> None:
    assert {name: level.limit for name, level in api.control.levels.items()} == {
        "exempt": 0,
        "catch-all": 13,
        "global-default": 49,
        "leader-election": 25,
        "node-high": 98,
        "system": 74,
        "workload-high": 98,
        "workload-low": 245,
    }


async def test_a_full_level_makes_wait_then_refuses_and_leaves_others_alone(api: Api) -> None:
    level = api.control.levels["global-default"]
    level.bounds = level.bounds.__class__(0, 0, 0)
    api.control._adjusted = api.clock.monotonic()
    fill(level, level.limit)
    calls = [asyncio.ensure_future(api(f"GET {CONFIGMAPS}/a", who=user("ann"))) for _ in range(400)]
    await api.clock.idle()
    refused = [call.result() for call in calls if call.done()]
    assert len(refused) == 100  # six queues of fifty are all that one user may fill
    assert {answer.status for answer in refused} == {429}
    assert refused[0].body == b"Too many requests, please try again later.\n"
    assert refused[0].headers["Retry-After"] == "1"
    assert refused[0].headers["Content-Type"].startswith("text/plain")
    other = asyncio.ensure_future(api(f"GET {CONFIGMAPS}/a", who=user("bob")))
    assert (await api(f"GET {CONFIGMAPS}/a")).status == 404
    assert (await api("GET /healthz", who=ANONYMOUS)).status == 200
    node = user("system:node:n", "system:nodes")
    assert (await api("GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n", who=node)).status == 404
    await api.clock.idle()
    assert not other.done()
    for _ in range(2):
        level.done(1, api.clock.monotonic())
    await api.clock.idle()
    assert other.result().status == 404
    assert all(call.done() for call in calls)
    assert level.waiting == 0


async def test_who_waits_too_long_is_refused(api: Api) -> None:
    level = api.control.levels["global-default"]
    api.control._adjusted = api.clock.monotonic() + 100
    fill(level, level.limit)
    call = asyncio.ensure_future(api(f"GET {CONFIGMAPS}/a", who=user("ann")))
    await api.clock.advance(14)
    assert not call.done()
    page = (await Dumps(api.control, api.clock).handle(Request("GET", "/debug/api_priority_and_fairness/dump_requests"))).body
    assert page is not None
    assert b"global-default,    global-default," in page
    await api.clock.advance(2)
    assert call.result().status == 429
    assert level.idle is False
    assert level.waiting == 0


async def test_a_cancelled_request_leaves_its_queue(api: Api) -> None:
    level = api.control.levels["global-default"]
    api.control._adjusted = api.clock.monotonic() + 100
    fill(level, level.limit)
    call = asyncio.ensure_future(api(f"GET {CONFIGMAPS}/a", who=user("ann")))
    await api.clock.idle()
    assert level.waiting == 1
    call.cancel()
    await api.clock.idle()
    assert (level.waiting, level.seats) == (0, level.limit)


async def test_a_level_short_of_seats_borrows_what_others_do_not_need(api: Api) -> None:
    level = api.control.levels["global-default"]
    await api.clock.advance(11)
    fill(level, level.limit)
    assert (await api(f"GET {CONFIGMAPS}/a", who=user("ann"))).status == 404
    assert level.limit > level.bounds.nominal
    assert sum(each.limit for each in api.control.levels.values()) == pytest.approx(602, abs=4)


async def test_watches_hold_no_seat_and_are_counted_for_writes(api: Api) -> None:
    level = api.control.levels["global-default"]
    streams = [await api(f"GET {CONFIGMAPS}", who=user("ann"), query={"watch": ["1"]}) for _ in range(25)]
    assert (level.seats, level.executing) == (0, 0)
    watchers = api.control.watching.of("", "configmaps")
    assert (watchers.total, watchers.of("d"), watchers.of("other")) == (25, 25, 0)
    assert (await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}}, who=user("ann"))).status == 201
    assert level.seats == 3  # for five milliseconds more
    await asyncio.sleep(0.02)
    assert level.seats == 0
    for response in streams:
        assert response.stream is not None
        await response.stream.aclose()  # type: ignore[attr-defined]  # a generator
    assert watchers.total == 0


async def test_lists_are_as_wide_as_what_they_hold(api: Api) -> None:
    for number in range(30):
        await api(f"POST {CONFIGMAPS}", {"metadata": {"name": f"c{number}"}, "data": {"x": "y" * 20_000}})
    request = Request("GET", CONFIGMAPS, user=user("ann"))
    info = parse(request)
    assert api.control.enter(request, info) is None
    ticket = await api.control.admit(request, info)
    assert api.control.levels["global-default"].seats == 7
    ticket.leave()
    assert api.control.levels["global-default"].seats == 0
    assert widths.of_list({"limit": ["5"]}, 30, 20_000, 8) == 1
    assert widths.of_list({}, 3000, 20_000, 8) == 8
    assert widths.of_list({}, 3000, 20_000, 80) == 10


async def test_changes_of_objects_take_effect(api: Api) -> None:
    spec = {
        "priorityLevelConfiguration": {"name": "mine"},
        "matchingPrecedence": 200,
        "distinguisherMethod": {"type": "ByNamespace"},
        "rules": [
            {
                "subjects": [{"kind": "User", "user": {"name": "ann"}}],
                "resourceRules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["x"]}],
            }
        ],
    }
    await api(f"POST {FLOW}/flowschemas", {"metadata": {"name": "mine"}, "spec": spec})
    await api.clock.idle()
    assert api.flow("GET /api/v1/namespaces/x/pods", user("ann")) == ("global-default", "ann")  # its level is not there
    limited = {"nominalConcurrencyShares": 55, "limitResponse": {"type": "Reject"}}
    body = {"metadata": {"name": "mine"}, "spec": {"type": "Limited", "limited": limited}}
    await api(f"POST {FLOW}/prioritylevelconfigurations", body)
    await api.clock.idle()
    assert api.flow("GET /api/v1/namespaces/x/pods", user("ann")) == ("mine", "x")
    assert api.flow("GET /api/v1/namespaces/y/pods", user("ann")) == ("global-default", "ann")
    assert api.flow("GET /api/v1/pods", user("ann")) == ("global-default", "ann")
    assert api.control.levels["mine"].limit == 110
    await api(f"DELETE {FLOW}/prioritylevelconfigurations/mine")
    await api.clock.idle()
    assert "mine" not in api.control.levels
    assert api.flow("GET /api/v1/namespaces/x/pods", user("ann")) == ("global-default", "ann")


async def test_what_is_mandatory_rules_without_objects(api: Api) -> None:
    for plural in ("flowschemas", "prioritylevelconfigurations"):
        await api(f"DELETE {FLOW}/{plural}")
    await api.clock.idle()
    assert api.flow("GET /api/v1/pods", ADMIN) == ("exempt", "")
    assert api.flow("GET /api/v1/pods", user("ann")) == ("catch-all", "ann")
    assert (await api(f"GET {CONFIGMAPS}", who=user("ann"))).status == 200


async def test_pages_of_levels_and_queues(api: Api) -> None:
    pages = Dumps(api.control, api.clock)
    answer = await pages.handle(Request("GET", "/debug/api_priority_and_fairness/dump_priority_levels"))
    lines = (answer.body or b"").decode().splitlines()
    assert lines[0].split()[:3] == ["PriorityLevelName,", "ActiveQueues,", "IsIdle,"]
    assert ["workload-low,", "0,", "true,", "false,", "0,", "0"] in [line.split() for line in lines]
    answer = await pages.handle(Request("GET", "/debug/api_priority_and_fairness/dump_queues"))
    assert len((answer.body or b"").splitlines()) == 1 + 128 * 3 + 64 * 2 + 16
    assert (await pages.handle(Request("GET", "/debug/api_priority_and_fairness/other"))).status == 404


async def test_what_strangers_write_into_a_path_is_not_kept(api: Api) -> None:
    before = len(api.control._flows)
    for line in (
        f"GET /{'a' * 5_000}",
        f"POST /api/v1/namespaces/{'n' * 5_000}/configmaps",
        f"GET /api/v1/nodes/{'n' * 5000}/proxy",
    ):
        api.flow(line, ANONYMOUS)
        api.flow(line.replace("nodes", "x" * 5_000), ANONYMOUS)
    assert len(api.control._flows) - before <= 1
    assert len(api.control.watching._resources) < 50
