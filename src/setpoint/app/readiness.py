"""When a cluster is ready: every node it was started with says so, and has said so since this start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import aclosing

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit.clock import parse_rfc3339

_LOOK_UP = 0.25  # seconds after which a silent watch gives way to the question whether to give up
_RETRY = 0.02


async def until_nodes_ready(
    client: ClientProtocol,
    names: Collection[str],
    since: float,
    seconds: float,
    give_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until all of `names` have been Ready at or after `since`, `seconds` at the most; tell whether they are."""
    deadline = time.monotonic() + seconds
    missing = set(names)
    while missing and time.monotonic() < deadline and not give_up():
        try:
            async with asyncio.timeout(_LOOK_UP):
                await _strike_out(client, missing, since)
        except TimeoutError:
            continue
        except (TransportError, StatusError):
            await asyncio.sleep(_RETRY)
    return not missing


async def _strike_out(client: ClientProtocol, missing: set[str], since: float) -> None:
    """Take the nodes that are ready out of `missing`, until none is left or the watch ends."""
    listed = await client.list(NODES)
    missing -= _ready(listed.items, since)
    if not missing:
        return
    async with aclosing(client.watch(NODES, resource_version=listed.resource_version)) as watch:
        async for events in watch:
            missing -= _ready((event.object for event in events if event.type in ("ADDED", "MODIFIED")), since)
            if not missing:
                return


def _ready(nodes: Iterable[Node], since: float) -> set[str]:
    return {node.metadata.name for node in nodes if is_ready(node, since)}


def is_ready(node: Node, since: float = 0.0) -> bool:
    """Whether the node is Ready; what an earlier life of it said (before `since`) does not count."""
    conditions = [each for each in node.status.conditions if each.type == "Ready" and each.status == "True"]
    return any(parse_rfc3339(each.last_heartbeat_time) >= int(since) for each in conditions)
