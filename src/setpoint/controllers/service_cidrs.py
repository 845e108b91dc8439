"""ServiceCIDRs: ready when they may be allocated from, kept while addresses would be left without a range.

As `pkg/controller/servicecidrs`. A range may go when others contain it, or no address is in it alone; and not before ten seconds
are over, in which every API server learns that it goes.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.networking_v1 import IPADDRESSES, SERVICECIDRS, IPAddress, ServiceCIDR
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.kit.clock import Clock, parse_rfc3339, rfc3339

NAME = "service-cidr-controller"
FINALIZER = "networking.k8s.io/service-cidr-finalizer"
MANAGED_BY = "ipaddress.kubernetes.io/managed-by"
ALLOCATOR = "ipallocator.k8s.io"
_GRACE = 10.0
_READY = ("True", "", "Kubernetes Service CIDR is ready")
_BLOCKED = (
    "False",
    "Terminating",
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
)


class Observed(Struct, frozen=True):
    """A range, all ranges, the addresses that the allocator has given out, and the time."""

    cidr: ServiceCIDR
    all: Sequence[ServiceCIDR]
    addresses: Sequence[str]
    now: float


class Plan(Struct, frozen=True):
    """The finalizers to have and the Ready condition (status, reason, message), each None for as they are."""

    cidr: ServiceCIDR
    finalizers: tuple[str, ...] | None = None
    condition: tuple[str, str, str] | None = None
    requeue_after: float | None = None


def diff(observed: Observed) -> Plan | None:
    """Pure."""
    cidr = observed.cidr
    present = tuple(cidr.metadata.finalizers or ())
    if not cidr.metadata.deletion_timestamp:
        finalizers = None if FINALIZER in present else (*present, FINALIZER)
        condition = None if _has(cidr, _READY) else _READY
        return Plan(cidr, finalizers, condition) if finalizers or condition else None
    if not may_go(observed):
        return None if _has(cidr, _BLOCKED) else Plan(cidr, condition=_BLOCKED)
    left = parse_rfc3339(cidr.metadata.deletion_timestamp) + _GRACE - observed.now
    if left > 0:
        return Plan(cidr, requeue_after=left)
    return Plan(cidr, tuple(each for each in present if each != FINALIZER)) if FINALIZER in present else None


def _has(cidr: ServiceCIDR, wanted: tuple[str, str, str]) -> bool:
    ready = next((each for each in cidr.status.conditions if each.type == "Ready"), None)
    return ready is not None and (ready.status, ready.reason, ready.message) == wanted


def may_go(observed: Observed) -> bool:
    """Whether no address would be left without a range."""
    others = [each for each in observed.all if each.metadata.name != observed.cidr.metadata.name]
    rest = [network for each in others for network in networks(each)]
    own = networks(observed.cidr)
    if all(any(_within(network, other) for other in rest) for network in own):
        return True
    for text in observed.addresses:
        address = ipaddress.ip_address(text)
        if any(address in network for network in own) and not any(address in network for network in rest):
            return False
    return True


def networks(cidr: ServiceCIDR) -> list[Any]:
    return [ipaddress.ip_network(text) for text in cidr.spec.cidrs]


def _within(network: Any, other: Any) -> bool:
    return bool(network.version == other.version and network.subnet_of(other))


class ServiceCIDRReconciler:
    """Keys are ranges."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        cidrs: Store[ServiceCIDR],
        addresses: Store[IPAddress],
    ) -> None:
        self._client = client
        self._clock = clock
        self._cidrs = cidrs
        self._addresses = addresses

    def observe(self, name: str) -> Observed | None:
        cidr = self._cidrs.get(name)
        if cidr is None:
            return None
        given: list[str] = []
        if cidr.metadata.deletion_timestamp:
            found = self._addresses.list()
            given = [each.metadata.name for each in found if (each.metadata.labels or {}).get(MANAGED_BY) == ALLOCATOR]
        return Observed(cidr, self._cidrs.list(), given, self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        name = plan.cidr.metadata.name
        try:
            if plan.finalizers is not None:
                version = {"resourceVersion": plan.cidr.metadata.resource_version}
                await self._client.patch(SERVICECIDRS, name, {"metadata": {**version, "finalizers": list(plan.finalizers)}})
            if plan.condition is not None:
                await self._tell(name, plan.condition)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return Result(plan.requeue_after)

    async def _tell(self, name: str, condition: tuple[str, str, str]) -> None:
        status, reason, message = condition
        ready = {
            "type": "Ready",
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": rfc3339(self._clock.now()),
        }
        body = {"metadata": {"name": name}, "status": {"conditions": [ready]}}
        await self._client.apply(SERVICECIDRS, body, force=True, subresource="status", manager=NAME)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    cidrs, addresses = context.informers.of(SERVICECIDRS), context.informers.of(IPADDRESSES)
    reconciler = ServiceCIDRReconciler(context.client, context.clock, cidrs.store, addresses.store)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(cidrs, addresses))

    def cidr_changed(_: str, old: ServiceCIDR | None, cidr: ServiceCIDR | None) -> None:
        """Ranges that overlap depend on each other."""
        for each in (old, cidr):
            if each is not None:
                mine = networks(each)
                for other in cidrs.store.list():
                    if any(a.overlaps(b) for a in mine for b in networks(other) if a.version == b.version):
                        controller.enqueue(other.metadata.name)

    def address_changed(_: str, __: IPAddress | None, address: IPAddress | None) -> None:
        if address is None:
            for each in cidrs.store.list():
                if each.metadata.deletion_timestamp:
                    controller.enqueue(each.metadata.name)

    cidrs.on_change(cidr_changed)
    addresses.on_change(address_changed)
    return controller
