"""The Endpoints controller. As `pkg/controller/endpoint/endpoints_controller.go`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.informer import any_of
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.endpoint_slice import selection
from setpoint.controllers.endpoint_slice.service_pods import ServicePods
from setpoint.controllers.endpoints.subsets import Subsets, subsets, truncated
from setpoint.controllers.labelled import BY_LABEL, by_label, with_labels
from setpoint.controllers.refusals import is_namespace_terminating
from setpoint.kit.clock import rfc3339

NAME = "endpoints-controller"
RECORDER = "endpoint-controller"
MANAGED_BY, OURS = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"


class Observed(Struct, frozen=True):
    """`service` None: it is gone, and what is published of it is to go too; `deleted`: whoever wrote that.

    `pods` are those that it selects; `trigger` says since when what is published is out of date.
    """

    key: str
    service: core_v1.Service | None
    endpoints: core_v1.Endpoints | None
    pods: Sequence[core_v1.Pod] = ()
    trigger: float | None = None
    deleted: bool = False


class Plan(Struct, frozen=True):
    """`service` None: delete `former`."""

    service: core_v1.Service | None
    former: core_v1.Endpoints | None
    subsets: Subsets = ()
    over_capacity: bool = False
    trigger: float | None = None


def diff(observed: Observed) -> Plan | None:
    """What is to be published; None if it is."""
    service, former = observed.service, observed.endpoints
    if service is None:
        ours = former is not None and (observed.deleted or MANAGED_BY in former.metadata.labels)
        return Plan(None, former) if ours else None
    wanted = subsets(service, observed.pods)
    shown = truncated(wanted)
    over = shown != wanted
    plan = Plan(service, former, shown, over, observed.trigger)
    if former is None:
        return plan
    noted = former.metadata.annotations.get(OVER_CAPACITY) == "truncated"
    same = former.subsets == shown and dict(former.metadata.labels) == labels_of(service) and noted == over
    return None if same else plan


def labels_of(service: core_v1.Service) -> dict[str, str]:
    labels = {key: value for key, value in service.metadata.labels.items() if key != selection.HEADLESS}
    if selection.is_headless(service):
        labels[selection.HEADLESS] = ""
    return {**labels, MANAGED_BY: OURS}


class EndpointsReconciler:
    """Reads three caches; writes Endpoints."""

    def __init__(
        self,
        client: ClientProtocol,
        services: Store[core_v1.Service],
        pods: Store[core_v1.Pod],
        endpoints: Store[core_v1.Endpoints],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._services = services
        self._pods = pods
        self._endpoints = endpoints
        self._recorder = recorder
        self._triggers = selection.Triggers()
        self._deleted: set[str] = set()
        self._written: dict[str, str] = {}

    def is_own(self, endpoints: core_v1.Endpoints) -> bool:
        """Whether this is what was written last: what was decided before the cache knew it may have to be decided anew."""
        return self._written.get(key_of(endpoints)) == endpoints.metadata.resource_version

    def observe(self, key: str) -> Observed | None:
        service, endpoints = self._services.get(key), self._endpoints.get(key)
        if service is None:
            self._triggers.forget(key)
            self._written.pop(key, None)
            if endpoints is None:
                self._deleted.discard(key)  # what is made under that name from now on is not the Service's
            return Observed(key, None, endpoints, deleted=key in self._deleted)
        self._deleted.discard(key)
        if service.spec.type == "ExternalName" or not service.spec.selector:
            return None
        pods = with_labels(self._pods, service.metadata.namespace, service.spec.selector)
        return Observed(key, service, endpoints, pods, self._triggers.changed(key, service, pods))

    def service_deleted(self, key: str) -> None:
        """A Service takes the Endpoints of its name along, those written by hand too."""
        if key in self._endpoints:
            self._deleted.add(key)

    def diff(self, observed: Observed) -> Plan | None:
        return diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.service is None:
            await self._delete(plan.former)
        elif plan.former is None:
            await self._create(plan, plan.service)
        else:
            await self._update(plan, plan.service, plan.former)
        return None

    def _note(self, written: core_v1.Endpoints) -> None:
        self._written[key_of(written)] = written.metadata.resource_version

    async def _delete(self, former: core_v1.Endpoints | None) -> None:
        if former is None:
            return
        meta = former.metadata
        try:
            await self._client.delete(core_v1.ENDPOINTS, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        self._deleted.discard(key_of(former))

    async def _create(self, plan: Plan, service: core_v1.Service) -> None:
        meta = service.metadata
        metadata: dict[str, Any] = {"name": meta.name, "labels": labels_of(service)}
        if annotations := {key: value for key, value in _annotations(plan).items() if value is not None}:
            metadata["annotations"] = annotations
        body = {"metadata": metadata, "subsets": msgspec.to_builtins(plan.subsets)}
        try:
            self._note(await self._client.create(core_v1.ENDPOINTS, body, meta.namespace))
        except StatusError as error:
            if is_namespace_terminating(error):
                return
            if error.reason != "AlreadyExists":
                told = f"Failed to create endpoint for service {meta.namespace}/{meta.name}: {error.message}"
                self._recorder.event(service, "Warning", "FailedToCreateEndpoint", told)
            raise

    async def _update(self, plan: Plan, service: core_v1.Service, former: core_v1.Endpoints) -> None:
        meta = former.metadata
        metadata = {
            "resourceVersion": meta.resource_version,
            "labels": {**dict.fromkeys(meta.labels), **labels_of(service)},
            "annotations": _annotations(plan),
        }
        patch = {"metadata": metadata, "subsets": msgspec.to_builtins(plan.subsets) or None}
        try:
            self._note(await self._client.patch(core_v1.ENDPOINTS, meta.name, patch, meta.namespace))
        except StatusError as error:
            if error.reason not in {"NotFound", "Conflict"}:
                told = f"Failed to update endpoint {meta.namespace}/{meta.name}: {error.message}"
                self._recorder.event(former, "Warning", "FailedToUpdateEndpoint", told)
            raise


def _annotations(plan: Plan) -> dict[str, str | None]:
    """None takes one away."""
    trigger = None if plan.trigger is None else rfc3339(plan.trigger)
    return {selection.TRIGGER: trigger, OVER_CAPACITY: "truncated" if plan.over_capacity else None}


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    services = context.informers.of(core_v1.SERVICES)
    pods = context.informers.of(core_v1.PODS)
    endpoints = context.informers.of(core_v1.ENDPOINTS)
    pods.add_index(BY_LABEL, by_label)
    stores = (services.store, pods.store, endpoints.store)
    reconciler = EndpointsReconciler(context.client, *stores, context.recorder(RECORDER))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(services, pods, endpoints))
    behind = ServicePods(services.store, controller.enqueue)

    def service_changed(_: str, old: core_v1.Service | None, new: core_v1.Service | None) -> None:
        if new is None and old is not None:
            reconciler.service_deleted(key_of(old))

    services.on_change(service_changed)
    controller.follow(services, gone=True)
    pods.on_change(behind.pod_changed)

    def endpoints_changed(_: str, old: core_v1.Endpoints | None, new: core_v1.Endpoints | None) -> None:
        """What is deleted comes back, what a Service left behind goes; what somebody else wrote stays until there is a cause."""
        key = key_of(any_of(old, new))
        if new is None or key not in services.store or reconciler.is_own(new):
            controller.enqueue(key)

    endpoints.on_change(endpoints_changed)
    return controller
