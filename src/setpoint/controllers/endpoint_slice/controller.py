"""The EndpointSlice controller."""

from __future__ import annotations

from setpoint.api.types import core_v1, discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.informer import Informer, any_of
from setpoint.client.objects import key, key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.endpoint_slice import diff as decision
from setpoint.controllers.endpoint_slice import selection, writing
from setpoint.controllers.endpoint_slice.diff import MANAGED_BY, OURS, SERVICE_NAME, ZONE, Observed, Plan
from setpoint.controllers.endpoint_slice.service_pods import ServicePods
from setpoint.controllers.node_lifecycle.monitor import BY_NODE
from setpoint.controllers.node_lifecycle.pods import by_node
from setpoint.kit.clock import rfc3339

NAME = "endpointslice-controller"
BY_SERVICE = "service"


def by_service(each: discovery_v1.EndpointSlice) -> tuple[str, ...]:
    """Index function for BY_SERVICE: manager, namespace and name of the Service."""
    labels, meta = each.metadata.labels, each.metadata
    return (index_of(labels.get(MANAGED_BY, ""), key(meta.namespace, labels.get(SERVICE_NAME, ""))),)


def index_of(manager: str, service: str) -> str:
    return f"{manager} {service}"


class SliceReconciler:
    """Reads four caches; writes slices."""

    def __init__(
        self,
        client: ClientProtocol,
        services: Store[core_v1.Service],
        pods: Store[core_v1.Pod],
        nodes: Store[core_v1.Node],
        slices: Informer[discovery_v1.EndpointSlice],
    ) -> None:
        self._client = client
        self._services = services
        self._pods = pods
        self._nodes = nodes
        self._slices = slices.store
        self._written = writing.Written(slices)
        self._triggers = selection.Triggers()

    def observe(self, key: str) -> Observed | None:
        service = self._services.get(key)
        if service is None:
            self._triggers.forget(key)
            self._written.forget(key)
            return None  # its slices go with it
        if service.spec.type == "ExternalName" or not service.spec.selector:
            return None
        if self._written.is_behind(key):
            return Observed(service, (), (), {}, None, behind=True)
        pods = [pod for pod in self._pods.list(service.metadata.namespace) if selection.selects(service, pod)]
        names = {pod.spec.node_name for pod in pods}
        nodes = {name: node for name in names if (node := self._nodes.get(name)) is not None}
        zones = {name: node.metadata.labels.get(ZONE, "") for name, node in nodes.items()}
        slices = self._slices.by_index(BY_SERVICE, index_of(OURS, key))
        own = [each for each in slices if not each.metadata.deletion_timestamp]
        return Observed(service, pods, own, zones, self._triggers.changed(key, service, pods))

    def diff(self, observed: Observed) -> Plan | None:
        return decision.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.behind:
            return Result(requeue_after=1.0)
        annotations = {} if plan.trigger is None else {selection.TRIGGER: rfc3339(plan.trigger)}
        owner = writing.Owner(plan.service, core_v1.SERVICES, plan.labels, annotations)
        newest = await writing.write(self._client, owner, plan.write, plan.delete)
        self._written.note(key_of(plan.service), newest)
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    services = context.informers.of(core_v1.SERVICES)
    pods = context.informers.of(core_v1.PODS)
    nodes = context.informers.of(core_v1.NODES)
    slices = context.informers.of(discovery_v1.ENDPOINTSLICES)
    slices.add_index(BY_SERVICE, by_service)
    pods.add_index(BY_NODE, by_node)
    stores = (services.store, pods.store, nodes.store)
    reconciler = SliceReconciler(context.client, *stores, slices)
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, context.clock, informers=(services, pods, nodes, slices)
    )
    behind = ServicePods(services.store, controller.enqueue)

    def slice_changed(_: str, old: discovery_v1.EndpointSlice | None, new: discovery_v1.EndpointSlice | None) -> None:
        for each in (old, new):
            if each is not None and each.metadata.labels.get(MANAGED_BY) == OURS:
                controller.enqueue(key(each.metadata.namespace, each.metadata.labels.get(SERVICE_NAME, "")))

    def node_changed(_: str, old: core_v1.Node | None, new: core_v1.Node | None) -> None:
        """The Services of its pods: they may have waited for it, or tell their zone."""
        zone = [each.metadata.labels.get(ZONE) if each is not None else "?" for each in (old, new)]
        if zone[0] != zone[1]:
            for pod in pods.store.by_index(BY_NODE, any_of(old, new).metadata.name):
                behind.pod_changed("", None, pod)

    services.on_change(behind.service_changed)
    pods.on_change(behind.pod_changed)
    slices.on_change(slice_changed)
    nodes.on_change(node_changed)
    return controller
