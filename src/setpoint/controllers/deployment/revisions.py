"""The annotations by which a Deployment numbers its ReplicaSets and remembers how it scaled them.

The rules are those of `SetNewReplicaSetAnnotations` in `pkg/controller/deployment/util/deployment_util.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from setpoint.api.machinery.integers import int64
from setpoint.api.types import apps_v1
from setpoint.controllers.deployment.fenceposts import max_surge
from setpoint.controllers.deployment.replica_sets import desired_replicas

REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        HISTORY,
        DESIRED,
        MAXIMUM,
        "deprecated.deployment.rollback.to",
    }
)
HISTORY_CHARACTERS = 2000


def integer(text: str | None) -> int | None:
    """The number in an annotation, None where there is none."""
    return int64(text) if text else None


def max_revision(replica_sets: Iterable[apps_v1.ReplicaSet]) -> int:
    """The highest revision number among them, 0 if they have none."""
    return max((integer(each.metadata.annotations.get(REVISION)) or 0 for each in replica_sets), default=0)


def replica_annotations(deployment: apps_v1.Deployment) -> dict[str, str]:
    """What a ReplicaSet is told of the whole when it is scaled; proportional scaling reads it."""
    desired = desired_replicas(deployment)
    return {DESIRED: str(desired), MAXIMUM: str(desired + max_surge(deployment))}


def copied(deployment: apps_v1.Deployment) -> dict[str, str]:
    """The Deployment's annotations that its new ReplicaSet gets too."""
    return {key: value for key, value in deployment.metadata.annotations.items() if key not in NOT_COPIED}


def for_new(deployment: apps_v1.Deployment, present: Mapping[str, str], revision: int) -> dict[str, str]:
    """What changes in the annotations `present` of the new ReplicaSet, whose revision should be at least `revision`."""
    changes = {key: value for key, value in copied(deployment).items() if present.get(key) != value}
    former = present.get(REVISION)
    number = integer(former)
    if former and number is None:
        return changes  # somebody wrote something else there: leave it
    if (number or 0) < revision:
        changes[REVISION] = str(revision)
        if former:  # an old version is the new one again
            history = extended_history(present.get(HISTORY, ""), former)
            if history != present.get(HISTORY, ""):
                changes[HISTORY] = history
    return changes


def extended_history(history: str, revision: str) -> str:
    """`history` with one more revision at its end; the oldest go when it becomes too long."""
    if not history:
        return revision
    numbers = history.split(",")
    length = len(history) + len(revision) + 1
    start = 0
    while length > HISTORY_CHARACTERS and start < len(numbers):
        length -= len(numbers[start]) + 1
        start += 1
    return ",".join([*numbers[start:], revision]) if length <= HISTORY_CHARACTERS else history
