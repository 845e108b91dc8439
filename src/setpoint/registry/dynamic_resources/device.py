"""One device of a ResourceSlice: attributes, capacity, taints, where it is.

Source: `pkg/apis/resource/validation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required, too_long, too_many
from setpoint.registry import go_form
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.binding_conditions import validate_binding_conditions
from setpoint.registry.dynamic_resources.capacity import validate_policy
from setpoint.registry.dynamic_resources.collections import each, each_once
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain
from setpoint.registry.pod.validation.affinity import validate_node_selector

_MAX_ATTRIBUTES = 32
_MAX_VALUES = 48
_MAX_TAINTS = 16
_MAX_COUNTERS = 2
_MAX_NAMED_COUNTERS = 32
_LONGEST_VALUE = 64  # bytes
_VALUES = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_PLACES = ("nodeName", "nodeSelector", "allNodes")
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the"
    " ResourceSlice spec"
)
_NO_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice"
    " spec"
)
_IDENTIFIER = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
#: semver.org 2.0.0
_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    rf"(-{_IDENTIFIER}(\.{_IDENTIFIER})*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)

Device = Mapping[str, Any]


def validate_device(path: str, device: Device, *, per_device: bool) -> Errors:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    errors = dns_label(f"{path}.name", device.get("name", ""))
    total = len(attributes) + len(capacity)
    if total > _MAX_ATTRIBUTES:
        why = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        errors.append(invalid(path, total, why))
    values = sum(map(_count_values, attributes.values()))
    if values > _MAX_VALUES:
        errors.append(invalid(path, values, f"the total number of attribute values must not exceed {_MAX_VALUES}"))
    for name, attribute in sorted(attributes.items()):
        errors += words.qualified_name(f"{path}.attributes", name) + _attribute(f"{path}.attributes[{name}]", attribute)
    for name, amount in sorted(capacity.items()):
        errors += words.qualified_name(f"{path}.capacity", name)
        policy, here = amount.get("requestPolicy"), f"{path}.capacity[{name}].requestPolicy"
        if policy is not None and device.get("allowMultipleAllocations"):
            errors += validate_policy(here, amount.get("value", 0), policy)
        elif policy is not None:
            errors.append(forbidden(here, "allowMultipleAllocations must be true"))
    errors += each(f"{path}.taints", device.get("taints") or (), _taint, _MAX_TAINTS)
    consumed = device.get("consumesCounters") or ()
    errors += each_once(f"{path}.consumesCounters", consumed, _consumption, lambda one: one.get("counterSet", ""), _MAX_COUNTERS)
    return errors + _place(path, device, per_device=per_device) + validate_binding_conditions(path, device)


def _count_values(attribute: Device) -> int:
    return sum(len(attribute.get(field) or ()) for field in ("bools", "ints", "strings", "versions")) or 1


def _attribute(path: str, attribute: Device) -> Errors:
    given = [field for field in _VALUES if attribute.get(field) is not None]
    errors: Errors = []
    for field in ("string", "version"):
        if field in given:
            errors += _text(f"{path}.{field}", attribute[field], version=field == "version")
    for field in ("bools", "ints", "strings", "versions"):
        if field in given and not attribute[field]:
            errors.append(invalid(f"{path}.{field}", attribute[field], "must not be empty if specified"))
    for field in ("strings", "versions"):
        for i, value in enumerate(attribute.get(field) or ()):
            errors += _text(f"{path}.{field}[{i}]", value, version=field == "versions")
    if len(given) != 1:
        shown = go_form.of(attribute, "DeviceAttribute") if given else ""
        errors.append(invalid(path, shown, "exactly one value must be specified"))
    return errors


def _text(path: str, value: str, *, version: bool) -> Errors:
    errors: Errors = []
    if version and not _VERSION.fullmatch(value):
        errors.append(invalid(path, value, "must be a string compatible with semver.org spec 2.0.0"))
    return [*errors, too_long(path, _LONGEST_VALUE)] if len(value.encode()) > _LONGEST_VALUE else errors


def _taint(path: str, taint: Device) -> Errors:
    key, value, effect = (taint.get(field, "") for field in ("key", "value", "effect"))
    errors = complain(f"{path}.key", key, names.label_key(key)) + complain(f"{path}.value", value, names.label_value(value))
    if not effect:
        return [*errors, required(f"{path}.effect")]
    return errors if effect in _EFFECTS else [*errors, not_supported(f"{path}.effect", effect, _EFFECTS)]


def _consumption(path: str, consumption: Device) -> Errors:
    name = consumption.get("counterSet", "")
    errors = dns_label(f"{path}.counterSet", name) if name else [required(f"{path}.counterSet")]
    return errors + validate_counters(f"{path}.counters", consumption.get("counters") or {})


def validate_counters(path: str, counters: Mapping[str, Any]) -> Errors:
    """Counters of a set, or as much of them as a device uses up."""
    if not counters:
        return [required(path)]
    if len(counters) > _MAX_NAMED_COUNTERS:
        return [too_many(path, len(counters), _MAX_NAMED_COUNTERS)]
    return [error for name in sorted(counters) for error in dns_label(path, name)]


def _place(path: str, device: Device, *, per_device: bool) -> Errors:
    given = [field for field in _PLACES if device.get(field) is not None]
    if not per_device:
        return [invalid(path, None, _NO_PLACE)] if given else []
    errors: Errors = []
    if device.get("nodeName") == "":
        errors.append(invalid(f"{path}.nodeName", "", "must not be empty"))
    elif "nodeName" in given:
        errors += dns_subdomain(f"{path}.nodeName", device["nodeName"])
    if "nodeSelector" in given:
        errors += validate_node_selector(f"{path}.nodeSelector", device["nodeSelector"])
    if device.get("allNodes") is False:
        errors.append(invalid(f"{path}.allNodes", False, "must be either unset or set to true"))
    places = [f"`{field}`" for field in given if device.get(field) not in ("", False)]
    if not places:
        errors.append(required(path, _ONE_PLACE))
    elif len(places) > 1:
        errors.append(invalid(path, f"{{{', '.join(places)}}}", _ONE_PLACE))
    return errors
