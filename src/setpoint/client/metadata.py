"""PartialObjectMetadata: any object's metadata and nothing else, as the server gives it to those who ask for it.

The garbage collector and the namespace controller watch every resource there is; they need owners and finalizers only.
Fields that no metadata client reads (managedFields above all) are left out of the Struct, so that decoding skips them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from setpoint.api.machinery.resource import Resource

ACCEPT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
ACCEPT_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class OwnerReference(msgspec.Struct, frozen=True, rename="camel"):
    """`metav1.OwnerReference`."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The part of `metav1.ObjectMeta` that kind-blind controllers read."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class PartialObjectMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """An object of which only the metadata is known."""

    metadata: ObjectMeta = ObjectMeta()
    kind: str = ""
    api_version: str = ""


def metadata_only(resource: Resource[Any]) -> Resource[PartialObjectMetadata]:
    """The same resource, read as metadata only: works for `get`, `list`, `watch` and informers."""
    return Resource(resource.group, resource.version, resource.plural, resource.kind, resource.namespaced, PartialObjectMetadata)
