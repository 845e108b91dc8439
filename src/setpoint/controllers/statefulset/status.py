"""The status of a StatefulSet, counted from its pods; pure. As `updateStatus` in `stateful_set_control.go`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.statefulset import health
from setpoint.controllers.statefulset.identity import replicas, revision_of
from setpoint.controllers.statefulset.versions import Versions


def calculate(
    stateful_set: apps_v1.StatefulSet, versions: Versions, pods: Sequence[core_v1.Pod], now: float
) -> apps_v1.StatefulSetStatus:
    """The counts as of `now`."""
    min_ready = stateful_set.spec.min_ready_seconds
    standing = [revision_of(pod) for pod in pods if health.is_created(pod) and not health.is_terminating(pod)]
    return msgspec.structs.replace(
        stateful_set.status,
        observed_generation=stateful_set.metadata.generation,
        current_revision=versions.current,
        update_revision=versions.update,
        collision_count=stateful_set.status.collision_count or 0,
        replicas=sum(map(health.is_created, pods)),
        ready_replicas=sum(map(health.is_running_and_ready, pods)),
        available_replicas=sum(health.is_running_and_available(pod, min_ready, now) for pod in pods),
        current_replicas=standing.count(versions.current),
        updated_replicas=standing.count(versions.update),
    )


def completed(stateful_set: apps_v1.StatefulSet, status: apps_v1.StatefulSetStatus) -> apps_v1.StatefulSetStatus:
    """Where all pods have the update revision and are ready, it is the current one from now on."""
    wanted = replicas(stateful_set)
    if stateful_set.spec.update_strategy.type != "RollingUpdate" or not (
        status.updated_replicas == status.ready_replicas == status.replicas == wanted
    ):
        return status
    return msgspec.structs.replace(status, current_replicas=status.updated_replicas, current_revision=status.update_revision)


def patch(stateful_set: apps_v1.StatefulSet, status: apps_v1.StatefulSetStatus) -> dict[str, Any]:
    """The merge patch of `/status`, valid only for the version that was observed."""
    return {
        "metadata": {"resourceVersion": stateful_set.metadata.resource_version},
        "status": {
            "observedGeneration": status.observed_generation,
            "replicas": status.replicas,
            "readyReplicas": status.ready_replicas,
            "availableReplicas": status.available_replicas,
            "currentReplicas": status.current_replicas,
            "updatedReplicas": status.updated_replicas,
            "currentRevision": status.current_revision,
            "updateRevision": status.update_revision,
            "collisionCount": status.collision_count,
        },
    }
