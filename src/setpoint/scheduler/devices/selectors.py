"""CEL expressions that choose devices (`device.driver`, `device.attributes`, `device.capacity`).

Source: `k8s.io/dynamic-resource-allocation/cel`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.resource_v1 import Device, DeviceAttribute

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.api.machinery.cel.types import Type

COMPILED = 1024


class SelectorError(Exception):
    """An expression cannot be compiled, or says something other than yes or no of a device."""


class _Domains(dict[str, dict[str, Any]]):
    """By domain; one that the device has nothing of is empty."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, _: str) -> dict[str, Any]:
        return {}


def selects(text: str, driver: str, device: Device) -> bool:
    """Whether the expression chooses the device. Raises SelectorError."""
    outcome = _compiled(text).evaluate([_value(driver, device)])
    if outcome.error:
        raise SelectorError(f"CEL runtime error: {outcome.error}")
    if not isinstance(outcome.value, bool):
        raise SelectorError("CEL runtime error: CEL result of type bool could not be converted to bool")
    return outcome.value


@lru_cache(COMPILED)
def _compiled(text: str) -> Expression:
    from setpoint.api.machinery import cel
    from setpoint.api.machinery.cel.source import CompileError

    try:
        return cel.compile_expression(text, {"device": _device_type()})
    except CompileError as error:
        raise SelectorError(f"CEL compile error: {error}") from error


@cache
def _device_type() -> Type:
    from setpoint.api.machinery.cel.types import BOOL, DYN, STRING, ObjectScope, Type, map_of, object_type

    fields = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, Type("kubernetes.Quantity"))),
        "allowMultipleAllocations": BOOL,
    }
    return object_type(ObjectScope("kubernetes.DRADevice", fields))


def _value(driver: str, device: Device) -> dict[str, Any]:
    attributes, capacity = _Domains(), _Domains()
    for name, attribute in device.attributes.items():
        domain, identifier = _split(name, driver)
        dict.setdefault(attributes, domain, {})[identifier] = _attribute(attribute)
    for name, amount in device.capacity.items():
        domain, identifier = _split(name, driver)
        dict.setdefault(capacity, domain, {})[identifier] = parse(amount.value)
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": bool(device.allow_multiple_allocations),
    }


def _split(name: str, driver: str) -> tuple[str, str]:
    """A name without a domain is the driver's own."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(attribute: DeviceAttribute) -> Any:
    if attribute.version is not None:
        from setpoint.api.machinery.cel.functions.versions import OVERLOADS

        return OVERLOADS["string_to_semver"](attribute.version)
    return plain(attribute)


def plain(attribute: DeviceAttribute) -> bool | int | str | None:
    """The value of an attribute, a version as text: for comparing."""
    for value in (attribute.string, attribute.int_, attribute.bool_, attribute.version):
        if value is not None:
            return value
    return None
