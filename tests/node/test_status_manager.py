from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.client.client import ClientProtocol
from setpoint.kit.clock import VirtualClock
from setpoint.node.status_manager import StatusManager

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def pod(version: int, ready: str) -> Pod:
    metadata = {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": str(version)}
    others = {"type": "example.com/other", "status": "True"}
    return convert({"metadata": metadata, "status": {"conditions": [{"type": "Ready", "status": ready}, others]}}, Pod)


class Server:
    """Takes patches; the version grows with each."""

    def __init__(self) -> None:
        self.patches: list[Mapping[str, Any]] = []

    async def patch(self, _: Any, __: str, body: Mapping[str, Any], *_more: Any, **__more: Any) -> Pod:
        self.patches.append(body["status"])
        return pod(10 * len(self.patches), "True")


@pytest.fixture
async def server() -> AsyncIterator[tuple[Server, StatusManager, VirtualClock]]:
    made, clock = Server(), VirtualClock()
    manager = StatusManager(cast("ClientProtocol", made), clock)
    running = asyncio.ensure_future(manager.run())
    manager.set("u", "ns", "p", READY)
    await clock.advance(1)
    yield made, manager, clock
    running.cancel()
    await asyncio.wait([running])


async def test_what_another_makes_of_the_nodes_conditions_is_told_again(
    server: tuple[Server, StatusManager, VirtualClock],
) -> None:
    made, manager, clock = server
    manager.seen(pod(11, "False"))
    await clock.advance(1)
    assert made.patches == [READY, READY]


async def test_echoes_and_other_conditions_are_left_alone(server: tuple[Server, StatusManager, VirtualClock]) -> None:
    made, manager, clock = server
    manager.seen(pod(9, "False"))
    manager.seen(pod(12, "True"))
    await clock.advance(1)
    assert made.patches == [READY]
