"""The collections that plugins read, as informers keep them: a plugin asks for one, and it is watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.core_v1 import NAMESPACES, PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES
from setpoint.api.types.resource_v1 import DEVICECLASSES, RESOURCECLAIMS, RESOURCESLICES
from setpoint.api.types.storage_v1 import CSIDRIVERS, CSINODES, CSISTORAGECAPACITIES, STORAGECLASSES, VOLUMEATTACHMENTS
from setpoint.client.factory import InformerFactory
from setpoint.client.store import Store
from setpoint.scheduler.events import EventResource

REPORTED: Mapping[Resource[Any], EventResource] = {
    NAMESPACES: EventResource.NAMESPACE,
    PERSISTENTVOLUMECLAIMS: EventResource.CLAIM,
    PERSISTENTVOLUMES: EventResource.VOLUME,
    STORAGECLASSES: EventResource.STORAGE_CLASS,
    CSINODES: EventResource.CSI_NODE,
    CSIDRIVERS: EventResource.CSI_DRIVER,
    CSISTORAGECAPACITIES: EventResource.CSI_STORAGE_CAPACITY,
    VOLUMEATTACHMENTS: EventResource.VOLUME_ATTACHMENT,
    RESOURCECLAIMS: EventResource.RESOURCE_CLAIM,
    RESOURCESLICES: EventResource.RESOURCE_SLICE,
    DEVICECLASSES: EventResource.DEVICE_CLASS,
}


class InformerListers:
    """See the module."""

    def __init__(self, informers: InformerFactory) -> None:
        self._informers = informers
        self._asked: list[Resource[Any]] = []

    def of(self, resource: Resource[Any]) -> Store[Any]:
        if resource not in self._asked:
            self._asked.append(resource)
        return self._informers.of(resource).store

    def on_change(self, resource: Resource[Any], changed: Callable[[], None]) -> None:
        self._informers.of(resource).on_change(lambda *_: changed())

    def report(self, happened: Callable[[EventResource, Any, Any], None]) -> None:
        """Tell `happened` (what, before, after) of changes in the collections that plugins asked for."""
        for resource in self._asked:
            if resource in REPORTED:
                self._report(resource, REPORTED[resource], happened)

    def _report(self, resource: Resource[Any], what: EventResource, happened: Callable[[EventResource, Any, Any], None]) -> None:
        def changed(_: str, old: Any, new: Any) -> None:
            if new is not None or old is not None:
                happened(what, old, new)

        self._informers.of(resource).on_change(changed)
