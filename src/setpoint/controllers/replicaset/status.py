"""The status of a ReplicaSet, computed from its pods; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from setpoint.api.machinery.selectors import from_labels
from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.claims import matches
from setpoint.controllers.owned_pods.state import is_available, is_ready
from setpoint.kit.clock import rfc3339

REPLICA_FAILURE = "ReplicaFailure"


def calculate(
    replica_set: apps_v1.ReplicaSet, active: Sequence[core_v1.Pod], terminating: Sequence[core_v1.Pod], now: float
) -> apps_v1.ReplicaSetStatus:
    """The counts as of `now`; conditions as they were."""
    template_labels = from_labels(replica_set.spec.template.metadata.labels or {})
    min_ready = replica_set.spec.min_ready_seconds
    return msgspec.structs.replace(
        replica_set.status,
        replicas=len(active),
        fully_labeled_replicas=sum(matches(template_labels, pod) for pod in active),
        ready_replicas=sum(map(is_ready, active)),
        available_replicas=sum(is_available(pod, min_ready, now) for pod in active),
        terminating_replicas=len(terminating),
        observed_generation=replica_set.metadata.generation,
    )


def with_failure(status: apps_v1.ReplicaSetStatus, failure: tuple[str, str] | None, now: float) -> apps_v1.ReplicaSetStatus:
    """Set or remove ReplicaFailure. `failure` is (reason, message); a condition that is already there stays as it is."""
    present = any(condition.type == REPLICA_FAILURE for condition in status.conditions)
    if (failure is not None) == present:
        return status
    if failure is None:
        kept = tuple(condition for condition in status.conditions if condition.type != REPLICA_FAILURE)
        return msgspec.structs.replace(status, conditions=kept)
    reason, message = failure
    condition = apps_v1.ReplicaSetCondition(
        type=REPLICA_FAILURE, status="True", last_transition_time=rfc3339(now), reason=reason, message=message
    )
    return msgspec.structs.replace(status, conditions=(*status.conditions, condition))


def keeping_failure(status: apps_v1.ReplicaSetStatus, former: apps_v1.ReplicaSetStatus) -> apps_v1.ReplicaSetStatus:
    """`status` with the conditions that the object had before."""
    return msgspec.structs.replace(status, conditions=former.conditions)


def patch(replica_set: apps_v1.ReplicaSet, status: apps_v1.ReplicaSetStatus) -> dict[str, Any]:
    """The merge patch of `/status`; valid only for the version that was observed: an older view must not replace a newer one."""
    return {
        "metadata": {"resourceVersion": replica_set.metadata.resource_version},
        "status": {
            "replicas": status.replicas,
            "fullyLabeledReplicas": status.fully_labeled_replicas,
            "readyReplicas": status.ready_replicas,
            "availableReplicas": status.available_replicas,
            "terminatingReplicas": status.terminating_replicas,
            "observedGeneration": status.observed_generation,
            "conditions": msgspec.to_builtins(status.conditions) or None,
        },
    }
