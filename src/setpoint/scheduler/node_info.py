"""A node with the pods on it and their sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from setpoint.api.types.core_v1 import Node
from setpoint.scheduler.pods import PodInfo, PortKey
from setpoint.scheduler.resources import PODS, Amounts, add, amounts, subtract


class NodeInfo:
    """See the module. `slot` is the node's place in the columns that are kept of all nodes."""

    __slots__ = (
        "allocatable",
        "allowed_pods",
        "image_sizes",
        "labels",
        "name",
        "node",
        "non_zero",
        "pods",
        "ports",
        "requested",
        "slot",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.slot = -1
        self.node: Node | None = None
        self.labels: Mapping[str, str] = {}
        self.allocatable: Amounts = {}
        self.allowed_pods = 0
        self.image_sizes: Mapping[str, int] = {}
        self.pods: dict[str, PodInfo] = {}
        self.requested: Amounts = {}
        self.non_zero: Amounts = {}
        self.ports: dict[PortKey, int] = {}

    @property
    def known(self) -> Node:
        """The node; only ask those that a cycle was given."""
        if self.node is None:
            raise LookupError(f"node {self.name} is not there")
        return self.node

    def set_node(self, node: Node) -> None:
        self.node = node
        self.labels = node.metadata.labels
        self.allocatable = amounts(node.status.allocatable)
        self.allowed_pods = self.allocatable.get(PODS, 0)
        self.image_sizes = {name: image.size_bytes for image in node.status.images for name in image.names}

    def add_pod(self, info: PodInfo) -> None:
        self.pods[info.key] = info
        add(self.requested, info.requests)
        add(self.non_zero, info.non_zero)
        for port in info.ports:
            self.ports[port] = self.ports.get(port, 0) + 1

    def remove_pod(self, key: str) -> PodInfo | None:
        info = self.pods.pop(key, None)
        if info is None:
            return None
        subtract(self.requested, info.requests)
        subtract(self.non_zero, info.non_zero)
        for port in info.ports:
            self.ports[port] -= 1
            if not self.ports[port]:
                del self.ports[port]
        return info

    def clone(self) -> Self:
        """A copy to try pods out on; the node and the PodInfos are shared."""
        copy = type(self)(self.name)
        copy.node, copy.allocatable, copy.allowed_pods = self.node, self.allocatable, self.allowed_pods
        copy.slot, copy.labels, copy.image_sizes = self.slot, self.labels, self.image_sizes
        copy.pods, copy.requested, copy.non_zero = dict(self.pods), dict(self.requested), dict(self.non_zero)
        copy.ports = dict(self.ports)
        return copy
