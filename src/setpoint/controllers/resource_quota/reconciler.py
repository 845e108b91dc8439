"""Observe, diff, act for one quota."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery import quantity, quota
from setpoint.api.machinery.quota import Amounts
from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PODS, RESOURCEQUOTAS, SERVICES, ResourceQuota
from setpoint.client.client import Client
from setpoint.client.controller import Result
from setpoint.client.discovery import Discovered, discover
from setpoint.client.store import Store
from setpoint.kit.clock import Clock

#: kinds of which more than the number counts
_WHOLE: Mapping[str, Resource[Any]] = {"pods": PODS, "services": SERVICES, "persistentvolumeclaims": PERSISTENTVOLUMECLAIMS}
_PAGE = 500


class Observed(Struct, frozen=True):
    """A quota as the server has it now, and what is used under each of its names."""

    quota: ResourceQuota
    used: Mapping[str, str]


class Plan(Struct, frozen=True):
    """The merge patch of the status."""

    quota: ResourceQuota
    patch: Mapping[str, Any]


class QuotaReconciler:
    """Keys are quotas. Counts with lists of the server, for caches lag behind what admission has charged."""

    def __init__(self, client: Client, clock: Clock, quotas: Store[ResourceQuota]) -> None:
        self._client = client
        self._clock = clock
        self._quotas = quotas
        self._discovered = Discovered(())

    async def observe(self, key: str) -> Observed | None:
        cached = self._quotas.get(key)
        if cached is None:
            return None
        meta = cached.metadata
        # the controller's role lets it list quotas, not get them
        found = await self._client.list(RESOURCEQUOTAS, meta.namespace, field_selector=f"metadata.name={meta.name}")
        if not found.items:
            return None
        present = found.items[0]
        return Observed(present, await self._count(present))

    async def _count(self, present: ResourceQuota) -> dict[str, str]:
        hard = list(present.spec.hard or {})
        spec = msgspec.to_builtins(present.spec)
        total: Amounts = dict.fromkeys(hard, quantity.ZERO)
        for resource in sorted({quota.counted_resource(name) for name in hard} - {""}):
            for obj in await self._list(resource, present.metadata.namespace):
                if not quota.in_scope(spec, resource, obj):
                    continue
                used = quota.usage(resource, obj, self._clock.now())
                total = quota.add(total, {name: value for name, value in used.items() if name in total})
        return {name: str(total[name]) for name in hard}

    async def _list(self, name: str, namespace: str) -> list[Any]:
        """All objects of a resource in the namespace, as plain JSON; nothing where there is no such resource."""
        resource = _WHOLE.get(name) or await self.resource(name)
        if resource is None:
            return []
        out: list[Any] = []
        token = ""
        while True:
            page = await self._client.list(resource, namespace, limit=_PAGE, continue_token=token)
            out += [msgspec.to_builtins(item) for item in page.items]
            token = page.continue_token
            if not token:
                return out

    async def resource(self, name: str) -> Resource[Any] | None:
        """A resource by its name and group; discovery is asked again where it is not known yet."""
        for attempt in range(2):
            for served in self._discovered.served:
                if served.resource.group_resource == name and served.resource.namespaced:
                    return served.resource
            if attempt == 0:
                self._discovered = await discover(self._client)
        return None

    def diff(self, observed: Observed) -> Plan | None:
        status, hard = observed.quota.status, dict(observed.quota.spec.hard or {})
        former_hard, former_used = dict(status.hard or {}), dict(status.used or {})
        if hard == former_hard and observed.used == former_used:
            return None
        body = {
            "hard": {**dict.fromkeys(former_hard), **hard} or None,
            "used": {**dict.fromkeys(former_used), **observed.used} or None,
        }
        version = observed.quota.metadata.resource_version
        return Plan(observed.quota, {"metadata": {"resourceVersion": version}, "status": body})

    async def act(self, plan: Plan) -> Result | None:
        meta = plan.quota.metadata
        try:
            await self._client.patch(RESOURCEQUOTAS, meta.name, plan.patch, meta.namespace, subresource="status")
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return None
