"""Devices that have to be made ready for a claim before its pod may be bound (KEP-5007).

A device names conditions that its driver reports in the claim's `status.devices`: all of the one kind have to hold, one of the
other kind ends the attempt.
"""

from __future__ import annotations

from setpoint.api.types.resource_v1 import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim
from setpoint.kit.clock import parse_rfc3339


class BindingFailed(Exception):
    """The claim's devices will not be ready; the text is Kubernetes' own."""


def has_conditions(claim: ResourceClaim) -> bool:
    """Whether there is anything to wait for."""
    allocation = claim.status.allocation
    return allocation is not None and any(each.binding_conditions for each in allocation.devices.results)


def is_ready(claim: ResourceClaim) -> bool:
    """Raises BindingFailed."""
    allocation = claim.status.allocation
    if allocation is None:
        return False
    return all(_is_ready(claim, result) for result in allocation.devices.results if result.binding_conditions)


def _is_ready(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> bool:
    reported = _reported(claim, result)
    if reported is None:
        return False
    holding = {each.type: each for each in reported.conditions or () if each.status == "True"}
    for name in result.binding_failure_conditions:
        if name in holding:
            failed = holding[name]
            why = f'reason={failed.reason}, message="{failed.message}"'
            raise BindingFailed(f"claim {claim.metadata.name} binding failed: {why}")
    return all(name in holding for name in result.binding_conditions)


def _reported(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device)
    return next((each for each in claim.status.devices if (each.driver, each.pool, each.device) == wanted), None)


def is_late(claim: ResourceClaim, now: float, patience: float) -> bool:
    """Whether it has waited for so many seconds since it was allocated."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None or not has_conditions(claim):
        return False
    return parse_rfc3339(allocation.allocation_timestamp) + patience < now


def will_not_be_ready(claim: ResourceClaim, now: float, patience: float) -> bool:
    """Its devices failed, or took too long: others should be tried."""
    if not has_conditions(claim):
        return False
    try:
        return not is_ready(claim) and is_late(claim, now, patience)
    except BindingFailed:
        return True
