"""A scheduler without a server, for tests of plugins and cycles: `Rig`, and pods and nodes from the little that matters."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Node, Pod
from setpoint.client.store import Store
from setpoint.kit.clock import VirtualClock
from setpoint.scheduler.board import Budget
from setpoint.scheduler.cycle import Cycle, NoFit
from setpoint.scheduler.framework import Handle
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.profile import Profile
from setpoint.scheduler.profiles import DEFAULT_PROFILE, ProfileConfig
from setpoint.scheduler.snapshot import Snapshot
from setpoint.scheduler.waiting_pods import WaitingPods

_uids = itertools.count(1)


def pod(name: str = "p", *, cpu: str = "", memory: str = "", labels: Mapping[str, str] | None = None, **spec: Any) -> Pod:
    """A pod with one container; keyword arguments are fields of the spec, as JSON (`status` is the status)."""
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    containers = [{"name": "c", "image": "x", "resources": {"requests": requests}}]
    status = spec.pop("status", {})
    meta = {"name": name, "namespace": "d", "uid": f"uid-{name}-{next(_uids)}", "generation": 1, "labels": dict(labels or {})}
    body = {"metadata": meta, "spec": {"containers": containers, "schedulerName": "default-scheduler", **spec}, "status": status}
    return convert(body, Pod)


def node(
    name: str = "n",
    *,
    cpu: str = "4",
    memory: str = "8Gi",
    pods: str = "10",
    labels: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
    **spec: Any,
) -> Node:
    """A node with so much allocatable; keyword arguments are fields of the spec, as JSON (`status` adds to the status)."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **(more or {})}
    status = {"allocatable": allocatable, "capacity": allocatable, **spec.pop("status", {})}
    return convert({"metadata": {"name": name, "labels": dict(labels or {})}, "spec": spec, "status": status}, Node)


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> dict[str, str]:
    return {"key": key, "effect": effect, "value": value}


def required(*terms: Mapping[str, Any]) -> dict[str, Any]:
    """`spec.affinity` with required node affinity of these alternatives."""
    rule = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": rule}}


def preferred(*terms: tuple[int, Mapping[str, Any]]) -> dict[str, Any]:
    """`spec.affinity` with preferred node affinity of these weighted terms."""
    rule = [{"weight": weight, "preference": term} for weight, term in terms]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": rule}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


class Collections:
    """Collections as informers' stores have them: `put` what plugins shall find."""

    def __init__(self) -> None:
        self._stores: dict[Any, Store[Any]] = {}

    def of(self, resource: Resource[Any]) -> Store[Any]:
        return self._stores.setdefault(resource.plural, Store())

    def on_change(self, resource: Resource[Any], changed: Callable[[], None]) -> None:
        """Nothing changes by itself here."""

    def put(self, resource: Resource[Any], obj: Mapping[str, Any]) -> None:
        self.of(resource).put(convert(obj, resource.type))


class Rig:
    """Snapshot, profile and cycle; no client, so nothing is bound."""

    def __init__(self, seed: int = 0, config: ProfileConfig = DEFAULT_PROFILE) -> None:
        rng = random.Random(seed)  # noqa: S311 - a test's seed
        absent: Any = None
        self.snapshot = Snapshot()
        self.nominator = Nominator(self.snapshot.touch)
        self.collections = Collections()
        clock = VirtualClock()
        waiting = WaitingPods(clock)
        self.handle = Handle(absent, clock, self.snapshot, self.nominator, absent, rng, self.collections, waiting)
        self.profile = Profile(self.handle, config)
        self.cycle = Cycle(self.profile, self.snapshot, self.nominator, rng)

    def nodes(self, *nodes: Node) -> None:
        for each in nodes:
            self.snapshot.put_node(each)

    def place(self, *pods: Pod) -> None:
        """Pods that have their node."""
        for each in pods:
            self.snapshot.put_pod(each)

    def info(self, pod: Pod) -> PodInfo:
        return PodInfo(pod)

    def schedule(self, pod: Pod) -> str:
        """The node that the pod would get."""
        return self.cycle.run(PodInfo(pod)).node

    def feasible(self, pod: Pod) -> set[str]:
        """The nodes that fit (in a small cluster: all of them)."""
        return {node.name for node in self.cycle.find(PodInfo(pod), Budget(1 << 60)).nodes}

    def no_fit(self, pod: Pod) -> NoFit:
        """The refusal of a pod that must not fit."""
        try:
            found = self.schedule(pod)
        except NoFit as refusal:
            return refusal
        raise AssertionError(f"{pod.metadata.name} fits on {found}")

    def fitting(self, pod: Pod) -> set[str]:
        """Every node that fits, whatever the scores. Takes the nodes away."""
        left: set[str] = set()
        while True:
            try:
                found = self.schedule(pod)
            except NoFit:
                return left
            left.add(found)
            self.snapshot.remove_node(found)
