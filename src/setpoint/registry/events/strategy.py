"""Events of the core group and of events.k8s.io: the same objects, by different rules.

They are stored in the core form. Source: `pkg/apis/core/validation/events.go`, `pkg/registry/core/event`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, required
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, immutable, qualified_name
from setpoint.registry.strategy import Context, Object, Strategy

#: seconds that an event is kept
TTL = 3600.0
_LONG, _NOTE = 128, 1024
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


class EventStrategy(Strategy):
    """Core events: nearly anything goes."""

    allow_create_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False
    default_propagation: ClassVar[str] = "Unsupported"
    selectable_fields: ClassVar[frozenset[str]] = frozenset(
        {*(f"involvedObject.{name}" for name in _REFERENCE), "reason", "reportingComponent", "source", "type"}
    )
    reporting_controller: ClassVar[str] = "reportingComponent"

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = _involved(obj)
        return errors + _reported(obj, self.reporting_controller) if obj.get("eventTime") else errors

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.path_segment(name)

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
    """An event lies in the namespace of what it is about; those about cluster-wide objects in `default`.

    Newer ones (with `eventTime`) may lie elsewhere if what they are about has a namespace, else in `kube-system` too.
    """
    own, theirs = obj["metadata"].get("namespace", ""), (obj.get("involvedObject") or {}).get("namespace", "")
    if theirs:
        agrees = own == theirs or bool(obj.get("eventTime"))
    else:
        agrees = own in ({"default", "kube-system"} if obj.get("eventTime") else {"", "default"})
    return [] if agrees else [invalid("involvedObject.namespace", theirs, "does not match event.namespace")]


def _reported(obj: Mapping[str, Any], controller_field: str) -> Errors:
    """What newer events must say of their reporter."""
    controller = obj.get("reportingComponent", "")
    errors: Errors = [] if controller else [required(controller_field)]
    errors += qualified_name(controller_field, controller)
    for field in ("reportingInstance", "action", "reason"):
        value = obj.get(field, "")
        if not value:
            errors.append(required(field))
        elif len(value.encode()) > _LONG:
            errors.append(invalid(field, "", f"can have at most {_LONG} characters"))
    if len(obj.get("message", "").encode()) > _NOTE:
        errors.append(invalid("message", "", f"can have at most {_NOTE} characters"))
    return errors


class NewEventStrategy(EventStrategy):
    """Events of events.k8s.io: complete, and fixed but for their series."""

    compares_metadata_on_update: ClassVar[bool] = True
    reporting_controller: ClassVar[str] = "reportingController"
    selectable_fields: ClassVar[frozenset[str]] = frozenset(
        {*(f"regarding.{name}" for name in _REFERENCE), "reason", "reportingController", "type"}
    )

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj) + _series(obj)
        if not obj.get("eventTime"):
            errors.append(required("eventTime"))
        kind = obj.get("type", "")
        if kind not in {"Normal", "Warning"}:
            errors.append(invalid("type", "", f"has invalid value: {kind}"))
        for field in ("firstTimestamp", "lastTimestamp", "count"):
            if obj.get(field):
                errors.append(invalid(field, "", "needs to be unset"))
        if any((obj.get("source") or {}).values()):
            errors.append(invalid("source", "", "needs to be unset"))
        return errors

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        return names.dns_subdomain(name, prefix=prefix)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        if obj.get("series") != old.get("series"):
            errors += _series(obj)
        for field, empty in _FIXED:
            path = "reportingController" if field == "reportingComponent" else field
            errors += immutable(path, _shown(field, obj.get(field) or empty), _shown(field, old.get(field) or empty))
        return errors


def _shown(field: str, value: Any) -> Any:
    return go_form.of(value, _SHAPES[field]) if field in _SHAPES and value is not None else value


def _series(obj: Mapping[str, Any]) -> Errors:
    """What repeats was seen twice at least."""
    series = obj.get("series")
    if series is None:
        return []
    errors: Errors = [] if series.get("count", 0) >= 2 else [invalid("series.count", "", "should be at least 2")]
    return errors if series.get("lastObservedTime") else [*errors, required("series.lastObservedTime")]


_SHAPES = {"involvedObject": "ObjectReference", "related": "ObjectReference", "source": "EventSource"}
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
