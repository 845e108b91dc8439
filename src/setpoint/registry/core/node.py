"""Nodes.

Source: `pkg/registry/core/node`, `pkg/apis/core/validation/validation.go` (ValidateNode, ValidateNodeUpdate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, qualified_name
from setpoint.registry.pod.validation.resources import resource_amount
from setpoint.registry.pod.validation.tolerations import validate_effect
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy, keep_field
from setpoint.registry.strategy import Context, Object


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
        """Nothing is dropped."""

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        keep_field(obj, old, "status")

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_node(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_node(obj) + validate_node_update(obj, old)

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"spec.unschedulable": "true" if (obj.get("spec") or {}).get("unschedulable") else "false"}


def _default_ranges(spec: Object) -> None:
    """`podCIDR` is the first of `podCIDRs`; where they differ the old single field is believed."""
    single, many = spec.get("podCIDR"), spec.get("podCIDRs")
    if single and (not many or many[0] != single):
        spec["podCIDRs"] = [single]
    elif many and not single:
        spec["podCIDR"] = many[0]


def _validate_node(node: Object) -> Errors:
    spec = node.get("spec") or {}
    errors = _taints("metadata.taints", spec.get("taints") or ())
    errors += _resources(node.get("status") or {})
    return errors + _ranges("spec.podCIDRs", spec.get("podCIDRs") or [])


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


def _ranges(path: str, ranges: list[str]) -> Errors:
    errors: Errors = []
    for i, value in enumerate(ranges):
        errors += complain(f"{path}[{i}]", value, formats.cidr(value))
    if len(ranges) < 2:
        return errors
    families = {network.version for value in ranges if (network := formats.parse_cidr(value)) is not None}
    if len(families) != 2 or len(ranges) > 2:
        errors.append(invalid(path, ranges, "may specify no more than one CIDR for each IP family"))
    return errors + [duplicate(f"{path}[{i}]", value) for i, value in enumerate(ranges) if value in ranges[:i]]


def validate_node_update(node: Object, old: Object) -> Errors:
    """Also of status: everything hangs together on nodes."""
    spec, before = node.get("spec") or {}, old.get("spec") or {}
    errors = _resources(node.get("status") or {})
    addresses = [(one.get("type", ""), one.get("address", "")) for one in (node.get("status") or {}).get("addresses") or ()]
    for i, address in enumerate(addresses):
        if address in addresses[:i]:
            errors.append(duplicate(f"status.addresses[{i}]", {"Type": address[0], "Address": address[1]}))
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        errors.append(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        errors.append(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'))
    return errors + _taints("metadata.taints", spec.get("taints") or ())


def node_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(NodeStrategy(), validate_status=validate_node_update)
