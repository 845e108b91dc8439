"""The EndpointSlice mirroring controller."""

from __future__ import annotations

from setpoint.api.types import core_v1, discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.endpoint_slice import writing
from setpoint.controllers.endpoint_slice.own_slices import OwnSlices
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
        slices: OwnSlices,
    ) -> None:
        self._client = client
        self._endpoints = endpoints
        self._services = services
        self._slices = slices

    def observe(self, key: str) -> Observed:
        endpoints, service = self._endpoints.get(key), self._services.get(key)
        custom = service is not None and not service.spec.selector
        mirrored = endpoints is not None and custom and is_mirrored(endpoints)
        return Observed(endpoints if mirrored else None, self._slices.of(key), self._slices.is_behind(key))

    def diff(self, observed: Observed) -> Plan | None:
        return decision.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.behind:
            return Result(requeue_after=1.0)
        owner = writing.Owner(plan.endpoints, core_v1.ENDPOINTS, plan.labels, plan.annotations)
        await self._slices.write(self._client, owner, plan.write, plan.delete)
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    endpoints = context.informers.of(core_v1.ENDPOINTS)
    services = context.informers.of(core_v1.SERVICES)
    slices = context.informers.of(discovery_v1.ENDPOINTSLICES)
    own = OwnSlices(slices, OURS)
    reconciler = MirroringReconciler(context.client, endpoints.store, services.store, own)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(endpoints, services, slices))

    controller.follow(endpoints, gone=True)
    controller.follow(services, gone=True)
    own.follow(controller.enqueue)
    return controller
