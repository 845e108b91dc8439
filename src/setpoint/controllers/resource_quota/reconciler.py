"""Observe, diff, act for one quota."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery import quantity, quota
from setpoint.api.machinery.quota import Amounts
from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PODS, RESOURCEQUOTAS, SERVICES, Pod, ResourceQuota
from setpoint.client.client import Client
from setpoint.client.controller import Result
from setpoint.client.discovery import Discovered, discover
from setpoint.client.informer import Informer
from setpoint.client.store import Store
from setpoint.controllers.resource_quota.pod_counts import PodCounts
from setpoint.kit.clock import Clock

_PAGE = 500
CALM = 5.0
"""Seconds after a change of a quota in which caches are not relied on: longer than what is charged takes to be written."""

LANDING = 0.1
"""Seconds between reading a quota and what it is charged for: as a rule what admission let in has been written by then."""


class Unread(Struct, frozen=True):
    """An object that is looked into only where it has changed."""

    metadata: msgspec.Raw
    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: msgspec.Raw = msgspec.Raw(b"{}")

    def read(self) -> dict[str, Any]:
        return {name: msgspec.json.decode(getattr(self, name)) for name in ("metadata", "spec", "status")}


class _Meta(Struct, frozen=True, rename="camel"):
    uid: str
    resource_version: str
    deletion_timestamp: str | None = None


_META = msgspec.json.Decoder(_Meta)


def _unread(resource: Resource[Any]) -> Resource[Unread]:
    return Resource(resource.group, resource.version, resource.plural, resource.kind, resource.namespaced, Unread)


_DEVICES = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", namespaced=True, type=Unread)
#: kinds of which more than the number counts
_WHOLE: Mapping[str, Resource[Unread]] = {
    _DEVICES.group_resource: _DEVICES,
    **{each.group_resource: _unread(each) for each in (SERVICES, PERSISTENTVOLUMECLAIMS)},
}
_UNREAD_PODS = _unread(PODS)


_Known = dict[tuple[str, str], Amounts]


class Observed(Struct, frozen=True):
    """A quota, and what is used under each of its names."""

    quota: ResourceQuota
    used: Mapping[str, str]


class Plan(Struct, frozen=True):
    """The merge patch of the status."""

    quota: ResourceQuota
    patch: Mapping[str, Any]


class QuotaReconciler:
    """Keys are quotas. A count must not miss what admission has charged for: it would be given back, and then used twice.

    A pod is charged for before it is written. So pods are counted in the informer's cache only where that has come further than
    the quota's own version, and that version is CALM seconds old: whoever was charged has written by then. Everywhere else quota
    and objects are read from the server, the objects LANDING seconds later. The count is written on condition that the quota is
    still as it was read; where it was charged meanwhile all is read again, after a moment and not after ever longer ones. What
    was charged for before, and takes longer to be written, is missed until the next count; in Kubernetes, where nothing waits,
    everything is that is being written.
    """

    def __init__(self, client: Client, clock: Clock, quotas: Store[ResourceQuota], pods: Informer[Pod]) -> None:
        self._client = client
        self._clock = clock
        self._quotas = quotas
        self._pods = pods
        self._discovered = Discovered(())
        self._known: dict[str, tuple[Any, _Known]] = {}
        self._pod_counts: dict[str, PodCounts] = {}
        self._changed: dict[str, float] = {}

    async def observe(self, key: str) -> Observed | None:
        cached = self._quotas.get(key)
        if cached is None:
            for known in (self._known, self._pod_counts, self._changed):
                known.pop(key, None)
            return None
        if self._is_calm(key, cached):
            return Observed(cached, await self._count(key, cached, calm=True))
        meta = cached.metadata
        # the controller's role lets it list quotas, not get them
        found = await self._client.list(RESOURCEQUOTAS, meta.namespace, field_selector=f"metadata.name={meta.name}")
        if found.items:
            await self._clock.sleep(LANDING)
        return Observed(found.items[0], await self._count(key, found.items[0], calm=False)) if found.items else None

    def changed(self, key: str) -> None:
        """A version of the quota has come: it may have been charged."""
        self._changed[key] = self._clock.monotonic()

    def _is_calm(self, key: str, quota: ResourceQuota) -> bool:
        """Whether every pod that this version was charged for, and that was written at all, is in the cache."""
        if self._clock.monotonic() - self._changed.get(key, math.inf) < CALM:
            return False
        return _number(self._pods.resource_version) >= _number(quota.metadata.resource_version) > 0

    async def _count(self, key: str, present: ResourceQuota, *, calm: bool) -> dict[str, str]:
        """What is used under each name, but for those that nothing is counted under.

        What one object uses is worked out once for each of its versions.
        """
        hard = list(present.spec.hard or {})
        spec = msgspec.to_builtins(present.spec)
        before = self._known.get(key)
        known = before[1] if before is not None and before[0] == spec else {}
        total: Amounts = dict.fromkeys(hard, quantity.ZERO)
        fresh: _Known = {}
        counted = {name: quota.counted_resource(name) for name in hard}
        unknown = {""}
        for resource in sorted({*counted.values()} - {""}):
            if resource == PODS.group_resource:
                total |= await self._count_pods(key, spec, present.metadata.namespace, total, calm=calm)
                continue
            items = await self._list(resource, present.metadata.namespace)
            if items is None:
                unknown.add(resource)
            for item in items or ():
                uid, version, is_going = _identity(item)
                used = known.get((uid, version))
                if used is None:
                    used = self._usage(resource, spec, _plain(item), total)
                if not is_going:  # one that is being deleted uses nothing from some moment on
                    fresh[uid, version] = used
                for name, value in used.items():
                    total[name] += value
        self._known[key] = (spec, fresh)
        return {name: str(total[name]) for name in hard if counted[name] not in unknown}

    def _usage(self, resource: str, spec: Mapping[str, Any], obj: Any, names: Amounts) -> Amounts:
        if not quota.in_scope(spec, resource, obj):
            return {}
        used = quota.usage(resource, obj, self._clock.now())
        return {name: value for name, value in used.items() if name in names}

    async def _count_pods(self, key: str, spec: Mapping[str, Any], namespace: str, names: Amounts, *, calm: bool) -> Amounts:
        pods = self._pods.store.list(namespace) if calm else await self._present_pods(namespace)
        counts = self._pod_counts.get(key)
        if counts is None or not counts.asks_for(spec, names):
            counts = self._pod_counts[key] = PodCounts(spec, names)
        return counts.total(pods, self._clock.now())

    async def _present_pods(self, namespace: str) -> list[Pod]:
        """The pods that the server has now; one that the cache has in the same version is not read a second time."""
        items = await self._pages(_UNREAD_PODS, namespace)
        cached = {pod.metadata.uid: pod for pod in self._pods.store.list(namespace)}
        found: list[Pod] = []
        for item in items:
            uid, version, _ = _identity(item)
            pod = cached.get(uid)
            if pod is None or pod.metadata.resource_version != version:
                pod = convert(item.read(), Pod)
            found.append(pod)
        return found

    async def _list(self, name: str, namespace: str) -> list[Any] | None:
        """All objects of a resource in the namespace; None where there is no such resource."""
        resource = _WHOLE.get(name) or await self.resource(name)
        return None if resource is None else await self._pages(resource, namespace)

    async def _pages(self, resource: Resource[Any], namespace: str) -> list[Any]:
        out: list[Any] = []
        token = ""
        while True:
            page = await self._client.list(resource, namespace, limit=_PAGE, continue_token=token)
            out += page.items
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
            if error.reason == "Conflict":
                return Result(requeue_after=LANDING)
            if error.reason != "NotFound":
                raise
        return None


def _number(version: str) -> int:
    """A resourceVersion as a number, by which those of built-in kinds are in order; 0 where it is none."""
    return int(version) if version.isdecimal() else 0


def _identity(obj: Any) -> tuple[str, str, bool]:
    """Uid, version, and whether it is being deleted."""
    if isinstance(obj, Unread):
        read = _META.decode(obj.metadata)
        return read.uid, read.resource_version, bool(read.deletion_timestamp)
    if isinstance(obj, Mapping):
        meta = obj["metadata"]
        return meta["uid"], meta["resourceVersion"], bool(meta.get("deletionTimestamp"))
    return obj.metadata.uid, obj.metadata.resource_version, bool(obj.metadata.deletion_timestamp)


def _plain(item: Any) -> Any:
    return item.read() if isinstance(item, Unread) else msgspec.to_builtins(item)
