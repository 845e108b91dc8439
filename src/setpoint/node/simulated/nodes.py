"""Registration and heartbeat of simulated nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import coordination_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.store import Store
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock, rfc3339, rfc3339_micro
from setpoint.node.simulated.node_objects import CONDITIONS, LEASE_NAMESPACE, lease_body, node_body, node_status

if TYPE_CHECKING:
    from setpoint.node.simulated.fleet import SimulatedNode

REPORT_SECONDS = 300.0
"""How often a node's status is written even if nothing changed: the kubelet's nodeStatusReportFrequency."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 7.0
"""Seconds between two tries to make a lease, as in client-go's lease controller."""
log = logs.get_logger("node.simulated")


class Observed(Struct, frozen=True):
    """A living node and its object, None before it registered."""

    node: SimulatedNode
    present: core_v1.Node | None
    now: float


class Plan(Struct, frozen=True):
    """Register (`body`) or report (`status`), or look again later."""

    name: str
    body: dict[str, Any] | None = None
    status: dict[str, Any] | None = None
    requeue_after: float | None = None


class NodeReconciler:
    """Keeps the Node registered and Ready as long as it is alive."""

    def __init__(
        self,
        clients: Callable[[str], ClientProtocol],
        clock: Clock,
        store: Store[core_v1.Node],
        nodes: Mapping[str, SimulatedNode],
        version: str,
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._store = store
        self._nodes = nodes
        self._version = version
        self._reported: dict[str, float] = {}

    def restarted(self, name: str) -> None:
        """The next report is due now: an agent that starts says at once how its node is."""
        self._reported[name] = 0.0

    def observe(self, key: str) -> Observed | None:
        node = self._nodes.get(key)
        if node is None or not node.alive:
            return None
        return Observed(node, self._store.get(key), self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        spec, now = observed.node.spec, observed.now
        if observed.present is None:
            return Plan(spec.name, body=node_body(spec, observed.node.address, self._version, now))
        due = self._reported.get(spec.name, now) + REPORT_SECONDS - now
        if reports_well(observed.present) and due > 0:
            return Plan(spec.name, requeue_after=due)
        well = [each for each in observed.present.status.conditions if _is_well(each)]
        if len(well) == CONDITIONS and observed.present.status.allocatable:
            return Plan(
                spec.name, status={"conditions": [{"type": each.type, "lastHeartbeatTime": rfc3339(now)} for each in well]}
            )
        since = {each.type: each.last_transition_time for each in well}
        return Plan(spec.name, status=node_status(spec, observed.node.address, self._version, now, since))

    async def act(self, plan: Plan) -> Result | None:
        client = self._clients(plan.name)
        now = self._clock.now()
        if plan.body is not None:
            try:
                await client.create(core_v1.NODES, plan.body)
            except StatusError as error:
                if error.reason != "AlreadyExists":
                    raise
        elif plan.status is not None:
            patch = {"status": plan.status}
            await client.patch(core_v1.NODES, plan.name, patch, kind="strategic", subresource="status")
        else:
            self._reported.setdefault(plan.name, now)
            return Result(plan.requeue_after)
        if plan.name in self._reported:
            self._reported[plan.name] = now
            return Result(REPORT_SECONDS)
        phase = self._nodes[plan.name].phase  # the second report comes at the node's own phase, as its heartbeats do
        self._reported[plan.name] = now - REPORT_SECONDS * (1 - phase)
        return Result(REPORT_SECONDS * phase)


def _is_well(condition: core_v1.NodeCondition) -> bool:
    return condition.status == ("True" if condition.type == "Ready" else "False")


def reports_well(node: core_v1.Node) -> bool:
    """Whether its status says that it is ready, and what it has."""
    ready = any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)
    return ready and bool(node.status.allocatable)


class Heartbeat:
    """Renews leases every quarter of their duration; a node that is not alive skips its turn."""

    def __init__(
        self,
        clients: Callable[[str], ClientProtocol],
        clock: Clock,
        nodes: Store[core_v1.Node],
        seconds: int,
    ) -> None:
        self._clients = clients
        self._clock = clock
        self._nodes = nodes
        self._seconds = seconds

    async def run(self, node: SimulatedNode) -> None:
        """Beat until cancelled; the second beat comes at the node's own phase of a period, so that fleets spread."""
        period = self._seconds / 4
        await self._registered(node.spec.name)
        await self._beat(node)
        await self._clock.sleep(period * node.phase)
        while True:
            await self._beat(node)
            await self._clock.sleep(period)

    async def _registered(self, name: str) -> None:
        """Wait until the Node is there to own the lease: looked for with a kubelet's pauses (0.2 s, doubled up to 7 s)."""
        pause = FIRST_PAUSE
        while self._nodes.get(name) is None:
            await self._clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _beat(self, node: SimulatedNode) -> None:
        if not node.alive:
            return
        name = node.spec.name
        try:
            await self._renew(name)
        except (StatusError, TransportError) as error:
            log.debug("lease not renewed", node=name, error=str(error))

    async def _renew(self, name: str) -> None:
        client = self._clients(name)
        now = self._clock.now()
        patch = {"spec": {"holderIdentity": name, "renewTime": rfc3339_micro(now)}}
        try:
            await client.patch(coordination_v1.LEASES, name, patch, LEASE_NAMESPACE)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
            present = self._nodes.get(name)
            if present is not None:
                body = lease_body(name, present.metadata.uid, self._seconds, now)
                await client.create(coordination_v1.LEASES, body, LEASE_NAMESPACE)
