"""What the scheduler knows of the nodes: kept up to date event by event, read as it is by each cycle.

A scheduling cycle is one synchronous slice of work on the event loop, so nothing changes under it and the live view *is* the
snapshot: there is nothing to copy. What tries things out (preemption, nominated pods) clones single nodes.

Pods that were given a node in a cycle are *assumed*: they count on their node at once, before the binding is written and seen
again by the informer. A failed binding forgets them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import msgspec
from msgspec import Struct

from setpoint.api.types.core_v1 import ContainerPort, Node, Pod
from setpoint.scheduler.resources import DEFAULTS, PODS, Amounts, add, amounts, pod_requests, subtract
from setpoint.scheduler.status import Status

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the word for every address of the host
SHAPES = 16  # how many shapes of pods a node remembers verdicts of
PortKey = tuple[str, str, int]


def host_ports(pod: Pod) -> list[PortKey]:
    """Address, protocol and port of every host port that the running containers want (sidecars included)."""
    spec = pod.spec
    sidecars = (container for container in spec.init_containers if container.restart_policy == "Always")
    containers = [*spec.containers, *sidecars] if spec.init_containers else spec.containers
    return [_port_key(port) for container in containers for port in container.ports if port.host_port > 0]


def _port_key(port: ContainerPort) -> PortKey:
    return port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port


def pod_key(pod: Pod) -> str:
    """Who a pod is: its uid, since a name can be used again."""
    return pod.metadata.uid or f"{pod.metadata.namespace}/{pod.metadata.name}"


class PodInfo:
    """A pod with what is computed of it once."""

    __slots__ = ("_shape", "key", "non_zero", "pod", "ports", "requests")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.key = pod_key(pod)
        self.requests = pod_requests(pod)
        self.non_zero = pod_requests(pod, DEFAULTS)
        self.ports = host_ports(pod)
        self._shape: bytes | None = None

    @property
    def shape(self) -> bytes:
        """All of the pod that plugins may judge a single node by: pods of one template have the same."""
        if self._shape is None:
            spec = self.pod.spec
            images = [container.image for container in (*spec.init_containers, *spec.containers)]
            parts = (self.requests, self.non_zero, self.ports, spec.node_name, spec.node_selector, spec.tolerations, images)
            affinity = spec.affinity.node_affinity if spec.affinity is not None else None
            self._shape = msgspec.msgpack.encode((parts, affinity))
        return self._shape


class Verdict(Struct):
    """What the local plugins said of a shape of pods on a node; it holds until the node or its pods change."""

    refusal: Status | None
    score: int | None = None
    unscaled: tuple[int, ...] = ()


class NodeInfo:
    """A node, the pods on it, and their sums."""

    __slots__ = (
        "allocatable",
        "allowed_pods",
        "image_sizes",
        "name",
        "node",
        "non_zero",
        "pods",
        "ports",
        "requested",
        "verdicts",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Node | None = None
        self.allocatable: Amounts = {}
        self.allowed_pods = 0
        self.image_sizes: Mapping[str, int] = {}
        self.pods: dict[str, PodInfo] = {}
        self.requested: Amounts = {}
        self.non_zero: Amounts = {}
        self.ports: dict[PortKey, int] = {}
        self.verdicts: dict[bytes, Verdict] = {}

    @property
    def known(self) -> Node:
        """The node; only ask those that a cycle was given."""
        if self.node is None:
            raise LookupError(f"node {self.name} is not there")
        return self.node

    def set_node(self, node: Node) -> None:
        self.node = node
        self.verdicts.clear()
        self.allocatable = amounts(node.status.allocatable)
        self.allowed_pods = self.allocatable.get(PODS, 0)
        self.image_sizes = {name: image.size_bytes for image in node.status.images for name in image.names}

    def add_pod(self, info: PodInfo) -> None:
        self.pods[info.key] = info
        self.verdicts.clear()
        add(self.requested, info.requests)
        add(self.non_zero, info.non_zero)
        for port in info.ports:
            self.ports[port] = self.ports.get(port, 0) + 1

    def remove_pod(self, key: str) -> PodInfo | None:
        info = self.pods.pop(key, None)
        if info is None:
            return None
        self.verdicts.clear()
        subtract(self.requested, info.requests)
        subtract(self.non_zero, info.non_zero)
        for port in info.ports:
            self.ports[port] -= 1
            if not self.ports[port]:
                del self.ports[port]
        return info

    def remember(self, shape: bytes, verdict: Verdict) -> None:
        if len(self.verdicts) >= SHAPES:
            self.verdicts.clear()
        self.verdicts[shape] = verdict

    def clone(self) -> Self:
        """A copy to try pods out on; the node and the PodInfos are shared."""
        copy = type(self)(self.name)
        copy.node, copy.allocatable, copy.allowed_pods = self.node, self.allocatable, self.allowed_pods
        copy.image_sizes = self.image_sizes
        copy.pods, copy.requested, copy.non_zero = dict(self.pods), dict(self.requested), dict(self.non_zero)
        copy.ports = dict(self.ports)
        return copy


class Snapshot:
    """All nodes and where the pods are."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeInfo] = {}
        self._listed: list[NodeInfo] | None = None
        self._places: dict[str, str] = {}
        self._assumed: dict[str, PodInfo] = {}
        self.image_nodes: Counter[str] = Counter()  # how many nodes have an image

    # ---- nodes

    @property
    def nodes(self) -> Sequence[NodeInfo]:
        """The nodes that exist, in the order in which they came."""
        if self._listed is None:
            self._listed = [info for info in self._nodes.values() if info.node is not None]
        return self._listed

    def get(self, name: str) -> NodeInfo | None:
        info = self._nodes.get(name)
        return info if info is not None and info.node is not None else None

    def put_node(self, node: Node) -> None:
        info = self._info(node.metadata.name)
        if info.node is None:
            self._listed = None
        else:
            self.image_nodes.subtract(info.image_sizes.keys())
        info.set_node(node)
        self.image_nodes.update(info.image_sizes.keys())

    def remove_node(self, name: str) -> None:
        """The pods on it may be heard of after it is gone: they keep its entry alive, unlisted."""
        info = self._nodes.get(name)
        if info is None or info.node is None:
            return
        self.image_nodes.subtract(info.image_sizes.keys())
        info.node = None
        self._listed = None
        self._drop_if_empty(info)

    def _info(self, name: str) -> NodeInfo:
        info = self._nodes.get(name)
        if info is None:
            info = self._nodes[name] = NodeInfo(name)
        return info

    def _drop_if_empty(self, info: NodeInfo) -> None:
        if info.node is None and not info.pods:
            del self._nodes[info.name]

    # ---- pods

    def put_pod(self, pod: Pod) -> None:
        """A pod that has a node, as the API server says: new, changed, or the confirmation of an assumed one."""
        info = PodInfo(pod)
        self._assumed.pop(info.key, None)
        self._take_off(info.key)
        self._place(info, pod.spec.node_name)

    def refresh_pod(self, key: str, pod: Pod) -> bool:
        """Only the pod's status changed: keep what is computed of it. False if it is not on a node here."""
        node = self._places.get(key)
        if node is None or key in self._assumed:
            return False
        self._nodes[node].pods[key].pod = pod
        return True

    def remove_pod(self, key: str) -> bool:
        """False if it was not on any node."""
        self._assumed.pop(key, None)
        return self._take_off(key)

    def assume(self, info: PodInfo, node: str) -> None:
        """Count the pod on `node` from now on."""
        self._assumed[info.key] = info
        self._place(info, node)

    def forget(self, info: PodInfo) -> None:
        """Undo `assume`, unless the API server has confirmed the pod meanwhile."""
        if self._assumed.pop(info.key, None) is not None:
            self._take_off(info.key)

    def is_assumed(self, key: str) -> bool:
        return key in self._assumed

    def _place(self, info: PodInfo, node: str) -> None:
        self._places[info.key] = node
        self._info(node).add_pod(info)

    def _take_off(self, key: str) -> bool:
        node = self._places.pop(key, None)
        if node is None:
            return False
        info = self._nodes[node]
        info.remove_pod(key)
        self._drop_if_empty(info)
        return True

    @property
    def placed(self) -> Iterable[str]:
        return self._places.keys()
