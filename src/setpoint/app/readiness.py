"""When a cluster is ready: every node it was started with says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection

from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError


async def until_nodes_ready(
    client: ClientProtocol, names: Collection[str], seconds: float, give_up: Callable[[], bool] = lambda: False
) -> bool:
    """Wait until all of `names` are Ready, `seconds` at the most; tell whether they are."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not give_up():
        try:
            nodes = (await client.list(NODES)).items if names else ()
        except TransportError:
            nodes = ()
        if {node.metadata.name for node in nodes if is_ready(node)} >= set(names):
            return True
        await asyncio.sleep(0.02)
    return False


def is_ready(node: Node) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)
