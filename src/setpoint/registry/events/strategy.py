"""Events of the core group and of events.k8s.io: the same objects, by different rules.

They are stored in the core form. Source: `pkg/apis/core/validation/events.go`, `pkg/registry/core/event`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry.fields import Errors, immutable, qualified_name
from setpoint.registry.strategy import Context, Object, Strategy

#: seconds that an event is kept
TTL = 3600.0
_LONG, _NOTE = 128, 1024
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_CLUSTER_KINDS = {"Node", "Namespace", "PersistentVolume"}


class EventStrategy(Strategy):
    """Core events: nearly anything goes."""

    allow_create_on_update: ClassVar[bool] = True
    default_propagation: ClassVar[str] = "Unsupported"
    selectable_fields: ClassVar[frozenset[str]] = frozenset(
        {*(f"involvedObject.{name}" for name in _REFERENCE), "reason", "reportingComponent", "source", "type"}
    )
    reporting_controller: ClassVar[str] = "reportingComponent"

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = _involved(obj)
        return errors + _reported(obj, self.reporting_controller) if obj.get("eventTime") else errors

    def fields(self, obj: Object) -> Mapping[str, str]:
        involved, source = obj.get("involvedObject") or {}, (obj.get("source") or {}).get("component")
        reporter = obj.get("reportingComponent", "")
        # by the names of both groups: whichever wrote the event, it is selected through either
        return {
            **{f"involvedObject.{name}": involved.get(name, "") for name in _REFERENCE},
            **{f"regarding.{name}": involved.get(name, "") for name in _REFERENCE},
            "reason": obj.get("reason", ""),
            "reportingComponent": reporter,
            "reportingController": reporter,
            "source": source or reporter,
            "type": obj.get("type", ""),
        }


def _involved(obj: Mapping[str, Any]) -> Errors:
    """An event lies in the namespace of what it is about; those about cluster-wide objects in `default`."""
    involved, own = obj.get("involvedObject") or {}, obj["metadata"].get("namespace", "")
    theirs = involved.get("namespace", "")
    errors: Errors = []
    if (theirs and own != theirs) or (not theirs and own not in {"", "default"}):
        errors.append(invalid("involvedObject.namespace", theirs, "does not match event.namespace"))
    if theirs and involved.get("kind") in _CLUSTER_KINDS and involved.get("apiVersion") == "v1":
        why = f"not allowed for cluster-scoped kind {involved['kind']}"
        errors.append(invalid("involvedObject.namespace", theirs, why))
    return errors


def _reported(obj: Mapping[str, Any], controller_field: str) -> Errors:
    """What newer events must say of their reporter."""
    controller = obj.get("reportingComponent", "")
    errors: Errors = [] if controller else [required(controller_field)]
    errors += qualified_name(controller_field, controller)
    for field in ("reportingInstance", "action", "reason"):
        value = obj.get(field, "")
        if not value:
            errors.append(required(field))
        elif len(value) > _LONG:
            errors.append(invalid(field, "", f"can have at most {_LONG} characters"))
    if len(obj.get("message", "")) > _NOTE:
        errors.append(invalid("message", "", f"can have at most {_NOTE} characters"))
    return errors


class NewEventStrategy(EventStrategy):
    """Events of events.k8s.io: complete, and fixed but for their series."""

    reporting_controller: ClassVar[str] = "reportingController"
    selectable_fields: ClassVar[frozenset[str]] = frozenset(
        {*(f"regarding.{name}" for name in _REFERENCE), "reason", "reportingController", "type"}
    )

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        if not obj.get("eventTime"):
            errors.append(required("eventTime"))
        kind = obj.get("type", "")
        if kind not in {"Normal", "Warning"}:
            errors.append(invalid("type", "", f"has invalid value: {kind}"))
        for field in ("firstTimestamp", "lastTimestamp", "count"):
            if obj.get(field):
                errors.append(invalid(field, "", "needs to be unset"))
        for field in ("component", "host"):
            if (obj.get("source") or {}).get(field):
                errors.append(invalid(f"source.{field}", "", "needs to be unset"))
        return errors

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        for field, empty in _FIXED:
            shown = "reportingController" if field == "reportingComponent" else field
            errors += immutable(shown, obj.get(field) or empty, old.get(field) or empty)
        return errors


# in Kubernetes' order, one of them twice; with what counts as nothing
_FIXED: tuple[tuple[str, Any], ...] = (
    ("involvedObject", {}),
    ("reason", ""),
    ("message", ""),
    ("source", {}),
    ("firstTimestamp", None),
    ("lastTimestamp", None),
    ("count", 0),
    ("reason", ""),
    ("type", ""),
    ("eventTime", None),
    ("action", ""),
    ("related", None),
    ("reportingComponent", ""),
    ("reportingInstance", ""),
)
