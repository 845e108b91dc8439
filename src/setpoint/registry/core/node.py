"""Nodes.

Source: `pkg/registry/core/node`, `pkg/apis/core/validation/validation.go` (ValidateNode, ValidateNodeUpdate).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, go_value, internal, invalid, required
from setpoint.registry import formats, go_form
from setpoint.registry.address_warnings import cidr_warnings
from setpoint.registry.fields import Errors, complain, qualified_name
from setpoint.registry.pod.validation.annotations import json_annotation
from setpoint.registry.pod.validation.resources import resource_amount
from setpoint.registry.pod.validation.tolerations import validate_effect
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy, keep_field
from setpoint.registry.strategy import Context, Heartbeat, Object

_TAINTS = "scheduler.alpha.kubernetes.io/taints"
_AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")


class NodeStrategy(SpecStatusStrategy):
    """The main endpoint; status is kept on create, for nodes register themselves with it."""

    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"spec.unschedulable"})

    def default(self, obj: Object) -> None:
        _default_ranges(obj.setdefault("spec", {}))
        status = obj.get("status") or {}
        for field in ("capacity", "allocatable"):
            if status.get(field):
                status[field] = {name: quantity.canonical_milli(value) for name, value in status[field].items()}
        if status.get("capacity") and status.get("allocatable") is None:
            status["allocatable"] = dict(status["capacity"])

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        """Status stays; what configured kubelets from config maps is gone."""
        (obj.get("spec") or {}).pop("configSource", None)
        (obj.get("status") or {}).pop("config", None)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "status")
        if not (old.get("spec") or {}).get("configSource"):
            (obj.get("spec") or {}).pop("configSource", None)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_node(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_node(obj) + validate_node_update(obj, old)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return _warnings(obj.get("spec") or {})

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return _warnings(obj.get("spec") or {})

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"spec.unschedulable": "true" if (obj.get("spec") or {}).get("unschedulable") else "false"}


def _default_ranges(spec: Object) -> None:
    """`podCIDR` is the first of `podCIDRs`; where they differ the old single field is believed."""
    single, many = spec.get("podCIDR"), spec.get("podCIDRs")
    if single and (not many or many[0] != single):
        spec["podCIDRs"] = [single]
    elif many and not single:
        spec["podCIDR"] = many[0]


def _warnings(spec: Mapping[str, Any]) -> list[str]:
    warnings = []
    if spec.get("configSource") is not None:
        warnings.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for i, value in enumerate(spec.get("podCIDRs") or ()):
        warnings += cidr_warnings(f"spec.podCIDRs[{i}]", value)
    return warnings


def _validate_node(node: Object) -> Errors:
    spec = node.get("spec") or {}
    errors = _annotations(node["metadata"].get("annotations") or {})
    errors += _taints("metadata.taints", spec.get("taints") or ())
    status = node.get("status") or {}
    errors += _resources(status)
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        errors.append(invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero"))
    errors += _declared_features("status.declaredFeatures", status.get("declaredFeatures") or ())
    return errors + _ranges("spec.podCIDRs", spec.get("podCIDRs") or [])


def _annotations(annotations: Mapping[str, str]) -> Errors:
    """What once stood in annotations is still checked there."""
    path = "metadata.annotations"
    errors: Errors = []
    if annotations.get(_TAINTS):
        taints, why = json_annotation(annotations[_TAINTS])
        if why is not None:
            errors.append(invalid(path, _TAINTS, why))
        elif isinstance(taints, list) and all(isinstance(taint, dict) for taint in taints):
            errors += _taints(f"{path}.{_TAINTS}", taints)
    if annotations.get(_AVOID):
        avoids, why = json_annotation(annotations[_AVOID])
        if why is not None:
            errors.append(invalid(f"{path}.AvoidPods", _AVOID, why))
        elif isinstance(avoids, dict):
            errors += _avoided(f"{path}.{_AVOID}", avoids.get("preferAvoidPods") or ())
    return errors


def _avoided(path: str, entries: Sequence[Any]) -> Errors:
    errors: Errors = []
    for i, entry in enumerate(entries):
        owner = ((entry or {}).get("podSignature") or {}).get("podController")
        if owner is None:
            errors.append(required(f"{path}[{i}].PodSignature"))
        elif not owner.get("controller"):
            errors.append(invalid(f"{path}[{i}].PodSignature.PodController.Controller", False, "must point to a controller"))
    return errors


def _taints(path: str, taints: Sequence[Mapping[str, Any]]) -> Errors:
    """Kubernetes says `metadata.taints`, where they never were."""
    errors: Errors = []
    seen: set[tuple[str, str]] = set()
    for i, taint in enumerate(taints):
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        errors += qualified_name(f"{path}[{i}].key", key)
        messages = names.label_value(value)
        if messages:
            errors.append(invalid(f"{path}[{i}].value", value, ";".join(messages)))
        errors += validate_effect(f"{path}[{i}].effect", effect)
        if (key, effect) in seen:
            why = "taints must be unique by key and effect pair"
            errors.append(FieldError("FieldValueDuplicate", f"{path}[{i}]", go_form.of(taint, "Taint"), why))
        seen.add((key, effect))
    return errors


def _resources(status: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    for field in ("capacity", "allocatable"):
        for name, value in sorted((status.get(field) or {}).items()):
            errors += resource_amount(f"status.{field}.{name}", name, value)
    return errors


def _declared_features(path: str, features: Sequence[str]) -> Errors:
    """Each is a name, and they stand in order, each once."""
    errors: Errors = []
    for i, feature in enumerate(features):
        if i and feature == features[i - 1]:
            errors.append(duplicate(f"{path}[{i}]", feature))
        elif i and feature < features[i - 1]:
            errors.append(invalid(f"{path}[{i}]", feature, "list must be sorted alphabetically"))
        if (why := _bad_feature(feature)) is not None:
            errors.append(invalid(f"{path}[{i}]", feature, why))
    return errors


def _bad_feature(name: str) -> str | None:
    start = f"invalid feature name {go_value(name)}: must"
    if len(name.encode()) > 253:
        return f"{start} be no more than 253 characters"
    if _FEATURE.fullmatch(name) is None:
        return (
            f"{start} start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or"
            " MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
        )
    return None


def _ranges(path: str, ranges: list[str]) -> Errors:
    errors: Errors = []
    for i, value in enumerate(ranges):
        errors += complain(f"{path}[{i}]", value, formats.cidr(value))
    if len(ranges) < 2:
        return errors
    networks = [formats.parse_cidr(value) for value in ranges]
    if None in networks:
        bad = ranges[networks.index(None)]
        why = f"failed to parse cidr value:{go_value(bad)} with error:invalid CIDR address: {bad}"
        errors.append(internal(path, f"invalid PodCIDRs. failed to check with dual stack with error:{why}"))
    families = {network.version for network in networks if network is not None}
    if None in networks or len(families) != 2 or len(ranges) > 2:
        errors.append(invalid(path, ranges, "may specify no more than one CIDR for each IP family"))
    return errors + [duplicate(f"{path}[{i}]", value) for i, value in enumerate(ranges) if value in ranges[:i]]


def validate_node_update(node: Object, old: Object) -> Errors:
    """Also of status: everything hangs together on nodes."""
    spec, before = node.get("spec") or {}, old.get("spec") or {}
    errors = _annotations(node["metadata"].get("annotations") or {})
    errors += _resources(node.get("status") or {})
    errors += _declared_features("status.declaredFeatures", (node.get("status") or {}).get("declaredFeatures") or ())
    addresses = [(one.get("type", ""), one.get("address", "")) for one in (node.get("status") or {}).get("addresses") or ()]
    for i, address in enumerate(addresses):
        if address in addresses[:i]:
            errors.append(duplicate(f"status.addresses[{i}]", {"Type": address[0], "Address": address[1]}))
    errors += _changed_ranges(before.get("podCIDRs") or (), spec.get("podCIDRs") or ())
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        errors.append(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'))
    errors += _taints("metadata.taints", spec.get("taints") or ())
    if before.get("externalID", "") != spec.get("externalID", ""):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


def _changed_ranges(old: Sequence[str], new: Sequence[str]) -> Errors:
    """Each that changed is complained about, without its index."""
    why = 'node updates may not change podCIDR except from "" to valid'
    count = sum(map(str.__ne__, old, new)) if len(old) == len(new) else int(bool(old))
    return [forbidden("spec.podCIDRs", why)] * count


class NodeStatusStrategy(StatusStrategy):
    """The `status` endpoint, where kubelets report every few minutes that all is as it was."""

    heartbeat: ClassVar[Heartbeat | None] = Heartbeat(("status", "conditions", "lastHeartbeatTime"), micro=False, key="type")

    def __init__(self) -> None:
        super().__init__(NodeStrategy(), validate_status=validate_node_update)

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        if not (old.get("status") or {}).get("config"):
            (obj.get("status") or {}).pop("config", None)
