"""Devices that several claims may have at a time, each a share of their capacity (KEP-5075).

    device   memory: 10Gi, in steps of 2Gi from 2Gi on, 4Gi for who does not say
    asked    5Gi        nothing        11Gi
    share    6Gi        4Gi            none: more than there is

Source: `consumable_capacity.go` of `k8s.io/dynamic-resource-allocation/structured`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from setpoint.api.machinery.quantity import BINARY_SI, NANO, Quantity, parse
from setpoint.api.types.resource_v1 import CapacityRequestPolicy, CapacityRequestPolicyRange, Device, DeviceCapacity
from setpoint.scheduler.devices.pools import DeviceKey

Share = Mapping[str, Quantity]  # by the name of the capacity


class Taken(Struct, frozen=True):
    """What other claims have: devices as a whole, and shares of devices."""

    devices: frozenset[DeviceKey] = frozenset()
    shares: Mapping[DeviceKey, tuple[Share, ...]] = {}


def share_of(device: Device, asked: Mapping[str, str]) -> Share | None:
    """What a request takes of each of the device's capacities; None if the device does not offer that."""
    if any(name not in device.capacity for name in asked):
        return None
    share = {name: _amount(capacity, asked.get(name)) for name, capacity in device.capacity.items()}
    return share if all(_is_offered(amount, device.capacity[name]) for name, amount in share.items()) else None


def has_left(device: Device, share: Share, others: Iterable[Share]) -> bool:
    """Whether the device's capacity suffices for the share beside those of `others`."""
    total = {name: amount.nanos for name, amount in share.items()}
    for other in others:
        for name, amount in other.items():
            total[name] = total.get(name, 0) + amount.nanos
    return all(amount <= parse(device.capacity[name].value).nanos for name, amount in total.items() if name in device.capacity)


def _amount(capacity: DeviceCapacity, asked: str | None) -> Quantity:
    policy = capacity.request_policy
    if asked is None:
        return parse(policy.default if policy is not None and policy.default is not None else capacity.value)
    wanted = parse(asked)
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_up(wanted, policy.valid_range, parse(policy.valid_range.min))
    return min((value for value in map(parse, policy.valid_values) if value >= wanted), default=wanted)


def _rounded_up(wanted: Quantity, valid: CapacityRequestPolicyRange, least: Quantity) -> Quantity:
    if wanted < least:
        return least
    if valid.step is None:
        return wanted
    step = parse(valid.step).value()
    steps = -(-(wanted.value() - least.value()) // step)
    return Quantity((least.value() + step * steps) * NANO, BINARY_SI)


def _is_offered(amount: Quantity, capacity: DeviceCapacity) -> bool:
    return amount <= parse(capacity.value) and (capacity.request_policy is None or _keeps(amount, capacity.request_policy))


def _keeps(amount: Quantity, policy: CapacityRequestPolicy) -> bool:
    if policy.default is not None and amount == parse(policy.default):
        return True
    valid = policy.valid_range
    if valid is None:
        return not policy.valid_values or amount in map(parse, policy.valid_values)
    if valid.max is not None and amount > parse(valid.max):
        return False
    if valid.step is None or valid.min is None:
        return True
    return (amount.value() - parse(valid.min).value()) % parse(valid.step).value() == 0
