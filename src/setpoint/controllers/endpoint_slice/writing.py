"""Writing slices: whoever owns them, in one way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types import discovery_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.owners import controller_reference
from setpoint.controllers.endpoint_slice.packing import Draft, Slice
from setpoint.controllers.freshness import version
from setpoint.controllers.refusals import is_namespace_terminating


class Owner(Struct, frozen=True):
    """Whose the slices are, and what is written into the metadata of each."""

    obj: Any
    resource: Resource[Any]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


async def write(client: ClientProtocol, owner: Owner, drafts: Iterable[Draft], delete: Iterable[Slice]) -> int:
    """Make and change slices, then delete what is not needed: an address is rather there twice than not at all.

    Returns the version that a cache must have reached to know what was made, 0 for any.
    """
    newest = 0
    for draft in drafts:
        if draft.former is None:
            newest = max(newest, await _create(client, owner, draft))
        else:
            await _update(client, owner, draft, draft.former)
    for each in delete:
        meta = each.metadata
        try:
            await client.delete(discovery_v1.ENDPOINTSLICES, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
    return newest


def _contents(draft: Draft) -> dict[str, Any]:
    return {"endpoints": msgspec.to_builtins(draft.endpoints), "ports": [_port(port) for port in draft.ports]}


def _port(port: discovery_v1.EndpointPort) -> dict[str, Any]:
    return {"name": port.name or "", **msgspec.to_builtins(port)}


async def _create(client: ClientProtocol, owner: Owner, draft: Draft) -> int:
    meta = owner.obj.metadata
    metadata: dict[str, Any] = {
        "generateName": f"{meta.name}-",
        "labels": dict(owner.labels),
        "ownerReferences": [controller_reference(owner.obj, owner.resource)],
    }
    if owner.annotations:
        metadata["annotations"] = dict(owner.annotations)
    body = {"metadata": metadata, "addressType": draft.address_type, **_contents(draft)}
    try:
        made = await client.create(discovery_v1.ENDPOINTSLICES, body, meta.namespace)
    except StatusError as error:
        if not is_namespace_terminating(error):
            raise
        return 0
    return version(made.metadata.resource_version)


async def _update(client: ClientProtocol, owner: Owner, draft: Draft, former: Slice) -> None:
    meta = former.metadata
    metadata = {
        "resourceVersion": meta.resource_version,
        "labels": {**dict.fromkeys(meta.labels), **owner.labels},
        "annotations": {**dict.fromkeys(meta.annotations), **owner.annotations},
    }
    patch = {"metadata": metadata, **_contents(draft)}
    await client.patch(discovery_v1.ENDPOINTSLICES, meta.name, patch, meta.namespace)
