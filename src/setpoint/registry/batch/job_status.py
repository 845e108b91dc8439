"""Writes to a Job's status: counters and conditions must make sense together.

Most rules hold only where the write changes what they are about, so that an old status that breaks one can still be written.
Source: `pkg/apis/batch/validation` (ValidateJobStatus), `pkg/registry/batch/job/strategy.go`, KEP-4368.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.api.machinery.status import OMITTED, FieldError, duplicate, invalid, required
from setpoint.registry.batch import indexes
from setpoint.registry.fields import Errors, nonnegatives
from setpoint.registry.strategy import Object

Status = Mapping[str, Any]

_FINISHED = frozenset({"Complete", "Failed"})
_CONDITIONS = "status.conditions"


class _Write:
    """The new status beside the old one."""

    def __init__(self, obj: Object, old: Object) -> None:
        self.spec: Mapping[str, Any] = obj.get("spec") or {}
        self.status: Status = obj.get("status") or {}
        self.before: Status = old.get("status") or {}
        self.true, self.was = _conditions(self.status, "True"), _conditions(self.before, "True")
        self.finished = bool(self.true & _FINISHED)
        self.finishing = self.finished != bool(self.was & _FINISHED)
        self.indexed = self.spec.get("completionMode") == "Indexed"

    def turned(self, *kinds: str) -> bool:
        """Whether one of these conditions became true, or is no more."""
        return any((kind in self.true) != (kind in self.was) for kind in kinds)

    def changed(self, *fields: str) -> bool:
        return any((self.status.get(field) or None) != (self.before.get(field) or None) for field in fields)


def validate_job_status(obj: Object, old: Object) -> Errors:
    write = _Write(obj, old)
    errors = nonnegatives("status", write.status, "active", "succeeded", "failed", "ready", "terminating")
    errors += _uncounted(write.status.get("uncountedTerminatedPods") or {})
    for rules in (_completion, _goals, _finish, _indexes, _pods, _criteria, _transitions):
        errors += rules(write)
    return errors


def _conditions(status: Status, value: str) -> set[str]:
    """The types of conditions that have this status."""
    return {one.get("type", "") for one in status.get("conditions") or () if one.get("status") == value}


def _contradiction(why: str) -> FieldError:
    return invalid(_CONDITIONS, OMITTED, why)


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


def _completion(write: _Write) -> Iterator[FieldError]:
    """What goes with the condition Complete, its time above all."""
    true, begun, ended = write.true, write.status.get("startTime"), write.status.get("completionTime")
    if true >= _FINISHED and write.turned("Complete", "Failed"):
        yield _contradiction("cannot set Complete=True and Failed=true conditions")
    if true >= {"Complete", "FailureTarget"} and write.turned("Complete", "FailureTarget"):
        yield _contradiction("cannot set Complete=True and FailureTarget=true conditions")
    if write.turned("Complete") or write.changed("completionTime"):
        if ended and "Complete" not in true:
            why = "cannot set completionTime when there is no Complete=True condition"
            yield invalid("status.completionTime", ended, why)
        if not ended and "Complete" in true:
            yield required("status.completionTime", "completionTime is required for Complete jobs")
    if begun and ended and ended < begun and write.changed("startTime", "completionTime"):
        yield invalid("status.completionTime", ended, "completionTime cannot be set before startTime")


def _goals(write: _Write) -> Iterator[FieldError]:
    """A Job says that it will fail or succeed before it has: its pods must end first."""
    if "Failed" in write.true and "FailureTarget" not in write.true and write.turned("Failed", "FailureTarget"):
        yield _contradiction("cannot set Failed=True condition without the FailureTarget=true condition")
    alone = "Complete" in write.true and "SuccessCriteriaMet" not in write.true
    if alone and write.turned("Complete", "SuccessCriteriaMet"):
        yield _contradiction("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _finish(write: _Write) -> Iterator[FieldError]:
    """A finished Job began once, and nothing of it runs or waits to be counted."""
    if not write.finished:
        return
    status = write.status
    if (status.get("active") or 0) > 0 and (write.finishing or write.changed("active")):
        yield invalid("status.active", status["active"], "active>0 is invalid for finished job")
    never = bool(write.spec.get("suspend")) and write.spec.get("completions") == 0
    if not status.get("startTime") and not never and (write.finishing or write.changed("startTime")):
        yield required("status.startTime", "startTime is required for finished job")
    pods = status.get("uncountedTerminatedPods") or {}
    waiting = {"Succeeded": pods.get("succeeded"), "Failed": pods.get("failed")}
    if any(waiting.values()) and (write.finishing or write.changed("uncountedTerminatedPods")):
        why = "uncountedTerminatedPods needs to be empty for finished job"
        yield invalid("status.uncountedTerminatedPods", waiting, why)


def _indexes(write: _Write) -> Iterator[FieldError]:
    completed, failed = write.status.get("completedIndexes") or "", write.status.get("failedIndexes")
    completions, per_index = write.spec.get("completions"), write.spec.get("backoffLimitPerIndex") is not None
    new_completed = completed != (write.before.get("completedIndexes") or "")
    new_failed = failed != write.before.get("failedIndexes")
    if new_completed and completions is not None:
        yield from _malformed("completedIndexes", completed, completions)
    if new_failed and completions is not None and per_index and failed is not None:
        yield from _malformed("failedIndexes", failed, completions)
    if new_completed and completed and not write.indexed:
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", completed, why)
    if new_failed and failed is not None and not per_index:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid("status.failedIndexes", failed, why)
    if (new_failed or new_completed) and completions is not None and failed:
        common = indexes.overlap(completed, failed, completions)
        if common is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {common}"
            yield invalid("status.failedIndexes", failed, why)


def _malformed(field: str, text: str, completions: int) -> Iterator[FieldError]:
    try:
        indexes.count(text, completions)
    except indexes.IndexesError as error:
        yield invalid(f"status.{field}", text, f"error parsing {field}: {error}")


def _pods(write: _Write) -> Iterator[FieldError]:
    terminating, ready = write.status.get("terminating"), write.status.get("ready")
    if (terminating or 0) > 0 and write.finished and (write.finishing or write.changed("terminating")):
        yield invalid("status.terminating", terminating, "terminating>0 is invalid for finished job")
    if ready is not None and ready > (write.status.get("active") or 0) and write.changed("ready", "active"):
        yield invalid("status.ready", ready, "cannot set more ready pods than active")


def _criteria(write: _Write) -> Iterator[FieldError]:
    met = "SuccessCriteriaMet" in write.true
    for other in ("Failed", "FailureTarget") if met else ():
        if other in write.true:
            yield _contradiction(f"cannot set SuccessCriteriaMet=True and {other}=true conditions")
    if write.spec.get("successPolicy") is not None and not met and "Complete" in write.true:
        yield _contradiction("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _transitions(write: _Write) -> Iterator[FieldError]:
    """Counters do not go back, conditions do not come off, the times are remembered."""
    status, before, spec = write.status, write.before, write.spec
    for kind in ("Failed", "Complete", "FailureTarget"):
        if kind in write.was and kind not in write.true:
            yield _contradiction(f"cannot disable the terminal {kind}=True condition")
    elastic = write.indexed and spec.get("completions") == spec.get("parallelism")
    for field in ("failed", "succeeded"):
        if (status.get(field) or 0) < (before.get(field) or 0) and not (field == "succeeded" and elastic):
            yield invalid(f"status.{field}", status.get(field) or 0, f"cannot decrease the {field} counter")
    ended, old_end = status.get("completionTime"), before.get("completionTime")
    if ended and old_end and ended != old_end:
        yield invalid("status.completionTime", ended, "completionTime cannot be mutated")
    resuming = "Suspended" in write.was and "Suspended" in _conditions(status, "False")
    begun, old_start = status.get("startTime"), before.get("startTime")
    if old_start and begun != old_start and not spec.get("suspend") and not resuming:
        yield invalid("status.startTime", begun, "field is immutable for unsuspended job once set")
    met, was_met = ("SuccessCriteriaMet" in one for one in (write.true, write.was))
    if was_met and not met:
        yield _contradiction("cannot disable the SuccessCriteriaMet=True condition")
    if met and not was_met and "Complete" in write.was:
        yield _contradiction("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
