"""Pod garbage collection, one look at all pods every 20 seconds."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NODES, PODS, Node, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.client.transport import TransportError
from setpoint.controllers.component import Context, Settings
from setpoint.controllers.node_lifecycle.monitor import BY_NODE
from setpoint.controllers.node_lifecycle.pods import by_node
from setpoint.controllers.pod_gc import plan as plans
from setpoint.controllers.pod_gc.plan import End, Observed, Plan
from setpoint.kit import logs
from setpoint.kit.clock import Clock

NAME = "pod-garbage-collector"
PODS_KEY = "pods"
QUARANTINE = 40.0
_OVER = "over"
log = logs.get_logger("controllers.pod_gc")


def by_over(pod: Pod) -> tuple[str, ...]:
    """Index function: the pods that are over."""
    return (_OVER,) if plans.is_over(pod) else ()


class PodGcReconciler:
    """Its one key is "pods". A node that no cache shows is asked for after a quarantine before its pods are given up."""

    def __init__(self, client: ClientProtocol, clock: Clock, nodes: Store[Node], pods: Store[Pod], settings: Settings) -> None:
        self._client = client
        self._clock = clock
        self._nodes = nodes
        self._pods = pods
        pods.add_index(_OVER, by_over)
        self._settings = settings
        self._missing: dict[str, float] = {}

    async def observe(self, _key: str) -> Observed:
        now = self._clock.now()
        nodes = {node.metadata.name: node for node in self._nodes.list()}
        absent = {name for name in self._pods.index_values(BY_NODE) if name not in nodes}
        self._missing = {name: self._missing.get(name, now) for name in absent}
        suspects = [name for name, since in self._missing.items() if now - since >= QUARANTINE]
        vanished = {name for name in suspects if not await self._exists(name)}
        return Observed(self._candidates(vanished), nodes, vanished, self._settings.terminated_pods, now)

    def _candidates(self, vanished: Iterable[str]) -> list[Pod]:
        """The few pods that there can be anything to do for, by indices: this looks every 20 seconds at all there are."""
        lost = chain.from_iterable(self._pods.by_index(BY_NODE, name) for name in vanished)
        return [*{pod.metadata.uid: pod for pod in chain(self._pods.by_index(_OVER, _OVER), lost)}.values()]

    async def _exists(self, name: str) -> bool:
        try:
            await self._client.get(NODES, name)
        except StatusError as error:
            return error.code != 404
        except TransportError:
            return True
        return True

    def diff(self, observed: Observed) -> Plan:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result:
        for end in plan.ends:
            try:
                await self._end(end)
            except (StatusError, TransportError) as error:
                log.debug("pod not ended", pod=end.pod.metadata.name, error=str(error))
        return Result(requeue_after=self._settings.pod_gc_period)

    async def _end(self, end: End) -> None:
        meta = end.pod.metadata
        if end.status is not None:
            patch = {"metadata": {"uid": meta.uid}, "status": end.status}
            await self._client.patch(PODS, meta.name, patch, meta.namespace, kind="strategic", subresource="status")
        await self._client.delete(PODS, meta.name, meta.namespace, grace_seconds=0, uid=meta.uid)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller; nothing runs yet."""
    nodes, pods = context.informers.of(NODES), context.informers.of(PODS)
    pods.add_index(BY_NODE, by_node)
    reconciler = PodGcReconciler(context.client, context.clock, nodes.store, pods.store, context.settings)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=(nodes, pods))
    controller.enqueue(PODS_KEY)
    return controller
