"""DaemonSets.

Source: `pkg/apis/apps/v1/defaults.go`, `conversion.go` (the template's generation is an annotation), `pkg/apis/apps/validation`,
`pkg/registry/apps/daemonset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import integers
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, label_selector, nonnegative, nonnegatives
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.validation.template import validate_template
from setpoint.registry.pod.warnings import template_warnings
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy, fill
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import (
    always_restarted,
    amount_of,
    annotated_number,
    at_most_all,
    compiled,
    mismatch,
    not_decremented,
    number_or_percent,
    options,
    repeated,
    selector_immutable,
    without_deadline,
)

GENERATION = "deprecated.daemonset.template.generation"
_TYPES = ("RollingUpdate", "OnDelete")
_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


class DaemonSetStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        annotations = obj["metadata"].get("annotations") or {}
        if GENERATION not in annotations:
            obj["metadata"]["annotations"] = {**annotations, GENERATION: "0"}
        annotated_number(obj, GENERATION)
        spec = obj.setdefault("spec", {})
        strategy = spec.setdefault("updateStrategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            strategy.setdefault("rollingUpdate", {})
        rolling = strategy.get("rollingUpdate")
        if rolling is not None:  # numbers that do not count are 0 where they are not given, since they are always written
            fill(rolling, "maxUnavailable", 1 if strategy["type"] == "RollingUpdate" else 0)
            fill(rolling, "maxSurge", 0)
        spec.setdefault("revisionHistoryLimit", 10)
        default_template(spec.setdefault("template", {}))

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _set_generation(obj, max(1, _generation(obj)))

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        changed = (obj.get("spec") or {}).get("template") != (old.get("spec") or {}).get("template")
        _set_generation(obj, _generation(old) + changed)

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return repeated(_validate_spec(obj.get("spec") or {}, old.get("spec") or {})) + selector_immutable(obj, old)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return template_warnings("spec.template", obj["spec"]["template"])

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        same = obj["spec"]["template"] == (old.get("spec") or {}).get("template")
        return [] if same else template_warnings("spec.template", obj["spec"]["template"])


def _generation(obj: Object) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(GENERATION, "")
    return integers.int64(text) or 0


def _set_generation(obj: Object, generation: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), GENERATION: str(generation)}


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    selector = spec.get("selector")
    errors = label_selector("spec.selector", selector)
    if compiled(selector) is not None:
        errors += mismatch("spec", spec)
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid("spec.selector", {}, "empty selector is invalid for daemonset"))
    pod_spec = (spec.get("template") or {}).get("spec") or {}
    errors += validate_template("spec.template", spec.get("template") or {}, options(old))
    errors += always_restarted("spec.template.spec", pod_spec)
    errors += without_deadline("spec.template.spec", pod_spec, "DaemonSet")
    errors += nonnegative("spec.minReadySeconds", spec.get("minReadySeconds"))
    errors += _update("spec.updateStrategy", spec.get("updateStrategy") or {})
    return errors + nonnegative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))


def _update(path: str, strategy: Mapping[str, Any]) -> Errors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, go_form.of(strategy, "DaemonSetUpdateStrategy"), _TYPES)]
    if rolling is None:
        return [required(f"{path}.rollingUpdate")]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    pairs = ((f"{path}.rollingUpdate.maxUnavailable", unavailable), (f"{path}.rollingUpdate.maxSurge", surge))
    errors: Errors = []
    for check in (number_or_percent, at_most_all):
        for where, value in pairs:
            errors += check(where, value)
    if amount_of(unavailable) and amount_of(surge):
        errors.append(invalid(pairs[1][0], surge, "may not be set when maxUnavailable is non-zero"))
    elif not amount_of(unavailable) and not amount_of(surge):
        errors.append(required(pairs[0][0], "cannot be 0 when maxSurge is 0"))
    return errors


def _validate_status(obj: Object, old: Object) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    errors = nonnegatives("status", status, *_COUNTS)
    return errors + not_decremented("status.collisionCount", status.get("collisionCount"), before.get("collisionCount"))


def daemon_set_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(DaemonSetStrategy(), validate_status=_validate_status)
