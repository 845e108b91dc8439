"""CSIStorageCapacities: how much room a driver has for a class in a part of the cluster.

Source: `pkg/registry/storage/csistoragecapacity`, `pkg/apis/storage/validation`.
"""

from __future__ import annotations

from typing import ClassVar

from setpoint.api.machinery.status import FieldError, invalid
from setpoint.registry import formats, go_form
from setpoint.registry.fields import dns_subdomain, immutable, label_selector
from setpoint.registry.pod.validation.resources import amount
from setpoint.registry.pod.warnings import DEPRECATED_NODE_LABELS
from setpoint.registry.strategy import Context, Object, Strategy


class CSIStorageCapacityStrategy(Strategy):
    """Only the numbers change."""

    allow_unconditional_update = False
    validates_whole_on_update: ClassVar[bool] = True

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = label_selector("nodeTopology", obj.get("nodeTopology"))
        errors += dns_subdomain("storageClassName", obj.get("storageClassName", ""))
        capacity = obj.get("capacity")
        if capacity is not None and amount(capacity).nanos < 0:
            errors.append(invalid("capacity", str(amount(capacity)), formats.NOT_NEGATIVE))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors, topology = self.validate(context, obj), obj.get("nodeTopology")
        if topology != old.get("nodeTopology"):
            errors.append(invalid("nodeTopology", go_form.label_selector(topology), formats.IMMUTABLE))
        return errors + immutable("storageClassName", obj.get("storageClassName", ""), old.get("storageClassName", ""))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        topology = obj.get("nodeTopology") or {}
        keys = [expression.get("key", "") for expression in topology.get("matchExpressions") or ()]
        named = {f"matchExpressions[{i}].key: {key} is": key for i, key in enumerate(keys)}
        named |= {f"matchLabels.{key}:": key for key in sorted(topology.get("matchLabels") or {})}
        old = DEPRECATED_NODE_LABELS
        return [f"nodeTopology.{where} {old[key]}" for where, key in named.items() if key in old]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)
