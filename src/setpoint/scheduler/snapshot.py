"""What the scheduler knows of the nodes: kept up to date event by event, read as it is by each cycle.

A scheduling cycle is one synchronous slice of work on the event loop, so nothing changes under it and the live view *is* the
snapshot: there is nothing to copy. What tries things out (preemption, nominated pods) clones single nodes.

Pods that were given a node in a cycle are *assumed*: they count on their node at once, before the binding is written and seen
again by the informer. A failed binding forgets them.

Every change is written to the `journal`; `epoch` counts those of the nodes' labels, taints, and of which nodes there are.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from setpoint.api.types.core_v1 import Node, Pod
from setpoint.scheduler.journal import Change, Journal
from setpoint.scheduler.node_info import NodeInfo
from setpoint.scheduler.pod_terms import PodTerm
from setpoint.scheduler.pods import GroupKey, PodInfo
from setpoint.scheduler.standing_terms import StandingTerms

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
MAX_COLUMNS = 256


class Snapshot:
    """All nodes and where the pods are."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeInfo] = {}
        self._listed: list[NodeInfo] | None = None
        self._places: dict[str, str] = {}
        self._assumed: dict[str, PodInfo] = {}
        self._groups: dict[GroupKey, dict[int, int]] = {}
        self._free_slots: list[int] = []
        self.slots: list[NodeInfo | None] = []
        self.journal = Journal()
        self.epoch = 0
        self._columns: dict[str, tuple[int, list[str | None]]] = {}
        self.terms = StandingTerms()
        self.claim_uses: Counter[str] = Counter()  # how many pods that have a node use a claim
        self.image_nodes: Counter[str] = Counter()  # how many nodes have an image

    # ---- nodes

    @property
    def nodes(self) -> Sequence[NodeInfo]:
        """The nodes that exist, their zones taking turns, so that any run of them spans all zones."""
        if self._listed is None:
            zones: dict[tuple[str, str], list[NodeInfo]] = {}
            for info in self._nodes.values():
                if info.node is not None:
                    zones.setdefault((info.labels.get(REGION, ""), info.labels.get(ZONE, "")), []).append(info)
            turns = itertools.zip_longest(*zones.values())
            self._listed = [info for turn in turns for info in turn if info is not None]
        return self._listed

    def get(self, name: str) -> NodeInfo | None:
        info = self._nodes.get(name)
        return info if info is not None and info.node is not None else None

    def put_node(self, node: Node) -> None:
        """A new node, or news of one; a heartbeat changes nothing."""
        info = self._info(node.metadata.name)
        old = info.node
        if old is not None and _same(old, node):
            info.node = node
            return
        moves = old is None or _elsewhere(old, node)
        self._count_images(info, -1)
        if moves:
            self._off(info)
        if info.slot < 0:
            info.slot = self._take_slot(info)
        info.set_node(node)
        self._count_images(info, 1)
        if moves:
            self._on(info)
        self.journal.write(Change(info.slot))

    def remove_node(self, name: str) -> None:
        """The pods on it may be heard of after it is gone: they keep its entry alive, unlisted."""
        info = self._nodes.get(name)
        if info is None or info.node is None:
            return
        self._count_images(info, -1)
        self._off(info)
        self.journal.write(Change(info.slot))
        self.slots[info.slot] = None
        self._free_slots.append(info.slot)
        info.node, info.slot, info.labels, info.image_sizes = None, -1, {}, {}
        self._drop_if_empty(info)

    def label_column(self, key: str) -> list[str | None]:
        """The nodes' values of a label, by slot."""
        epoch, column = self._columns.get(key, (-1, []))
        if epoch != self.epoch:
            if len(self._columns) >= MAX_COLUMNS:
                self._columns.clear()
            column = [None if node is None else node.labels.get(key) for node in self.slots]
            self._columns[key] = (self.epoch, column)
        return column

    def touch(self, name: str) -> None:
        """Something about the node changed that is not kept here."""
        info = self.get(name)
        if info is not None:
            self.journal.write(Change(info.slot))

    def _count_images(self, info: NodeInfo, sign: int) -> None:
        for image in info.image_sizes:
            _count(self.image_nodes, image, sign)

    def _take_slot(self, info: NodeInfo) -> int:
        if self._free_slots:
            slot = self._free_slots.pop()
            self.slots[slot] = info
            return slot
        self.slots.append(info)
        return len(self.slots) - 1

    def _off(self, info: NodeInfo) -> None:
        """Its pods stand nowhere until `_on`."""
        self.epoch += 1
        self._listed = None
        if info.node is not None:
            for pod in info.pods.values():
                self._count(pod, info, -1)

    def _on(self, info: NodeInfo) -> None:
        for pod in info.pods.values():
            self._count(pod, info, 1)

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
        key, node = pod.metadata.uid or f"{pod.metadata.namespace}/{pod.metadata.name}", pod.spec.node_name
        assumed = self._assumed.pop(key, None)
        if assumed is not None and self._places[key] == node and _as_assumed(assumed.pod, pod):
            assumed.pod = pod
            return
        self._take_off(key)
        self._place(PodInfo(pod), node)

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

    def _place(self, info: PodInfo, name: str) -> None:
        self._places[info.key] = name
        node = self._info(name)
        node.add_pod(info)
        if node.node is not None:
            self._count(info, node, 1)

    def _take_off(self, key: str) -> bool:
        name = self._places.pop(key, None)
        if name is None:
            return False
        node = self._nodes[name]
        info = node.remove_pod(key)
        if info is not None and node.node is not None:
            self._count(info, node, -1)
        self._drop_if_empty(node)
        return True

    @property
    def placed(self) -> Iterable[str]:
        return self._places.keys()

    # ---- who stands where

    def _count(self, info: PodInfo, node: NodeInfo, sign: int) -> None:
        self.journal.write(Change(node.slot, sign, info))
        places = self._groups.setdefault(info.group, {})
        places[node.slot] = places.get(node.slot, 0) + sign
        if not places[node.slot]:
            del places[node.slot]
            if not places:
                del self._groups[info.group]
        if info.terms:
            self.terms.count(info.terms, node.labels, sign)
        for claim in info.claims:
            _count(self.claim_uses, claim, sign)

    @property
    def groups(self) -> Iterable[tuple[GroupKey, Mapping[int, int]]]:
        """Every group of pods, and how many of them are in which slot."""
        return self._groups.items()


def _count(counter: Counter[str], name: str, by: int) -> None:
    """What is counted comes and goes for ever: nothing is kept of what has come to zero."""
    left = counter[name] + by
    if left:
        counter[name] = left
    else:
        counter.pop(name, None)


def _same(old: Node, new: Node) -> bool:
    """Nothing changed that decides where pods go."""
    before, after = old.status, new.status
    return (
        before.allocatable == after.allocatable
        and old.metadata.labels == new.metadata.labels
        and old.spec == new.spec
        and before.images == after.images
        and before.declared_features == after.declared_features
        and old.metadata.annotations == new.metadata.annotations
        and [(each.type, each.status) for each in before.conditions] == [(each.type, each.status) for each in after.conditions]
    )


def _as_assumed(assumed: Pod, pod: Pod) -> bool:
    """Nothing else changed while the binding was under way."""
    before, after = assumed.metadata, pod.metadata
    return before.labels == after.labels and before.deletion_timestamp == after.deletion_timestamp


def _elsewhere(old: Node, new: Node) -> bool:
    """Its labels, its taints or whether it is open changed: it may be in another domain, or count no more."""
    return old.metadata.labels != new.metadata.labels or old.spec != new.spec


__all__ = ["NodeInfo", "PodInfo", "PodTerm", "Snapshot"]
