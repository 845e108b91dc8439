"""CSINodes: the volume drivers that a node has.

Source: `pkg/registry/storage/csinode`, `pkg/apis/storage/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, invalid, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, complain, nonnegative
from setpoint.registry.pod.validation.remote_volumes import csi_driver_name
from setpoint.registry.strategy import Context, Object, Strategy

_LONGEST_NODE_ID = 256

Driver = Mapping[str, Any]


class CSINodeStrategy(Strategy):
    """Drivers come and go; of one that stays only the number of volumes may change."""

    delete_returns_object: ClassVar[bool] = True
    allow_unconditional_update = False
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors: Errors = []
        seen: set[str] = set()
        for i, driver in enumerate(_drivers(obj)):
            errors += _driver(f"spec.drivers[{i}]", driver, seen)
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = self.validate(context, obj) * 2  # Kubernetes looks at the whole twice, and says so: causes repeat
        for before in _drivers(old):
            for driver in _drivers(obj):
                if driver.get("name") == before.get("name") and _fixed(driver) != _fixed(before):
                    errors.append(invalid("spec.drivers", go_form.of(driver, "CSINodeDriver"), "field is immutable"))
        return errors


def _drivers(obj: Object) -> Sequence[Driver]:
    return (obj.get("spec") or {}).get("drivers") or ()


def _fixed(driver: Driver) -> tuple[str, list[str]]:
    return driver.get("nodeID", ""), driver.get("topologyKeys") or []


def _driver(path: str, driver: Driver, seen: set[str]) -> Errors:
    name, node = driver.get("name", ""), driver.get("nodeID", "")
    errors = csi_driver_name(f"{path}.name", name)
    if not node:
        errors.append(required(f"{path}.nodeID"))
    elif len(node) > _LONGEST_NODE_ID:
        errors.append(invalid(f"{path}.nodeID", node, f"must be {_LONGEST_NODE_ID} characters or less"))
    errors += nonnegative(f"{path}.allocatable.count", (driver.get("allocatable") or {}).get("count"))
    if name in seen:
        errors.append(duplicate(f"{path}.name", name))
    seen.add(name)
    keys = driver.get("topologyKeys") or []
    for i, key in enumerate(keys):
        errors += [] if key else [required(path)]
        errors += [duplicate(path, key)] if key in keys[:i] else []
        errors += complain(path, key, names.qualified_name(key))
    return errors
