"""Conditions of a Deployment: a condition's transition time moves with its status, a changed one goes to the end of the list."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from setpoint.api.types import apps_v1
from setpoint.kit.clock import rfc3339

AVAILABLE = "Available"
PROGRESSING = "Progressing"
REPLICA_FAILURE = "ReplicaFailure"
Conditions = tuple[apps_v1.DeploymentCondition, ...]


def new(type: str, status: str, reason: str, message: str, now: float) -> apps_v1.DeploymentCondition:
    moment = rfc3339(now)
    return apps_v1.DeploymentCondition(
        type=type, status=status, reason=reason, message=message, last_update_time=moment, last_transition_time=moment
    )


def get(conditions: Iterable[apps_v1.DeploymentCondition], type: str) -> apps_v1.DeploymentCondition | None:
    return next((condition for condition in conditions if condition.type == type), None)


def without(conditions: Conditions, type: str) -> Conditions:
    return tuple(condition for condition in conditions if condition.type != type)


def put(conditions: Conditions, condition: apps_v1.DeploymentCondition) -> Conditions:
    """Set a condition. One with the same status and reason is left as it is, whatever its message and times."""
    current = get(conditions, condition.type)
    if current is not None and current.status == condition.status:
        if current.reason == condition.reason:
            return conditions
        condition = msgspec.structs.replace(condition, last_transition_time=current.last_transition_time)
    return (*without(conditions, condition.type), condition)


def replace(conditions: Conditions, condition: apps_v1.DeploymentCondition) -> Conditions:
    """Set a condition even if only its times change: progress that goes on is news."""
    current = get(conditions, condition.type)
    if current is not None and current.status == "True":
        condition = msgspec.structs.replace(condition, last_transition_time=current.last_transition_time)
    return (*without(conditions, condition.type), condition)


def of_replica_sets(
    new_replica_set: apps_v1.ReplicaSet | None, replica_sets: Iterable[apps_v1.ReplicaSet]
) -> apps_v1.DeploymentCondition | None:
    """The ReplicaFailure to report: the new ReplicaSet's before any other's."""
    candidates = [*([new_replica_set] if new_replica_set is not None else []), *replica_sets]
    failures = (each for candidate in candidates for each in candidate.status.conditions if each.type == REPLICA_FAILURE)
    failure = next(failures, None)
    if failure is None:
        return None
    return apps_v1.DeploymentCondition(
        type=REPLICA_FAILURE,
        status=failure.status,
        reason=failure.reason,
        message=failure.message,
        last_update_time=failure.last_transition_time,
        last_transition_time=failure.last_transition_time,
    )
