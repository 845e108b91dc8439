"""Writes to a Job's status: counters and conditions must make sense together.

Source: `pkg/apis/batch/validation` (ValidateJobStatus), `pkg/registry/batch/job/strategy.go`, KEP-4368.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import OMITTED, duplicate, invalid, required
from setpoint.registry.batch import indexes
from setpoint.registry.fields import Errors, nonnegative
from setpoint.registry.strategy import Object

Status = Mapping[str, Any]

_COUNTERS = ("active", "succeeded", "failed")


def validate_job_status(obj: Object, old: Object) -> Errors:
    status, before, spec = obj.get("status") or {}, old.get("status") or {}, obj.get("spec") or {}
    errors: Errors = []
    for field in (*_COUNTERS, "ready", "terminating"):
        errors += nonnegative(f"status.{field}", status.get(field))
    errors += _uncounted(status.get("uncountedTerminatedPods") or {})
    errors += _finished(status)
    errors += _times(status)
    errors += _indexes(status, spec)
    if (status.get("ready") or 0) > (status.get("active") or 0) >= 0 and status.get("ready") is not None:
        errors.append(invalid("status.ready", status["ready"], "cannot set more ready pods than active"))
    return errors + _transitions(status, before, spec)


def _conditions(status: Status) -> set[str]:
    """The types of conditions that are true."""
    return {one.get("type", "") for one in status.get("conditions") or () if one.get("status") == "True"}


def _uncounted(pods: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for field in ("succeeded", "failed"):
        for i, uid in enumerate(pods.get(field) or ()):
            path = f"status.uncountedTerminatedPods.{field}[{i}]"
            if not uid:
                errors.append(invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(path, uid))
            seen.add(uid)
    return errors


def _finished(status: Status) -> Errors:
    true = _conditions(status)
    errors: Errors = []
    if {"Complete", "Failed"} <= true:
        errors.append(invalid("status.conditions", OMITTED, "cannot set Complete=True and Failed=true conditions"))
    if {"Complete", "FailureTarget"} <= true:
        errors.append(invalid("status.conditions", OMITTED, "cannot set Complete=True and FailureTarget=true conditions"))
    if {"SuccessCriteriaMet", "FailureTarget"} <= true:
        why = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"
        errors.append(invalid("status.conditions", OMITTED, why))
    if "Complete" in true and not status.get("completionTime"):
        errors.append(required("status.completionTime", "completionTime is required for Complete jobs"))
    if status.get("completionTime") and "Complete" not in true:
        why = "cannot set completionTime when there is no Complete=True condition"
        errors.append(invalid("status.completionTime", status["completionTime"], why))
    if "Failed" in true and "FailureTarget" not in true:
        why = "cannot set Failed=True condition without the FailureTarget=true condition"
        errors.append(invalid("status.conditions", OMITTED, why))
    if "Complete" in true and "SuccessCriteriaMet" not in true:
        why = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        errors.append(invalid("status.conditions", OMITTED, why))
    return errors


def _times(status: Status) -> Errors:
    finished = _conditions(status).intersection({"Complete", "Failed"})
    begun, ended = status.get("startTime"), status.get("completionTime")
    errors: Errors = []
    if finished and not begun:
        errors.append(required("status.startTime", "startTime is required for finished job"))
    if begun and ended and ended < begun:
        errors.append(invalid("status.completionTime", ended, "completionTime cannot be set before startTime"))
    if finished and (status.get("active") or 0) > 0:
        errors.append(invalid("status.active", status["active"], "active>0 is invalid for finished job"))
    if finished and (status.get("terminating") or 0) > 0:
        errors.append(invalid("status.terminating", status["terminating"], "terminating>0 is invalid for finished job"))
    return errors


def _indexes(status: Status, spec: Mapping[str, Any]) -> Errors:
    indexed = spec.get("completionMode") == "Indexed"
    errors: Errors = []
    for field in ("completedIndexes", "failedIndexes"):
        value = status.get(field)
        if not value:
            continue
        if not indexed:
            why = f"cannot set non-empty {field} when non-indexed completion mode"
            errors.append(invalid(f"status.{field}", value, why))
            continue
        try:
            indexes.count(value, spec.get("completions") or 0)
        except indexes.IndexesError as error:
            errors.append(invalid(f"status.{field}", value, f"error parsing {field}: {error}"))
    return errors


def _transitions(status: Status, before: Status, spec: Mapping[str, Any]) -> Errors:
    """Counters do not go back, conditions do not come off, the start is remembered."""
    errors: Errors = []
    for field in ("failed", "succeeded"):
        if (status.get(field) or 0) < (before.get(field) or 0):
            errors.append(invalid(f"status.{field}", status.get(field) or 0, f"cannot decrease the {field} counter"))
    errors += _kept_conditions(status, before)
    old_start, start = before.get("startTime"), status.get("startTime")
    if old_start and start != old_start and not spec.get("suspend"):
        why = "field is immutable for unsuspended job once set" if start else "startTime cannot be removed for unsuspended job"
        errors.append(invalid("status.startTime", start, why) if start else required("status.startTime", why))
    old_end = before.get("completionTime")
    if old_end and status.get("completionTime") != old_end:
        errors.append(invalid("status.completionTime", status.get("completionTime"), "field is immutable"))
    return errors


def _kept_conditions(status: Status, before: Status) -> Errors:
    now = _conditions(status)
    errors: Errors = []
    for kind in ("Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"):
        if kind in _conditions(before) and kind not in now:
            errors.append(invalid("status.conditions", OMITTED, f"cannot disable the terminal {kind}=True condition"))
    return errors
