"""The EndpointSlice mirroring controller."""

from __future__ import annotations

from setpoint.api.types import core_v1, discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.informer import Informer
from setpoint.client.objects import key, key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.endpoint_slice import writing
from setpoint.controllers.endpoint_slice.controller import BY_SERVICE, by_service, index_of
from setpoint.controllers.endpoint_slice.diff import MANAGED_BY, SERVICE_NAME
from setpoint.controllers.endpoint_slice_mirroring import diff as decision
from setpoint.controllers.endpoint_slice_mirroring.diff import OURS, Observed, Plan, is_mirrored

NAME = "endpointslice-mirroring-controller"


class MirroringReconciler:
    """Reads three caches; writes slices."""

    def __init__(
        self,
        client: ClientProtocol,
        endpoints: Store[core_v1.Endpoints],
        services: Store[core_v1.Service],
        slices: Informer[discovery_v1.EndpointSlice],
    ) -> None:
        self._client = client
        self._endpoints = endpoints
        self._services = services
        self._slices = slices.store
        self._written = writing.Written(slices)

    def observe(self, key: str) -> Observed:
        endpoints, service = self._endpoints.get(key), self._services.get(key)
        slices = self._slices.by_index(BY_SERVICE, index_of(OURS, key))
        own = [each for each in slices if not each.metadata.deletion_timestamp]
        custom = service is not None and not service.spec.selector
        mirrored = endpoints is not None and custom and is_mirrored(endpoints)
        return Observed(endpoints if mirrored else None, own, self._written.is_behind(key))

    def diff(self, observed: Observed) -> Plan | None:
        return decision.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.behind:
            return Result(requeue_after=1.0)
        owner = writing.Owner(plan.endpoints, core_v1.ENDPOINTS, plan.labels, plan.annotations)
        newest = await writing.write(self._client, owner, plan.write, plan.delete)
        if plan.endpoints is not None:
            self._written.note(key_of(plan.endpoints), newest)
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    endpoints = context.informers.of(core_v1.ENDPOINTS)
    services = context.informers.of(core_v1.SERVICES)
    slices = context.informers.of(discovery_v1.ENDPOINTSLICES)
    slices.add_index(BY_SERVICE, by_service)
    reconciler = MirroringReconciler(context.client, endpoints.store, services.store, slices)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(endpoints, services, slices))

    def changed(_: str, old: object, new: object) -> None:
        controller.enqueue(key_of(new if new is not None else old))

    def slice_changed(_: str, old: discovery_v1.EndpointSlice | None, new: discovery_v1.EndpointSlice | None) -> None:
        for each in (old, new):
            if each is not None and each.metadata.labels.get(MANAGED_BY) == OURS:
                controller.enqueue(key(each.metadata.namespace, each.metadata.labels.get(SERVICE_NAME, "")))

    endpoints.on_change(changed)
    services.on_change(changed)
    slices.on_change(slice_changed)
    return controller
