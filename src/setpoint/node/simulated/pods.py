"""Observe, diff, act for one pod on a simulated node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.kit.clock import Clock
from setpoint.node.simulated.lifecycle import Lifecycle
from setpoint.node.simulated.stages import IN_SERVICE, Place, Step

if TYPE_CHECKING:
    from setpoint.node.simulated.fleet import SimulatedNode

BY_NODE = "node"
INSTANT = 1e-3
"""Waits shorter than this are over: queues wake a little early, and sums of floats fall a little short."""
GONE = {"NotFound", "Conflict"}


class Observed(Struct, frozen=True):
    """A pod on a living node; `lost`: its containers died with the node."""

    pod: core_v1.Pod
    lost: bool


class Plan(Struct, frozen=True):
    """Do `step`, once the pod has been in its stage long enough."""

    pod: core_v1.Pod
    step: Step


class PodReconciler:
    """Remembers for each pod when it entered its stage, for the delays.

    A node has no right to finalizers: `outsider` writes them.
    """

    def __init__(
        self,
        clients: Callable[[str], ClientProtocol],
        clock: Clock,
        pods: Store[core_v1.Pod],
        nodes: Mapping[str, SimulatedNode],
        lifecycle: Lifecycle,
        recorder: EventRecorder,
        outsider: ClientProtocol,
    ) -> None:
        self._clients = clients
        self._outsider = outsider
        self._clock = clock
        self._pods = pods
        self._nodes = nodes
        self._lifecycle = lifecycle
        self._recorder = recorder
        self._entered: dict[str, tuple[str, str, float]] = {}
        self.waiting: set[str] = set()
        """Pods that are on their way: they will go on by themselves. One that will fail or complete some day is not."""

    def observe(self, key: str) -> Observed | None:
        pod = self._pods.get(key)
        self.waiting.discard(key)
        if pod is None:
            self._entered.pop(key, None)
            return None
        node = self._nodes.get(pod.spec.node_name)
        if node is None or not node.alive:
            return None
        return Observed(pod, pod.metadata.uid in node.lost)

    def diff(self, observed: Observed) -> Plan | None:
        step = self._lifecycle.next(observed.pod, lost=observed.lost)
        return None if step is None else Plan(observed.pod, step)

    async def act(self, plan: Plan) -> Result | None:
        if not plan.step.aside and (wait := self._left(plan)) > INSTANT:
            if not plan.step.stage.startswith(IN_SERVICE):
                self.waiting.add(key_of(plan.pod))
            return Result(requeue_after=wait)
        node = self._nodes[plan.pod.spec.node_name]
        try:
            await self._take(plan.step, plan.pod, node)
        except StatusError as error:
            if error.reason not in GONE:
                raise
            return None  # another pod has this name now, or none: the watch will say so
        if not plan.step.aside:
            self._entered.pop(key_of(plan.pod), None)  # a stage that comes round again begins anew
        if plan.step.stage == "lost":
            node.lost.discard(plan.pod.metadata.uid)
        return None

    async def _take(self, step: Step, pod: core_v1.Pod, node: SimulatedNode) -> None:
        client = self._clients(node.spec.name)
        if step.event is not None:
            kind, reason, message = step.event
            self._recorder.event(pod, kind, reason, message())
        if step.status is None:
            await self._delete(client, pod)
            return
        place = Place(node.address, node.pod_address(pod.metadata.uid, pod.status.pod_ip))
        status = step.status(place, self._clock.now())
        if status:
            await self._patch(client, pod, status)
        if step.finalizers is not None:
            meta = pod.metadata
            patch = {"metadata": {"uid": meta.uid, "finalizers": step.finalizers}}
            await self._outsider.patch(core_v1.PODS, meta.name, patch, meta.namespace)

    def _left(self, plan: Plan) -> float:
        """Seconds until the pod takes the step."""
        return self._since(plan.pod, plan.step.stage) + plan.step.after - self._clock.monotonic()

    def _since(self, pod: core_v1.Pod, stage: str) -> float:
        """When the pod entered the stage, as far as is remembered here."""
        key, now = key_of(pod), self._clock.monotonic()
        known = self._entered.get(key)
        if known is None or known[:2] != (pod.metadata.uid, stage):
            known = self._entered[key] = (pod.metadata.uid, stage, now)
        return known[2]

    async def _delete(self, client: ClientProtocol, pod: core_v1.Pod) -> None:
        meta = pod.metadata
        await client.delete(core_v1.PODS, meta.name, meta.namespace, grace_seconds=0, uid=meta.uid)

    async def _patch(self, client: ClientProtocol, pod: core_v1.Pod, status: dict[str, Any]) -> None:
        patch = {"metadata": {"uid": pod.metadata.uid}, "status": status}
        meta = pod.metadata
        await client.patch(core_v1.PODS, meta.name, patch, meta.namespace, kind="strategic", subresource="status")
