"""Extenders: what they are asked, and what their answers do. The server is a real one, on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from setpoint.scheduler.board import Budget
from setpoint.scheduler.config import ExtenderConfig, ManagedResource
from setpoint.scheduler.cycle import NoFit
from setpoint.scheduler.extender import Extender, ExtenderError, run_extended
from setpoint.scheduler.pods import PodInfo
from setpoint.testing.scheduling import Rig, node, pod


class Server:
    """Answers as told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, Any]] = []
        self.answers: dict[str, Any] = {}
        self.status = 200

    async def handle(self, request: web.Request) -> web.Response:
        verb = request.path.strip("/")
        self.asked.append((verb, await request.json()))
        return web.json_response(self.answers.get(verb), status=self.status)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found = Server()
    app = web.Application()
    app.router.add_post("/{verb}", found.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = str(site.name) if ":0" not in str(site.name) else f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


def extender(server: Server, **more: Any) -> Extender:
    return Extender(ExtenderConfig(server.url, **more))


async def schedule(rig: Rig, *extenders: Extender) -> str:
    return (await run_extended(rig.cycle, PodInfo(pod()), extenders, Budget(1 << 60))).node


@pytest.fixture
def nodes(rig: Rig) -> Rig:
    rig.nodes(node("a"), node("b"), node("c"))
    return rig


async def test_names_are_filtered(server: Server, nodes: Rig) -> None:
    server.answers["filter"] = {"nodenames": ["b"], "failedNodes": {"a": "too hot", "c": "too cold"}}
    assert await schedule(nodes, extender(server, filter_verb="filter", node_cache_capable=True)) == "b"
    [(_, asked)] = server.asked
    assert sorted(asked["nodenames"]) == ["a", "b", "c"]
    assert asked["pod"]["metadata"]["name"] == "p"


async def test_whole_nodes_are_filtered(server: Server, nodes: Rig) -> None:
    server.answers["filter"] = {"nodes": {"items": [{"metadata": {"name": "c"}}]}}
    assert await schedule(nodes, extender(server, filter_verb="filter")) == "c"
    [(_, asked)] = server.asked
    assert asked["nodes"]["items"][0]["status"]["allocatable"]["cpu"] == "4"


async def test_its_reasons_are_the_pods(server: Server, nodes: Rig) -> None:
    nodes.nodes(node("d", unschedulable=True))
    server.answers["filter"] = {"nodenames": [], "failedNodes": {"a": "too hot", "c": "too hot"}}
    with pytest.raises(NoFit) as refusal:
        await schedule(nodes, extender(server, filter_verb="filter", node_cache_capable=True))
    assert str(refusal.value).startswith("0/4 nodes are available: 1 node(s) were unschedulable, 2 too hot.")
    assert refusal.value.diagnosis.plugins == {"NodeUnschedulable", "Extender"}


async def test_scores_are_added(server: Server, nodes: Rig) -> None:
    server.answers["rate"] = [{"host": "b", "score": 1}, {"host": "c", "score": 10}]
    assert await schedule(nodes, extender(server, prioritize_verb="rate", weight=5)) == "c"


async def test_one_that_fails_stops_the_pod_unless_it_may(server: Server, nodes: Rig) -> None:
    server.status = 500
    with pytest.raises(ExtenderError, match="code 500"):
        await schedule(nodes, extender(server, filter_verb="filter"))
    assert await schedule(nodes, extender(server, filter_verb="filter", ignorable=True)) in "abc"
    server.status, server.answers["filter"] = 200, {"error": "no idea"}
    with pytest.raises(ExtenderError, match="no idea"):
        await schedule(nodes, extender(server, filter_verb="filter"))


async def test_binding(server: Server) -> None:
    binds = extender(server, bind_verb="bind")
    server.answers["bind"] = {"error": ""}
    wanted = pod()
    assert await binds.bind(wanted, "a") is None
    assert server.asked[0][1] == {
        "podName": "p",
        "podNamespace": "d",
        "podUID": wanted.metadata.uid,
        "node": "a",
    }
    server.answers["bind"] = {"error": "no"}
    status = await binds.bind(wanted, "a")
    assert status is not None
    assert status.message == "no"


def test_it_wants_only_pods_with_its_resources() -> None:
    picky = Extender(ExtenderConfig("http://localhost", managed_resources=(ManagedResource("example.com/gpu"),)))
    assert not picky.wants(pod())
    resources = {"limits": {"example.com/gpu": "1"}}
    assert picky.wants(pod(containers=[{"name": "c", "image": "x", "resources": resources}]))
