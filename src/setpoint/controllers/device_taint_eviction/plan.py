"""When a pod has to leave its devices. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.resource_v1 import (
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceToleration,
    ResourceClaim,
    ResourceSlice,
)
from setpoint.kit.clock import parse_rfc3339

NO_EXECUTE = "NoExecute"
Device = tuple[str, str, str]
"""Driver, pool, name."""


class Observed(Struct, frozen=True):
    """A pod, the claims that are reserved for it, and the NoExecute taints of devices.

    `due` is when it was last found that it has to go, None for never.
    """

    pod: Pod
    claims: Sequence[ResourceClaim]
    taints: Mapping[Device, Sequence[DeviceTaint]]
    due: float | None
    now: float


class Plan(Struct, frozen=True):
    """End the pod at `due`; None: it may stay after all."""

    pod: Pod
    due: float | None


def tainted(slices: Iterable[ResourceSlice]) -> dict[Device, Sequence[DeviceTaint]]:
    """The NoExecute taints of devices; of a pool only its newest generation counts."""
    newest: dict[tuple[str, str], int] = {}
    known = list(slices)
    for each in known:
        pool = each.spec.driver, each.spec.pool.name
        newest[pool] = max(newest.get(pool, 0), each.spec.pool.generation)
    found: dict[Device, Sequence[DeviceTaint]] = {}
    for each in known:
        driver, pool_name = each.spec.driver, each.spec.pool.name
        if each.spec.pool.generation == newest[driver, pool_name]:
            for device in each.spec.devices:
                taints = [taint for taint in device.taints if taint.effect == NO_EXECUTE]
                if taints:
                    found[driver, pool_name, device.name] = taints
    return found


def diff(observed: Observed) -> Plan | None:
    """End it now or later, or let it stay; None for nothing new."""
    pod = observed.pod
    if pod.metadata.deletion_timestamp or not pod.spec.node_name:
        return None
    due = min(_moments(observed), default=None)
    if due is None:
        return Plan(pod, None) if observed.due is not None else None
    return Plan(pod, due) if due != observed.due or due <= observed.now else None


def _moments(observed: Observed) -> Iterable[float]:
    for claim in observed.claims:
        allocation = claim.status.allocation
        for result in allocation.devices.results if allocation is not None else ():
            for taint in observed.taints.get((result.driver, result.pool, result.device), ()):
                since = parse_rfc3339(taint.time_added) if taint.time_added else observed.now
                seconds = _tolerated_for(taint, result)
                if seconds is not None:
                    yield since + seconds


def _tolerated_for(taint: DeviceTaint, result: DeviceRequestAllocationResult) -> float | None:
    """Seconds, 0 for not at all, None for ever."""
    tolerating = [each for each in result.tolerations if tolerates(each, taint)]
    if not tolerating:
        return 0.0
    limits = [max(0.0, float(each.toleration_seconds)) for each in tolerating if each.toleration_seconds is not None]
    return min(limits) if limits else None


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or (bool(toleration.key) and toleration.value == taint.value)
