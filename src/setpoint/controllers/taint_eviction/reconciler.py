"""Observe, diff, act for one pod."""

from __future__ import annotations

from setpoint.api.types.core_v1 import Node, Pod, Taint
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.store import Store
from setpoint.controllers import disruption
from setpoint.controllers.taint_eviction import plan as plans
from setpoint.controllers.taint_eviction.plan import Action, Observed, Plan
from setpoint.kit.clock import Clock

REASON = "DeletionByTaintManager"
MESSAGE = "Taint manager: deleting due to NoExecute taint"


def no_execute(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.spec.taints if taint.effect == "NoExecute")


class TaintEvictionReconciler:
    """Keys are pods. It remembers until when each pod that will go may stay."""

    def __init__(
        self, client: ClientProtocol, clock: Clock, nodes: Store[Node], pods: Store[Pod], recorder: EventRecorder
    ) -> None:
        self._client = client
        self._clock = clock
        self._nodes = nodes
        self._pods = pods
        self._recorder = recorder
        self._due: dict[str, float] = {}

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._due.pop(uid, None)

    def observe(self, key: str) -> Observed | None:
        pod = self._pods.get(key)
        if pod is None or not pod.spec.node_name:
            return None
        node = self._nodes.get(pod.spec.node_name)
        taints = no_execute(node) if node is not None else ()
        return Observed(pod, taints, self._due.get(pod.metadata.uid), self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        meta = plan.pod.metadata
        match plan.action:
            case Action.SCHEDULE:
                self._due[meta.uid] = plan.due
                return Result(requeue_after=plan.due - self._clock.now())
            case Action.CANCEL:
                self._due.pop(meta.uid, None)
                self._tell(plan.pod, "Cancelling deletion of")
            case Action.EVICT:
                await self._evict(plan.pod)
                self._due.pop(meta.uid, None)
        return None

    async def _evict(self, pod: Pod) -> None:
        self._tell(pod, "Marking for deletion")
        await disruption.evict(self._client, pod, REASON, MESSAGE, self._clock.now())

    def _tell(self, pod: Pod, what: str) -> None:
        """The pod is known by its name alone, as in Kubernetes."""
        meta = pod.metadata
        about = {"kind": "Pod", "namespace": meta.namespace, "name": meta.name, "apiVersion": "v1"}
        self._recorder.event(about, "Normal", "TaintManagerEviction", f"{what} Pod {meta.namespace}/{meta.name}")
