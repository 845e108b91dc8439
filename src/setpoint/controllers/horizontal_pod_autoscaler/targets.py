"""What is scaled: from a kind to its resource, and the `scale` subresource of one object, built in or custom."""

from __future__ import annotations

import re
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, autoscaling_v2, core_v1
from setpoint.client.client import Client
from setpoint.client.discovery import Discovered, discover
from setpoint.controllers.horizontal_pod_autoscaler.plan import Failure, Target
from setpoint.kit.clock import Clock

_KNOWN: dict[tuple[str, str], Resource[Any]] = {
    (each.group, each.kind): each
    for each in (apps_v1.DEPLOYMENTS, apps_v1.REPLICASETS, apps_v1.STATEFULSETS, core_v1.REPLICATIONCONTROLLERS)
}
_FRESH = 5.0
"""Seconds for which a kind that discovery does not know is not asked for again."""
_KEPT = 30.0


class UnknownKind(Exception):
    """No resource has this kind; the message is Kubernetes'."""


class Mapper:
    """Which resources are served, asked when it matters and kept for a while."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._found: Discovered | None = None
        self._asked = 0.0

    async def resource(self, api_version: str, kind: str) -> Resource[Any]:
        """The preferred resource of a kind. Raises UnknownKind."""
        if api_version.count("/") > 1:
            raise UnknownKind(f"unexpected GroupVersion string: {api_version}")
        group = api_version.rpartition("/")[0]
        if (group, kind) in _KNOWN:
            return _KNOWN[group, kind]
        for seconds in (_KEPT, _FRESH):
            found = (await self._discovered(seconds)).of_kind(api_version, kind)
            if found is not None:
                return found
        raise UnknownKind(f'no matches for kind "{kind}" in group "{group}"')

    async def versions(self, group: str) -> frozenset[str]:
        """The versions of a group with anything served in them."""
        groups = await self._client.discovery()
        found = (each for each in groups if (each.get("metadata") or {}).get("name") == group)
        return frozenset(version["version"] for each in found for version in each.get("versions") or ())

    async def _discovered(self, seconds: float) -> Discovered:
        """What is served, not older than that."""
        if self._found is None or self._clock.monotonic() - self._asked > seconds:
            self._found, self._asked = await discover(self._client), self._clock.monotonic()
        return self._found


async def read(
    client: Client, mapper: Mapper, reference: autoscaling_v2.CrossVersionObjectReference, namespace: str
) -> Target | Failure:
    """The scale of what is referred to. TransportErrors are the caller's."""
    try:
        resource = await mapper.resource(reference.api_version, reference.kind)
        path = resource.path(namespace, reference.name, "scale")
        body = await client.raw("GET", path)
    except (UnknownKind, StatusError) as error:
        return Failure(str(error))
    spec, status = body.get("spec") or {}, body.get("status") or {}
    return Target(path, body, spec.get("replicas") or 0, status.get("replicas") or 0, _selector(status))


def _selector(status: Any) -> str:
    """The old versions of Scale have the labels as a map."""
    selector = status.get("selector") or ""
    if isinstance(selector, dict):
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    return re.sub(r"\s+$", "", str(selector))


async def write(client: Client, target: Target, replicas: int) -> None:
    """Have that many replicas; refused with a conflict if the scale is no longer what was read."""
    spec = {**(target.body.get("spec") or {}), "replicas": replicas}
    await client.raw("PUT", target.path, body={**target.body, "spec": spec})
