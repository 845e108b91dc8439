"""Keeps the FlowSchemas and PriorityLevelConfigurations that a server suggests, and those that must be there, as they should be.

Every minute: what is absent is made again; a spec that differs is set again, unless its annotation
`apf.kubernetes.io/autoupdate-spec` says that it is the user's (without one: if it was changed since it was made).
Source: apiserver `util/flowcontrol/ensurer`, `pkg/registry/flowcontrol/rest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.app import first_objects
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.registry.table import minors

log = logs.get_logger("app.flow_control")

_GROUP = "flowcontrol.apiserver.k8s.io"
SCHEMAS: Resource[Any] = Resource(_GROUP, "v1", "flowschemas", "FlowSchema", namespaced=False, type=dict)
LEVELS: Resource[Any] = Resource(
    _GROUP, "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", namespaced=False, type=dict
)
_MANDATORY = ("exempt", "catch-all")
_ANNOTATION = "apf.kubernetes.io/autoupdate-spec"
_PERIOD = 60.0  # seconds


async def keep(client: ClientProtocol, clock: Clock, minor: str) -> None:
    """Look after them, for ever."""
    while True:
        await clock.sleep(_PERIOD)
        await ensure(client, minor)


async def ensure(client: ClientProtocol, minor: str) -> None:
    """Look after them once; what cannot be done now is left for the next time."""
    served = minors.of_minor(minor)
    for resource, bodies in ((LEVELS, first_objects.priority_levels()), (SCHEMAS, first_objects.flow_schemas())):
        for wanted, body in first_objects.as_served(resource, bodies, served):
            try:
                await _ensure(client, wanted, body)
            except (StatusError, TransportError) as error:
                log.warning("an object of flow control is not as it should be", name=body["metadata"]["name"], error=str(error))


async def _ensure(client: ClientProtocol, resource: Resource[Any], body: Mapping[str, Any]) -> None:
    name = body["metadata"]["name"]
    try:
        found: Mapping[str, Any] = await client.get(resource, name)
    except StatusError as error:
        if error.code != 404:
            raise
        await client.create(resource, body)
        return
    if _is_ours(found, name) and not _holds(found.get("spec"), body["spec"]):
        await client.update(resource, {**found, "spec": body["spec"]})


def _is_ours(found: Mapping[str, Any], name: str) -> bool:
    if name in _MANDATORY:  # validation lets nobody change what matters in these
        return False
    word = (found["metadata"].get("annotations") or {}).get(_ANNOTATION)
    if word is None:
        return int(found["metadata"].get("generation") or 0) == 1
    return str(word).lower() in ("1", "t", "true")


def _holds(found: Any, wanted: Any) -> bool:
    """Whether what is there is what is wanted, but for defaults."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_holds(found.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(_holds(one, other) for one, other in zip(found, wanted, strict=True))
        )
    return bool(found == wanted or (found is None and wanted in (0, "", False)))
