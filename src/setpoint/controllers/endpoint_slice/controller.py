"""The EndpointSlice controller."""

from __future__ import annotations

from setpoint.api.types import core_v1, discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.informer import any_of
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.endpoint_slice import diff as decision
from setpoint.controllers.endpoint_slice import selection, topology, writing
from setpoint.controllers.endpoint_slice.diff import OURS, ZONE, Observed, Plan
from setpoint.controllers.endpoint_slice.own_slices import OwnSlices
from setpoint.controllers.endpoint_slice.service_pods import ServicePods
from setpoint.controllers.node_lifecycle.monitor import BY_NODE
from setpoint.controllers.node_lifecycle.pods import by_node
from setpoint.kit.clock import rfc3339

NAME = "endpointslice-controller"
RECORDER = "endpoint-slice-controller"


class SliceReconciler:
    """Reads four caches; writes slices."""

    def __init__(
        self,
        client: ClientProtocol,
        services: Store[core_v1.Service],
        pods: Store[core_v1.Pod],
        nodes: Store[core_v1.Node],
        slices: OwnSlices,
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._services = services
        self._pods = pods
        self._nodes = nodes
        self._slices = slices
        self._recorder = recorder
        self._triggers = selection.Triggers()
        self._lost: dict[str, tuple[tuple[str, str], ...]] = {}
        self._hints: dict[str, tuple[str, str, str]] = {}

    def observe(self, key: str) -> Observed | None:
        service = self._services.get(key)
        if service is None:
            self._triggers.forget(key)
            self._slices.forget(key)
            self._lost.pop(key, None)
            self._hints.pop(key, None)
            return None  # its slices go with it
        if service.spec.type == "ExternalName" or not service.spec.selector:
            return None
        if self._slices.is_behind(key):
            return Observed(service, (), (), {}, None, behind=True)
        pods = [pod for pod in self._pods.list(service.metadata.namespace) if selection.selects(service, pod)]
        names = {pod.spec.node_name for pod in pods}
        nodes = {name: node for name in names if (node := self._nodes.get(name)) is not None}
        zones = {name: node.metadata.labels.get(ZONE, "") for name, node in nodes.items()}
        shares = topology.shares(self._nodes.list()) if topology.is_asked(service) else None
        trigger = self._triggers.changed(key, service, pods)
        return Observed(service, pods, self._slices.of(key), zones, trigger, shares=shares)

    def diff(self, observed: Observed) -> Plan | None:
        return decision.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.behind:
            return Result(requeue_after=1.0)
        annotations = {} if plan.trigger is None else {selection.TRIGGER: rfc3339(plan.trigger)}
        owner = writing.Owner(plan.service, core_v1.SERVICES, plan.labels, annotations)
        await self._slices.write(self._client, owner, plan.write, plan.delete)
        self._tell_of_lost(plan)
        self._tell_of_hints(plan)
        return None

    def _tell_of_hints(self, plan: Plan) -> None:
        """Once while nothing changes."""
        name = key_of(plan.service)
        if plan.hints is not None and self._hints.get(name) != plan.hints:
            self._hints[name] = plan.hints
            self._recorder.event(plan.service, *plan.hints)

    def _tell_of_lost(self, plan: Plan) -> None:
        """Once for the same pods."""
        name, shown = key_of(plan.service), []
        if self._lost.get(name, ()) != plan.lost:
            self._lost[name] = plan.lost
            shown = [f"skipping Pod {pod} for Service {name}: Node {node} Not Found" for pod, node in plan.lost]
        if shown:
            why = shown[0] if len(shown) == 1 else f"[{', '.join(shown)}]"
            told = f"Error updating Endpoint Slices for Service {name}: {why}"
            self._recorder.event(plan.service, "Warning", "FailedToUpdateEndpointSlices", told)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    services = context.informers.of(core_v1.SERVICES)
    pods = context.informers.of(core_v1.PODS)
    nodes = context.informers.of(core_v1.NODES)
    slices = context.informers.of(discovery_v1.ENDPOINTSLICES)
    own = OwnSlices(slices, OURS)
    pods.add_index(BY_NODE, by_node)
    stores = (services.store, pods.store, nodes.store)
    reconciler = SliceReconciler(context.client, *stores, own, context.recorder(RECORDER))
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, context.clock, informers=(services, pods, nodes, slices)
    )
    behind = ServicePods(services.store, controller.enqueue)

    def node_changed(_: str, old: core_v1.Node | None, new: core_v1.Node | None) -> None:
        """The Services of its pods: they may have waited for it, or tell their zone."""
        zone = [each.metadata.labels.get(ZONE) if each is not None else "?" for each in (old, new)]
        if zone[0] != zone[1]:
            for pod in pods.store.by_index(BY_NODE, any_of(old, new).metadata.name):
                behind.pod_changed("", None, pod)
        before, after = (topology.counted(each) if each is not None else None for each in (old, new))
        if before != after:
            for service in services.store.list():
                if topology.is_asked(service):
                    controller.enqueue(key_of(service))

    controller.follow(services, gone=True)
    pods.on_change(behind.pod_changed)
    own.follow(controller.enqueue)
    nodes.on_change(node_changed)
    return controller
