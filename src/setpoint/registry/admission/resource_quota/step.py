"""The admission step: it charges quotas before the object is stored.

What is charged and then not stored after all stays charged until the quota controller counts anew, as in Kubernetes.
Source: apiserver `pkg/admission/plugin/resourcequota/controller.go` (CheckRequest).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from setpoint.api.machinery import quantity, quota
from setpoint.api.machinery.quota import Amounts
from setpoint.api.machinery.status import StatusError
from setpoint.kit.clock import Clock
from setpoint.registry.admission.chain import BaseStep, refuse
from setpoint.registry.admission.reader import Reader
from setpoint.registry.admission.request import AdmissionRequest

_ATTEMPTS = 20
_UPDATED = {"pods", "services", "persistentvolumeclaims"}

Quota = Mapping[str, Any]


class Ledger(Protocol):
    """Where charges are written."""

    async def replace(self, group_resource: str, namespace: str, name: str, obj: Mapping[str, Any]) -> bool:
        """Store the object in place of the version that its resourceVersion names; False if that is not the present one."""


class _Asked(Struct, eq=False):
    """A write that waits for its charge: which quotas (by uid) carry it already, and what became of it."""

    request: AdmissionRequest
    charged: set[str] = field(default_factory=set)
    decided: bool = False
    refusal: StatusError | None = None

    def decide(self, refusal: StatusError | None = None) -> None:
        self.decided, self.refusal = True, refusal


class ResourceQuota(BaseStep):
    """Writes of one namespace that come at one time are charged together, in the order in which they came, with one write.

    A quota that somebody else has written in between is read again.
    """

    def __init__(self, reader: Reader, ledger: Ledger, clock: Clock) -> None:
        self._reader = reader
        self._ledger = ledger
        self._clock = clock
        self._waiting: dict[str, list[_Asked]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def concerns(self, operation: str, group_resource: str, subresource: str) -> bool:
        if group_resource in quota.UNCOUNTED:
            return False
        if subresource:
            return (group_resource, operation, subresource) == ("pods", "UPDATE", "resize")
        return operation == "CREATE" or (operation == "UPDATE" and group_resource in _UPDATED)

    async def validate(self, request: AdmissionRequest) -> None:
        namespace = request.namespace
        if request.obj is None or not namespace or request.resource.virtual or _is_plain_update(request):
            return
        quotas = await self._reader.list("resourcequotas", namespace)
        if not self._charges(request, quotas) or request.context.dry_run:
            return
        asked = _Asked(request)
        waiting = self._waiting.setdefault(namespace, [])
        waiting.append(asked)
        try:
            async with self._locks.setdefault(namespace, asyncio.Lock()):
                if not asked.decided:
                    await self._settle(namespace, asked, waiting)
        finally:
            waiting.remove(asked)
            if not waiting:  # nobody holds the lock, nor waits for it
                del self._waiting[namespace], self._locks[namespace]
        if asked.refusal is not None:
            raise asked.refusal

    async def _settle(self, namespace: str, asked: _Asked, waiting: Sequence[_Asked]) -> None:
        """Decide on `asked`, and on whatever waits by then."""
        for _ in range(_ATTEMPTS):
            quotas = await self._reader.list("resourcequotas", namespace)
            batch = [each for each in waiting if not each.decided]
            await self._charge(namespace, {found["metadata"]["uid"]: found for found in quotas}, batch)
            if asked.decided:
                return
        asked.decide(refuse(asked.request, "unable to charge the quotas of the namespace: they change too fast"))

    async def _charge(self, namespace: str, quotas: dict[str, Quota], batch: Sequence[_Asked]) -> None:
        """Write the charges of all that fit; those stay undecided for whose quotas another writer was faster."""
        bearing: dict[str, list[_Asked]] = {}
        for each in batch:
            try:
                charges = self._charges(each.request, [found for uid, found in quotas.items() if uid not in each.charged])
            except StatusError as refusal:
                each.decide(refusal)
                continue
            for found, used in charges:
                uid = found["metadata"]["uid"]
                status = {**found["status"], "used": {name: str(value) for name, value in used.items()}}
                quotas[uid] = {**found, "status": status}
                bearing.setdefault(uid, []).append(each)
        late: set[int] = set()
        for uid, bearers in bearing.items():
            if await self._ledger.replace("resourcequotas", namespace, quotas[uid]["metadata"]["name"], quotas[uid]):
                for each in bearers:
                    each.charged.add(uid)
            else:
                late |= {id(each) for each in bearers}
        for each in batch:
            if not each.decided and id(each) not in late:
                each.decide()

    def _charges(self, request: AdmissionRequest, quotas: Sequence[Quota]) -> list[tuple[Quota, Amounts]]:
        """The quotas that the write is charged to, each with what is used then. Raises 403."""
        resource, obj = request.resource.group_resource, request.obj or {}
        covering = [found for found in quotas if self._covers(request, found, resource, obj)]
        if not covering:
            return []
        delta = self._delta(request, resource, obj)
        charges = []
        for found in covering:
            hard, used = _status(found, "hard"), _status(found, "used")
            asked = {name: value for name, value in delta.items() if name in hard}
            total = quota.add(used, asked)
            exceeded = sorted(name for name in asked if total[name] > hard[name])
            if exceeded:
                parts = (("requested", asked), ("used", used), ("limited", hard))
                listed = ", ".join(f"{word}: {_printed(values, exceeded)}" for word, values in parts)
                raise refuse(request, f"exceeded quota: {found['metadata']['name']}, {listed}")
            if asked:
                charges.append((found, total))
        return charges

    def _covers(self, request: AdmissionRequest, found: Quota, resource: str, obj: Mapping[str, Any]) -> bool:
        """Whether the quota counts the object; raises 403 where it demands what the object does not say."""
        names = quota.concerned(resource, _said(found, "hard"))
        if not names or not quota.in_scope(found.get("spec") or {}, resource, obj):
            return False
        own = found["metadata"]["name"]
        if resource == "pods" and (missing := quota.undemanded(names, obj)):
            raise refuse(request, f"failed quota: {own}: must specify {missing}")
        if not _said(found, "used").keys() >= set(names):
            raise refuse(request, f"status unknown for quota: {own}, resources: {','.join(sorted(names))}")
        return True

    def _delta(self, request: AdmissionRequest, resource: str, obj: Mapping[str, Any]) -> Amounts:
        now = self._clock.now()
        usage = quota.usage(resource, obj, now)
        if negative := sorted(name for name, value in usage.items() if value.nanos < 0):
            raise refuse(request, f"quota usage is negative for resource(s): {','.join(negative)}")
        if request.operation == "UPDATE" and request.old is not None:
            before = quota.usage(resource, request.old, now)
            usage = {name: value - before[name] if name in before else value for name, value in usage.items()}
        return {name: value for name, value in usage.items() if value.nanos > 0}


def _is_plain_update(request: AdmissionRequest) -> bool:
    """Of a pod that stays in its scope: resources change by `resize` alone."""
    if request.operation != "UPDATE" or request.subresource or request.resource.group_resource != "pods":
        return False
    return quota.is_terminating(request.obj or {}) == quota.is_terminating(request.old or {})


def _said(found: Quota, side: str) -> Mapping[str, Any]:
    """A quota's amounts as they are written: nearly every write needs no more than their names."""
    return (found.get("status") or {}).get(side) or {}


def _status(found: Quota, side: str) -> Amounts:
    return {name: quantity.parse(str(value)) for name, value in _said(found, side).items()}


def _printed(values: Amounts, chosen: Iterable[str]) -> str:
    return ",".join(f"{name}={values.get(name, quantity.ZERO)}" for name in chosen)
