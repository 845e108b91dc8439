"""What a server serves, as kind-blind controllers need it: every resource once, in its preferred version, read as metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.client.client import Client
from setpoint.client.metadata import PartialObjectMetadata


class Served(Struct, frozen=True):
    """One resource and what may be done with it."""

    resource: Resource[PartialObjectMetadata]
    verbs: frozenset[str]

    def can(self, *verbs: str) -> bool:
        return self.verbs.issuperset(verbs)


class Discovered(Struct, frozen=True):
    """`stale` names the group versions (`metrics.k8s.io/v1beta1`) whose extension server could not be asked."""

    served: tuple[Served, ...]
    stale: tuple[str, ...] = ()

    def of_kind(self, api_version: str, kind: str) -> Resource[PartialObjectMetadata] | None:
        """The resource of a group and kind; a version that is not the preferred one finds the preferred one."""
        group = api_version.rpartition("/")[0]
        for each in self.served:
            if each.resource.kind == kind and each.resource.group == group:
                return each.resource
        return None


async def discover(client: Client) -> Discovered:
    """Ask the server now; raises StatusError and TransportError."""
    groups = await client.discovery()
    return Discovered(tuple(_preferred(groups)), tuple(_stale(groups)))


def _preferred(groups: Any) -> Iterator[Served]:
    seen: set[tuple[str, str]] = set()
    for group in groups:
        name = group.get("metadata", {}).get("name", "")
        for version in group.get("versions") or ():
            for resource in version.get("resources") or ():
                identity = (name, resource["resource"])
                if identity not in seen:
                    seen.add(identity)
                    yield _served(name, version["version"], resource)


def _served(group: str, version: str, resource: Mapping[str, Any]) -> Served:
    kind = (resource.get("responseKind") or {}).get("kind", "")
    namespaced = resource.get("scope") == "Namespaced"
    view = Resource(group, version, resource["resource"], kind, namespaced, PartialObjectMetadata)
    return Served(view, frozenset(resource.get("verbs") or ()))


def _stale(groups: Any) -> Iterator[str]:
    for group in groups:
        for version in group.get("versions") or ():
            if version.get("freshness") == "Stale":
                yield f"{group['metadata']['name']}/{version['version']}"
