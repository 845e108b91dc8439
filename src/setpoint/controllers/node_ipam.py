"""A part of the pods' range for each node: `spec.podCIDRs`. Runs where the operator gives a range (--allocate-node-cidrs).

As the range allocator of `pkg/controller/nodeipam`: parts are taken in turn, a part is free again when its node is gone, and what
a node already has is its own. Parts that overlap the range of cluster addresses are never given.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.store import Store
from setpoint.controllers.component import Context

NAME = "node-ipam-controller"
RECORDER = "cidrAllocator"
_AGAIN = 30.0  # seconds until a node that found no part asks again

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Exhausted(Exception):
    """No part of a range is left."""


class Parts:
    """The parts of one range, as numbers; those that are taken, and where the next search begins."""

    def __init__(self, network: Network, mask: int, reserved: Iterable[Network] = ()) -> None:
        if not network.prefixlen <= mask <= network.max_prefixlen:
            raise ValueError(f"a range of /{network.prefixlen} has no parts of /{mask}")
        self._network = network
        self._mask = mask
        self._count = 1 << (mask - network.prefixlen)
        self._taken: set[int] = set()
        self._next = 0
        for each in reserved:
            self.occupy(each)

    def covers(self, part: Network) -> bool:
        return part.version == self._network.version and part.overlaps(self._network)

    def occupy(self, part: Network) -> None:
        """Note that somebody has it, or all parts that it overlaps."""
        self._taken.update(self._numbers(part))

    def release(self, part: Network) -> None:
        self._taken.difference_update(self._numbers(part))

    def allocate(self) -> Network:
        """The next free part, taken from now on. Raises Exhausted."""
        for offset in range(self._count):
            number = (self._next + offset) % self._count
            if number not in self._taken:
                self._taken.add(number)
                self._next = (number + 1) % self._count
                return self._part(number)
        raise Exhausted("CIDR allocation failed; there are no remaining CIDRs left to allocate in the accepted range")

    def _part(self, number: int) -> Network:
        first = int(self._network.network_address) + number * self._size
        return type(self._network)((first, self._mask))

    @property
    def _size(self) -> int:
        return 1 << (self._network.max_prefixlen - self._mask)

    def _numbers(self, part: Network) -> range:
        if not self.covers(part):
            return range(0)
        base = int(self._network.network_address)
        low = max(int(part.network_address) - base, 0) // self._size
        high = min((int(part.broadcast_address) - base) // self._size, self._count - 1)
        return range(low, high + 1)


class NodeIpamReconciler:
    """Keys are nodes. What a node has is known when it is first seen: ranges of nodes never change."""

    def __init__(self, client: ClientProtocol, nodes: Store[Node], ranges: list[Parts], recorder: EventRecorder) -> None:
        self._client = client
        self._nodes = nodes
        self._ranges = ranges
        self._recorder = recorder
        self._held: dict[str, list[Network]] = {}

    def observe(self, name: str) -> Node | None:
        node = self._nodes.get(name)
        if node is None:
            self._release(self._held.pop(name, []))
        elif node.spec.pod_cidrs and name not in self._held:
            self.occupy(node)
        return node

    def occupy(self, node: Node) -> None:
        """Note what a node has; before anything is given, for all nodes that there are."""
        held = [ipaddress.ip_network(text, strict=False) for text in node.spec.pod_cidrs]
        self._held[node.metadata.name] = held
        for part in held:
            for each in self._ranges:
                each.occupy(part)

    def _release(self, parts: Iterable[Network]) -> None:
        for part in parts:
            for each in self._ranges:
                each.release(part)

    def diff(self, node: Node) -> Node | None:
        return None if node.spec.pod_cidrs or node.metadata.deletion_timestamp else node

    async def act(self, plan: Node) -> Result | None:
        name = plan.metadata.name
        if name not in self._held:
            for node in self._nodes.list():
                if node.spec.pod_cidrs and node.metadata.name not in self._held:
                    self.occupy(node)
            try:
                self._held[name] = self._allocate()
            except Exhausted:
                self._recorder.event(plan, "Normal", "CIDRNotAvailable", f"Node {name} status is now: CIDRNotAvailable")
                return Result(_AGAIN)
        texts = [str(part) for part in self._held[name]]
        await self._client.patch(NODES, name, {"spec": {"podCIDR": texts[0], "podCIDRs": texts}})
        return None

    def _allocate(self) -> list[Network]:
        """One part of each range; all or none."""
        found: list[Network] = []
        try:
            for each in self._ranges:
                found.append(each.allocate())  # noqa: PERF401  what was taken must be given back
        except Exhausted:
            self._release(found)
            raise
        return found


def new(context: Context) -> Controller[Node, Node] | None:
    """The controller, its handlers registered; None without a range."""
    settings = context.settings
    if not settings.pod_ranges:
        return None
    reserved = [ipaddress.ip_network(text) for text in settings.service_ranges]
    ranges = [_parts(ipaddress.ip_network(text), settings.node_mask, reserved) for text in settings.pod_ranges]
    nodes = context.informers.of(NODES)
    reconciler = NodeIpamReconciler(context.client, nodes.store, ranges, context.recorder(RECORDER))
    controller: Controller[Node, Node] = Controller(NAME, reconciler, context.clock, workers=1, informers=(nodes,))

    def changed(_: str, old: Node | None, node: Node | None) -> None:
        found: Any = node if node is not None else old
        if node is None or not node.spec.pod_cidrs or old is None:
            controller.enqueue(found.metadata.name)

    nodes.on_change(changed)
    return controller


def _parts(network: Network, mask: int, reserved: Iterable[Network]) -> Parts:
    """Masks are of IPv4 ranges; parts of IPv6 ranges are /64."""
    return Parts(network, mask if network.version == 4 else 64, reserved)
