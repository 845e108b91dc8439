"""The health monitor: one look at all nodes every few seconds.

Observe: nodes, leases, pods of nodes that fell silent. Diff: who has fallen silent, who is to be tainted NoExecute, whose pods
are not ready any more. Act: write that, node by node; one that fails is tried again at the next look.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.coordination_v1 import Lease
from setpoint.api.types.core_v1 import NODES, PODS, Node, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.store import Store
from setpoint.client.transport import TransportError
from setpoint.controllers.component import NodeTimings
from setpoint.controllers.node_lifecycle import taints, unknown
from setpoint.controllers.node_lifecycle.health import Health, Seen, ready_status, status_of
from setpoint.controllers.node_lifecycle.pods import not_ready_patch
from setpoint.controllers.node_lifecycle.zones import Zones, zone_of
from setpoint.kit import logs
from setpoint.kit.clock import Clock

LEASES = "kube-node-lease"
BY_NODE = "node"
_TRIES = 5
log = logs.get_logger("controllers.node_lifecycle")


class Observed(Struct, frozen=True):
    """All nodes, which of them are silent, new or gone, and which zones may have a node tainted now."""

    nodes: Sequence[Node]
    silent: Collection[str]
    new: Sequence[str]
    gone: Sequence[Node]
    may_taint: Callable[[str], bool]
    all_failed: bool
    pods: Callable[[str], Sequence[Pod]]
    now: float


class NodePlan(Struct, frozen=True):
    """What to write for one node.

    `taint` is the key of the only NoExecute taint that it shall have, "" for none, None to leave it; `fell`
    says that it was ready until now.
    """

    node: Node
    conditions: Sequence[Mapping[str, Any]] | None = None
    taint: str | None = None
    fell: bool = False
    pods: Sequence[Pod] = ()


class Plan(Struct, frozen=True):
    """Nodes to write, and nodes to tell of."""

    nodes: Sequence[NodePlan] = ()
    new: Sequence[Node] = ()
    gone: Sequence[Node] = ()


class HealthMonitor:
    """Its one key is "nodes"; it asks to be called again after every look."""

    def __init__(  # three caches, a clock, a client, a recorder
        self,
        client: ClientProtocol,
        clock: Clock,
        nodes: Store[Node],
        leases: Store[Lease],
        pods: Store[Pod],
        recorder: EventRecorder,
        timings: NodeTimings,
    ) -> None:
        self._client = client
        self._clock = clock
        self._nodes = nodes
        self._leases = leases
        self._pods = pods
        self._recorder = recorder
        self._timings = timings
        self._health = Health()
        self._zones = Zones(timings)
        self._ready: dict[str, str] = {}

    def observe(self, _key: str) -> Observed:
        now = self._clock.now()
        nodes = self._nodes.list()
        names = {node.metadata.name for node in nodes}
        new = [name for name in names if not self._health.knows(name)]
        gone = self._health.forget(names)
        silent: set[str] = set()
        statuses: dict[str, str] = {}
        for node in nodes:
            name = node.metadata.name
            seen = self._health.look(node, self._leases.get(f"{LEASES}/{name}"), now)
            statuses[name] = status_of(seen.ready)
            if self._is_silent(seen, now):
                silent.add(name)
                statuses[name] = "Unknown"
        failed_before = self._zones.all_failed
        self._zones.observe(nodes, statuses)
        if failed_before and not self._zones.all_failed:
            self._health.forgive(now)
            silent.clear()
        return Observed(
            nodes,
            silent,
            new,
            gone,
            lambda zone: self._zones.may_taint(zone, now),
            self._zones.all_failed,
            lambda name: self._pods.by_index(BY_NODE, name),
            now,
        )

    def _is_silent(self, seen: Seen, now: float) -> bool:
        return now - seen.heard > (self._timings.startup_grace if seen.ready is None else self._timings.monitor_grace)

    def diff(self, observed: Observed) -> Plan:
        plans = [self._diff_node(node, observed) for node in observed.nodes]
        new = set(observed.new)
        return Plan(
            [plan for plan in plans if plan is not None],
            [node for node in observed.nodes if node.metadata.name in new],
            observed.gone,
        )

    def _diff_node(self, node: Node, observed: Observed) -> NodePlan | None:
        silent = node.metadata.name in observed.silent
        ready = self._health.ready(node)
        if not silent and (ready is None or (ready.status == "True" and not node.spec.taints)):
            return None  # it may be on its way, or is well, as nearly all are
        conditions = unknown.conditions(node, observed.now) if silent else None
        status = self._status(node, observed.silent)
        taint = self._diff_taint(node, status, observed)
        pods = observed.pods(node.metadata.name) if silent else ()
        stale = [pod for pod in pods if not_ready_patch(pod, observed.now) is not None]
        if conditions is None and taint is None and not stale:
            return None
        return NodePlan(node, conditions, taint, silent and ready_status(node) == "True", stale)

    def _status(self, node: Node, silent: Collection[str]) -> str:
        return "Unknown" if node.metadata.name in silent else status_of(self._health.ready(node))

    def _diff_taint(self, node: Node, status: str, observed: Observed) -> str | None:
        key = {"True": "", "False": taints.NOT_READY}.get(status, taints.UNREACHABLE)
        if observed.all_failed:
            key = ""  # every node seems to have failed: it is this side that is cut off
        if taints.with_no_execute(node, key, observed.now) is None:
            return None
        if not key or taints.has(node, taints.NOT_READY) or taints.has(node, taints.UNREACHABLE):
            return key  # taking away and swapping need no permission
        return key if observed.may_taint(zone_of(node)) else None

    async def act(self, plan: Plan) -> Result:
        for node in plan.new:
            self._tell(node, "RegisteredNode", f"event: Registered Node {node.metadata.name} in Controller")
        for node in plan.gone:
            self._tell(node, "RemovingNode", f"event: Removing Node {node.metadata.name} from Controller")
        for each in plan.nodes:
            try:
                await self._act_node(each)
            except (StatusError, TransportError) as error:
                log.debug("node not written", node=each.node.metadata.name, error=str(error))
        return Result(requeue_after=self._timings.monitor_period)

    def _tell(self, node: Node, reason: str, what: str) -> None:
        about = {"kind": "Node", "name": node.metadata.name, "uid": node.metadata.uid, "apiVersion": "v1"}
        self._recorder.event(about, "Normal", reason, f"Node {node.metadata.name} {what}")

    async def _act_node(self, plan: NodePlan) -> None:
        node = plan.node
        if plan.conditions is not None:
            body = {
                "metadata": {"resourceVersion": node.metadata.resource_version},
                "status": {"conditions": [*plan.conditions]},
            }
            node = await self._client.patch(NODES, node.metadata.name, body, subresource="status")
        if plan.fell:
            self._tell(node, "NodeNotReady", "status is now: NodeNotReady")
        if plan.taint is not None:
            await self._taint(node, plan.taint)
        for pod in plan.pods:
            await self._mark(pod)

    async def _taint(self, node: Node, key: str) -> None:
        """The NoSchedule taints are written at about the same time: conflicts are to be expected."""
        for _ in range(_TRIES):
            wanted = taints.with_no_execute(node, key, self._clock.now())
            if wanted is None:
                return
            try:
                await self._client.patch(NODES, node.metadata.name, taints.patch(node, wanted))
                return
            except StatusError as error:
                if error.code != 409:
                    raise
            node = await self._client.get(NODES, node.metadata.name)

    async def _mark(self, pod: Pod) -> None:
        patch = not_ready_patch(pod, self._clock.now())
        if patch is None:
            return
        self._recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")
        try:
            await self._client.patch(
                PODS, pod.metadata.name, patch, pod.metadata.namespace, kind="strategic", subresource="status"
            )
        except StatusError as error:
            if error.code not in {404, 409}:
                raise
