"""The conditions of a Job: what it is about to end with, what it has ended with, whether it is suspended. Pure."""

from __future__ import annotations

import msgspec

from setpoint.api.types import batch_v1
from setpoint.kit.clock import rfc3339

COMPLETE, FAILED, SUSPENDED = "Complete", "Failed", "Suspended"
CRITERIA_MET, FAILURE_TARGET = "SuccessCriteriaMet", "FailureTarget"

Conditions = tuple[batch_v1.JobCondition, ...]


def new(kind: str, reason: str, message: str, now: float, status: str = "True") -> batch_v1.JobCondition:
    time = rfc3339(now)
    return batch_v1.JobCondition(
        type=kind, status=status, reason=reason, message=message, last_probe_time=time, last_transition_time=time
    )


def find(listed: Conditions, kind: str) -> batch_v1.JobCondition | None:
    return next((condition for condition in listed if condition.type == kind), None)


def holding(listed: Conditions, kind: str) -> batch_v1.JobCondition | None:
    """The condition if it is there and True."""
    found = find(listed, kind)
    return found if found is not None and found.status == "True" else None


def is_finished(job: batch_v1.Job) -> bool:
    return any(holding(job.status.conditions, kind) is not None for kind in (COMPLETE, FAILED))


def ensure(listed: Conditions, condition: batch_v1.JobCondition) -> Conditions:
    """`listed` with the condition; the same tuple where nothing changes. What is absent is not added as False."""
    present = find(listed, condition.type)
    if present is None:
        return (*listed, condition) if condition.status != "False" else listed
    if (present.status, present.reason, present.message) == (condition.status, condition.reason, condition.message):
        return listed
    return tuple(condition if each is present else each for each in listed)


def final(interim: batch_v1.JobCondition, now: float) -> batch_v1.JobCondition:
    """What a Job has ended with, when it was about to end so."""
    kinds = {CRITERIA_MET: COMPLETE, FAILURE_TARGET: FAILED}
    time = rfc3339(now)
    return msgspec.structs.replace(
        interim, type=kinds[interim.type], status="True", last_probe_time=time, last_transition_time=time
    )
