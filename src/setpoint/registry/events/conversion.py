"""Events between the core form and that of events.k8s.io/v1.

Source: `pkg/apis/events/v1/conversion.go`.
"""

from __future__ import annotations

from setpoint.registry.strategy import Object

CORE, NEW = "v1", "events.k8s.io/v1"

# core's name of a field, and its name in the newer group
_RENAMED = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_BACK = {new: old for old, new in _RENAMED.items()}


def convert_event(obj: Object, version: str) -> Object:
    """The event in the form of `version`."""
    names = _RENAMED if version == NEW else _BACK
    out = {names.get(name, name): value for name, value in obj.items()}
    out["apiVersion"] = version
    for core, new in (("reportingComponent", "reportingController"), ("reportingInstance", "reportingInstance")):
        # always written in the core form, never when empty in the newer one
        if version == CORE:
            out.setdefault(core, "")
        elif not out.get(new):
            out.pop(new, None)
    return out
