"""How long ago each node was last heard of, by this process's own clock. Pure but for what it remembers.

Times that nodes write are never compared with ours: a heartbeat is that *something changed* — the heartbeat time of condition
Ready, or the lease's renewTime — since we last looked. So clocks may differ, and a restarted controller gives every node a full
grace period. As `tryUpdateNodeHealth`.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from setpoint.api.types.coordination_v1 import Lease
from setpoint.api.types.core_v1 import Node, NodeCondition
from setpoint.kit.clock import parse_rfc3339

READY = "Ready"


class Seen(Struct):
    """A node as it was last looked at: its condition Ready, the lease's renewTime, and when it was last heard of."""

    node: Node
    ready: NodeCondition | None
    renewed: str
    heard: float


class Health:
    """What was seen of each node, by name."""

    def __init__(self) -> None:
        self._known: dict[str, Seen] = {}

    def look(self, node: Node, lease: Lease | None, now: float) -> Seen:
        """Take in a look at a node."""
        renewed = (lease.spec.renew_time or "") if lease is not None else ""
        known = self._known.get(node.metadata.name)
        if known is None:
            ready = condition(node, READY)
            created = parse_rfc3339(node.metadata.creation_timestamp) if node.metadata.creation_timestamp else now
            known = Seen(node, ready, renewed, created if ready is None else now)
            self._known[node.metadata.name] = known
            return known
        if node is not known.node:  # a node is written once in many looks
            ready = condition(node, READY)
            if _heartbeat(ready) != _heartbeat(known.ready):
                known.heard = now
            known.node, known.ready = node, ready
        if renewed > known.renewed:
            known.heard, known.renewed = now, renewed
        return known

    def ready(self, node: Node) -> NodeCondition | None:
        """The condition Ready of a node; that of one in the state in which it was last looked at is at hand."""
        known = self._known.get(node.metadata.name)
        return known.ready if known is not None and known.node is node else condition(node, READY)

    def forgive(self, now: float) -> None:
        """Count every node as heard of now: it was this side that heard nothing."""
        for known in self._known.values():
            known.heard = now

    def forget(self, present: Collection[str]) -> list[Node]:
        """Drop all nodes but `present`; gives them as they were last looked at."""
        gone = [name for name in self._known if name not in present]
        return [self._known.pop(name).node for name in gone]

    def knows(self, name: str) -> bool:
        return name in self._known


def _heartbeat(ready: NodeCondition | None) -> str | None:
    return None if ready is None else ready.last_heartbeat_time or ""


def condition(node: Node, kind: str) -> NodeCondition | None:
    for each in node.status.conditions:  # asked for of all nodes again and again: a generator would cost twice as much
        if each.type == kind:
            return each
    return None


def ready_status(node: Node) -> str:
    """True, False or Unknown; a node that never said is Unknown."""
    return status_of(condition(node, READY))


def status_of(ready: NodeCondition | None) -> str:
    return ready.status if ready is not None else "Unknown"
