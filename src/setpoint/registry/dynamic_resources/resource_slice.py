"""ResourceSlices: the devices that a driver has.

Source: `pkg/registry/resource/resourceslice`, `pkg/apis/resource/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, go_value, invalid, required
from setpoint.kit.clock import rfc3339
from setpoint.registry import go_form
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.collections import each_once
from setpoint.registry.dynamic_resources.device import validate_counters, validate_device
from setpoint.registry.fields import Errors, complain, dns_label, immutable
from setpoint.registry.pod.validation.affinity import validate_node_selector
from setpoint.registry.strategy import Context, Object, Strategy

_MAX_DEVICES = 128
_MAX_ADVANCED_DEVICES = 64
_MAX_COUNTER_SETS = 8
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_LISTS = ("bools", "ints", "strings", "versions")

Spec = Mapping[str, Any]


class ResourceSliceStrategy(Strategy):
    """Devices come and go; driver, pool and node stay."""

    delete_returns_object: ClassVar[bool] = True
    has_generation: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"spec.driver", "spec.nodeName"})

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _date_taints(obj, rfc3339(context.now))

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        _date_taints(obj, rfc3339(context.now))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, old.get("spec") or {})

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        driver = (obj.get("spec") or {}).get("driver", "")
        if driver == driver.lower():
            return []
        return [f"spec.driver: driver names should be lowercase; {go_value(driver)} contains uppercase characters"]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)

    def fields(self, obj: Object) -> Mapping[str, str]:
        spec = obj.get("spec") or {}
        return {"spec.driver": spec.get("driver", ""), "spec.nodeName": spec.get("nodeName") or ""}


def _date_taints(obj: Object, now: str) -> None:
    """A taint of a device says since when it is there."""
    spec = obj.get("spec") or {}
    devices = spec.get("devices") or []
    if all(taint.get("timeAdded") for device in devices for taint in device.get("taints") or ()):
        return
    dated = [
        {**device, "taints": [{**taint, "timeAdded": taint.get("timeAdded") or now} for taint in device["taints"]]}
        if device.get("taints")
        else device
        for device in devices
    ]
    obj["spec"] = {**spec, "devices": dated}


def _validate_spec(spec: Spec, old: Spec | None) -> Errors:
    errors = words.driver_name("spec.driver", spec.get("driver", "")) + _pool("spec.pool", spec.get("pool") or {})
    if old is not None:
        new_pool, old_pool = ((one.get("pool") or {}).get("name", "") for one in (spec, old))
        errors += immutable("spec.pool.name", new_pool, old_pool)
        errors += immutable("spec.driver", spec.get("driver", ""), old.get("driver", ""))
        errors += immutable("spec.nodeName", spec.get("nodeName"), old.get("nodeName"))
    errors += _placement(spec)
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        errors.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    limit = _MAX_ADVANCED_DEVICES if any(map(_is_advanced, devices or ())) else _MAX_DEVICES
    per_device = bool(spec.get("perDeviceNodeSelection"))
    errors += each_once(
        "spec.devices", devices or (), lambda here, one: validate_device(here, one, per_device=per_device), _name, limit
    )
    return errors + each_once("spec.sharedCounters", counters or (), _counter_set, _name, _MAX_COUNTER_SETS)


def _name(item: Spec) -> str:
    name: str = item.get("name", "")
    return name


def _pool(path: str, pool: Spec) -> Errors:
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    errors = words.pool_name(f"{path}.name", pool.get("name", ""))
    if count <= 0:
        errors.append(invalid(f"{path}.resourceSliceCount", count, "must be greater than zero"))
    if generation < 0:
        errors.append(invalid(f"{path}.generation", generation, "must be greater than or equal to zero"))
    return errors


def _placement(spec: Spec) -> Errors:
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    errors: Errors = []
    given: list[str] = []
    if node == "":
        errors.append(invalid("spec.nodeName", node, "must be either unset or set to a non-empty string"))
    elif node is not None:
        given.append("`nodeName`")
        errors += complain("spec.nodeName", node, names.dns_subdomain(node))
    if selector is not None:
        given.append("`nodeSelector`")
        errors += validate_node_selector("spec.nodeSelector", selector)
        terms = selector.get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            shown = go_form.each(terms, "NodeSelectorTerm")
            errors.append(invalid("spec.nodeSelector.nodeSelectorTerms", shown, "must have exactly one node selector term"))
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            given.append(f"`{field}`")
        elif spec.get(field) is not None:
            errors.append(invalid(f"spec.{field}", spec[field], "must be either unset or set to true"))
    if not given:
        errors.append(required("spec", _ONE_PLACE))
    elif len(given) > 1:
        errors.append(invalid("spec", f"{{{', '.join(given)}}}", f"{_ONE_PLACE}, but multiple fields are set"))
    return errors


def _is_advanced(device: Spec) -> bool:
    lists = any(attribute.get(field) is not None for attribute in (device.get("attributes") or {}).values() for field in _LISTS)
    return bool(lists or device.get("taints") or device.get("consumesCounters"))


def _counter_set(path: str, counters: Spec) -> Errors:
    name = _name(counters)
    errors = dns_label(f"{path}.name", name) if name else [required(f"{path}.name")]
    return errors + validate_counters(f"{path}.counters", counters.get("counters") or {})
