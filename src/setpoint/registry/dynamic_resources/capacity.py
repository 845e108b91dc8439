"""How much of a device's capacity one claim may ask for, where several claims share the device.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.quantity import Quantity
from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.dynamic_resources.collections import each_once
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.resources import amount

_MAX_OPTIONS = 10
_UNIT = 1_000_000_000
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'

Policy = Mapping[str, Any]


def validate_policy(path: str, capacity: Any, policy: Policy) -> Errors:
    """A `requestPolicy` of a capacity of so much."""
    values, bounds, default = policy.get("validValues") or (), policy.get("validRange"), policy.get("default")
    if values and bounds is not None:
        return [forbidden(path, _ONE_POLICY)]
    if not values and bounds is None:
        return []
    kind = "validValues" if values else "validRange"
    if default is None:
        return [required(f"{path}.default", f"required when {kind} is defined")]
    if values:
        return _values(f"{path}.{kind}", amount(capacity), amount(default), [amount(value) for value in values])
    return _range(f"{path}.{kind}", amount(capacity), amount(default), bounds or {})


def _values(path: str, capacity: Quantity, default: Quantity, values: list[Quantity]) -> Errors:
    errors: Errors = [
        invalid(f"{path}[{i}]", str(value), "values must be sorted in ascending order")
        for i, value in enumerate(values)
        if i and values[i - 1].nanos > value.nanos
    ]

    def fits(here: str, value: Quantity) -> Errors:
        larger = value.nanos > capacity.nanos
        return [invalid(here, str(value), f"option is larger than capacity value: {capacity}")] if larger else []

    errors += each_once(path, values, fits, lambda value: str(_whole(value)), _MAX_OPTIONS)
    if len(values) > _MAX_OPTIONS or all(value.nanos != default.nanos for value in values):
        errors.append(invalid(path, str(default), "default value is not valid according to the requestPolicy"))
    return errors


def _range(path: str, capacity: Quantity, default: Quantity, bounds: Policy) -> Errors:
    if bounds.get("min") is None:
        return [required(f"{path}.min", "required when validRange is defined")]
    least, errors = amount(bounds["min"]), Errors()
    most = amount(bounds["max"]) if bounds.get("max") is not None else None
    if least.nanos > capacity.nanos:
        errors.append(invalid(f"{path}.min", str(least), f"min is larger than capacity value: {capacity}"))
    if default.nanos < least.nanos:
        errors.append(invalid(f"{path}.min", str(default), f"default is less than min: {least}"))
    if most is not None:
        errors += _most(f"{path}.max", capacity, default, least, most)
    if bounds.get("step") is not None:
        step = amount(bounds["step"])
        if least.nanos + step.nanos > capacity.nanos:
            added = str(amount(str((least.nanos + step.nanos) // _UNIT)))
            errors.append(invalid(f"{path}.step", str(step), f"one step {added} is larger than capacity value: {capacity}"))
        for value in (default, most):
            if value is not None and _whole(step) and (_whole(value) - _whole(least)) % _whole(step):
                why = f"value is not a multiple of a given step ({step}) from ({least})"
                errors.append(invalid(f"{path}.step", str(value), why))
    return errors


def _most(path: str, capacity: Quantity, default: Quantity, least: Quantity, most: Quantity) -> Errors:
    errors: Errors = []
    if least.nanos > most.nanos:
        errors.append(invalid(path, str(least), f"min is larger than max: {most}"))
    if most.nanos > capacity.nanos:
        errors.append(invalid(path, str(most), f"max is larger than capacity value: {capacity}"))
    if default.nanos > most.nanos:
        errors.append(invalid(path, str(default), f"default is more than max: {most}"))
    return errors


def _whole(value: Quantity) -> int:
    """As Go's `Value`, which rounds up."""
    return -(-value.nanos // _UNIT)
