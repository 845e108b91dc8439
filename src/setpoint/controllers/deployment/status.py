"""The status of a Deployment: counts from its ReplicaSets, and how its rollout gets on. Pure.

As `calculateStatus` and `syncRolloutStatus` in `pkg/controller/deployment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from setpoint.api.types import apps_v1
from setpoint.controllers.deployment import conditions
from setpoint.controllers.deployment.fenceposts import min_available
from setpoint.controllers.deployment.replica_sets import available, desired_replicas, terminating, total
from setpoint.kit.clock import parse_rfc3339

NO_DEADLINE = 2**31 - 1
Status = apps_v1.DeploymentStatus


def has_deadline(deployment: apps_v1.Deployment) -> bool:
    seconds = deployment.spec.progress_deadline_seconds
    return seconds is not None and seconds != NO_DEADLINE


def calculate(
    deployment: apps_v1.Deployment,
    former: Status,
    replica_sets: Sequence[apps_v1.ReplicaSet],
    new: apps_v1.ReplicaSet | None,
    now: float,
) -> Status:
    """The counts, and the condition Available; other conditions as in `former`."""
    ready_enough = available(replica_sets)
    if ready_enough >= min_available(deployment):
        text = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        text = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    return Status(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in replica_sets),
        updated_replicas=new.status.replicas if new is not None else 0,
        ready_replicas=sum(each.status.ready_replicas for each in replica_sets),
        available_replicas=ready_enough,
        unavailable_replicas=max(0, total(replica_sets) - ready_enough),
        terminating_replicas=terminating(replica_sets),
        collision_count=former.collision_count,
        conditions=conditions.put(former.conditions, conditions.new(conditions.AVAILABLE, *text, now)),
    )


def with_progress(
    deployment: apps_v1.Deployment,
    former: Status,
    status: Status,
    replica_sets: Sequence[apps_v1.ReplicaSet],
    new: apps_v1.ReplicaSet | None,
    now: float,
) -> Status:
    """`status` with the conditions Progressing and ReplicaFailure of a rollout that was at `former`."""
    current = conditions.get(former.conditions, conditions.PROGRESSING)
    if not has_deadline(deployment):
        listed = conditions.without(status.conditions, conditions.PROGRESSING)
    elif current is not None and current.reason == "NewReplicaSetAvailable" and status.replicas == status.updated_replicas:
        listed = status.conditions  # a rollout that was completed stays so, whatever its pods do
    else:
        listed = _progress(deployment, former, status, new, now)
    failure = conditions.of_replica_sets(new, replica_sets)
    if failure is None:
        return msgspec.structs.replace(status, conditions=conditions.without(listed, conditions.REPLICA_FAILURE))
    return msgspec.structs.replace(status, conditions=conditions.put(listed, failure))


def _progress(
    deployment: apps_v1.Deployment, former: Status, status: Status, new: apps_v1.ReplicaSet | None, now: float
) -> conditions.Conditions:
    subject = f'ReplicaSet "{new.metadata.name}"' if new is not None else f'Deployment "{deployment.metadata.name}"'

    def condition(value: str, reason: str, message: str) -> apps_v1.DeploymentCondition:
        return conditions.new(conditions.PROGRESSING, value, reason, f"{subject} {message}", now)

    if is_complete(deployment, status):
        done = condition("True", "NewReplicaSetAvailable", "has successfully progressed.")
        return conditions.put(status.conditions, done)
    if progressed(former, status):
        return conditions.replace(status.conditions, condition("True", "ReplicaSetUpdated", "is progressing."))
    if timed_out(deployment, status, now):
        late = condition("False", "ProgressDeadlineExceeded", "has timed out progressing.")
        return conditions.put(status.conditions, late)
    return status.conditions


def is_complete(deployment: apps_v1.Deployment, status: Status) -> bool:
    """All pods are of the new version and available, none of an old one is left."""
    desired = desired_replicas(deployment)
    counts = (status.updated_replicas, status.replicas, status.available_replicas)
    return counts == (desired, desired, desired) and status.observed_generation >= deployment.metadata.generation


def progressed(former: Status, status: Status) -> bool:
    """More of the new, fewer of the old, or more of any that work."""
    return (
        status.updated_replicas > former.updated_replicas
        or status.replicas - status.updated_replicas < former.replicas - former.updated_replicas
        or status.ready_replicas > former.ready_replicas
        or status.available_replicas > former.available_replicas
    )


def timed_out(deployment: apps_v1.Deployment, status: Status, now: float) -> bool:
    """Whether the last progress is longer ago than `progressDeadlineSeconds`."""
    condition = conditions.get(status.conditions, conditions.PROGRESSING)
    if condition is None or condition.reason == "NewReplicaSetAvailable":
        return False
    return condition.reason == "ProgressDeadlineExceeded" or deadline(deployment, condition) < now


def deadline(deployment: apps_v1.Deployment, condition: apps_v1.DeploymentCondition) -> float:
    """The moment until which the next progress must have come."""
    return parse_rfc3339(condition.last_update_time) + (deployment.spec.progress_deadline_seconds or 0)


def next_check(deployment: apps_v1.Deployment, status: Status, now: float) -> float | None:
    """In how many seconds to look whether the deadline has passed; None if it need not be watched."""
    condition = conditions.get(status.conditions, conditions.PROGRESSING)
    if condition is None or not has_deadline(deployment):
        return None
    if is_complete(deployment, status) or condition.reason in {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}:
        return None
    # One second more, since the recorded time has lost its fraction.
    return max(0.0, deadline(deployment, condition) - now) + 1


def patch(status: Status) -> dict[str, Any]:
    """The status as a merge patch wants it: what is zero is said too."""
    return {
        "observedGeneration": status.observed_generation,
        "replicas": status.replicas,
        "updatedReplicas": status.updated_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "unavailableReplicas": status.unavailable_replicas,
        "terminatingReplicas": status.terminating_replicas,
        "collisionCount": status.collision_count,
        "conditions": msgspec.to_builtins(status.conditions) or None,
    }
