"""RuntimeClasses.

Source: `pkg/registry/node/runtimeclass`, `pkg/apis/node/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from setpoint.api.machinery import quantity
from setpoint.api.machinery.status import FieldError, duplicate, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, dns_label, immutable, labels
from setpoint.registry.pod.validation.resources import validate_container_resources
from setpoint.registry.pod.validation.tolerations import validate_tolerations
from setpoint.registry.pod.warnings import DEPRECATED_NODE_LABELS
from setpoint.registry.strategy import Context, Object, Strategy

_KEY = ("key", "operator", "value", "effect")


class RuntimeClassStrategy(Strategy):
    """Which handler runs the pods of a class is for life."""

    allow_create_on_update: ClassVar[bool] = True
    allow_unconditional_update = False
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        overhead = obj.get("overhead") or {}
        if overhead.get("podFixed"):
            overhead["podFixed"] = {name: quantity.canonical_milli(value) for name, value in overhead["podFixed"].items()}

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        handler = obj.get("handler", "")
        errors = dns_label("handler", handler) if handler else [required("handler")]
        limits = {"limits": (obj.get("overhead") or {}).get("podFixed")}  # looked at as if they were a container's
        errors += validate_container_resources("overhead", limits, frozenset())
        scheduling = obj.get("scheduling") or {}
        errors += labels("scheduling.nodeSelector", scheduling.get("nodeSelector"))
        return errors + _tolerations("scheduling.tolerations", scheduling.get("tolerations") or ())

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return self.validate(context, obj) + immutable("handler", obj.get("handler", ""), old.get("handler", ""))

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
        return [
            f"scheduling.nodeSelector: {DEPRECATED_NODE_LABELS[key]}" for key in sorted(selector) if key in DEPRECATED_NODE_LABELS
        ]

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, obj)


def _tolerations(path: str, tolerations: Sequence[Mapping[str, Any]]) -> Errors:
    errors = validate_tolerations(path, tolerations)
    seen: set[tuple[str, ...]] = set()
    for i, toleration in enumerate(tolerations):
        key = tuple(toleration.get(field, "") for field in _KEY)
        if key in seen:
            errors.append(duplicate(f"{path}[{i}]", go_form.of(toleration, "Toleration")))
        seen.add(key)
    return errors
