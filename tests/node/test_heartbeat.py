"""What the API says of the node is set right by the next beat."""

from __future__ import annotations

import asyncio
import time

from tests.node.conftest import NODE, Rig

from setpoint.api.types.core_v1 import NODES, Node


def ready(node: Node) -> str:
    return next(condition.status for condition in node.status.conditions if condition.type == "Ready")


async def test_a_node_that_was_called_unknown_says_that_it_is_ready(rig: Rig) -> None:
    await rig.start_agent(heartbeat_period=0.1)
    unknown = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
    await rig.admin.patch(NODES, NODE, {"status": {"conditions": unknown}}, kind="strategic", subresource="status")
    until = time.monotonic() + 5
    while ready(await rig.admin.get(NODES, NODE)) != "True":
        assert time.monotonic() < until
        await asyncio.sleep(0.02)
