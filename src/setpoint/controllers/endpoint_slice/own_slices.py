"""The slices that one manager makes, by what they are made for: how they are found, and what a cache knows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from setpoint.api.types import discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.informer import Informer
from setpoint.client.objects import key, key_of
from setpoint.controllers.endpoint_slice import writing
from setpoint.controllers.endpoint_slice.packing import Draft, Slice
from setpoint.controllers.freshness import version

SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_BY_SERVICE = "service"


class OwnSlices:
    """Of the manager that the label MANAGED_BY names; keys are those of Services, or of their Endpoints."""

    def __init__(self, informer: Informer[discovery_v1.EndpointSlice], manager: str) -> None:
        informer.add_index(_BY_SERVICE, _by_service)
        self._informer = informer
        self._manager = manager
        self._written: dict[str, int] = {}

    def of(self, service: str) -> list[Slice]:
        """Those that stay."""
        found = self._informer.store.by_index(_BY_SERVICE, f"{self._manager} {service}")
        return [each for each in found if not each.metadata.deletion_timestamp]

    def is_behind(self, service: str) -> bool:
        """Whether the cache does not know yet of all that was made: a slice that it misses would be made twice."""
        if version(self._informer.resource_version) < self._written.get(service, 0):
            return True
        self.forget(service)
        return False

    def forget(self, service: str) -> None:
        self._written.pop(service, None)

    async def write(self, client: ClientProtocol, owner: writing.Owner, drafts: Iterable[Draft], delete: Iterable[Slice]) -> None:
        """Make, change and delete; without an owner there is only something to delete."""
        newest = await writing.write(client, owner, drafts, delete)
        if newest and owner.obj is not None:
            self._written[key_of(owner.obj)] = newest

    def follow(self, enqueue: Callable[[str], None]) -> None:
        """What somebody else does to one of them is looked at."""

        def changed(_: str, old: discovery_v1.EndpointSlice | None, new: discovery_v1.EndpointSlice | None) -> None:
            for each in (old, new):
                if each is not None and each.metadata.labels.get(MANAGED_BY) == self._manager:
                    enqueue(key(each.metadata.namespace, each.metadata.labels.get(SERVICE_NAME, "")))

        self._informer.on_change(changed)


def _by_service(each: discovery_v1.EndpointSlice) -> tuple[str, ...]:
    labels, meta = each.metadata.labels, each.metadata
    return (f"{labels.get(MANAGED_BY, '')} {key(meta.namespace, labels.get(SERVICE_NAME, ''))}",)
