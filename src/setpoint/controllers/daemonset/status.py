"""The status of a DaemonSet, counted over nodes; pure. As `updateDaemonSetStatus` in `daemon_controller.go`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.daemonset.nodes import Places
from setpoint.controllers.daemonset.versions import is_updated
from setpoint.controllers.owned_pods.state import is_available, is_ready

ByNode = Mapping[str, Sequence[core_v1.Pod]]


def oldest_first(pod: core_v1.Pod) -> tuple[bool, str, str]:
    """Sort key: pods on a node before those that wait for one, then by age and name."""
    return (not pod.spec.node_name, pod.metadata.creation_timestamp, pod.metadata.name)


def calculate(daemon_set: apps_v1.DaemonSet, places: Places, by_node: ByNode, hash_: str, now: float) -> apps_v1.DaemonSetStatus:
    """The counts as of `now`; the oldest pod of a node counts."""
    running = [name for name, (run, _) in places.items() if run]
    there = {name for name in places if by_node.get(name)}
    counted = [min(by_node[name], key=oldest_first) for name in running if name in there]
    available = sum(is_available(pod, daemon_set.spec.min_ready_seconds, now) for pod in counted)
    return msgspec.structs.replace(
        daemon_set.status,
        desired_number_scheduled=len(running),
        current_number_scheduled=len(counted),
        number_misscheduled=len(there.difference(running)),
        number_ready=sum(map(is_ready, counted)),
        number_available=available,
        number_unavailable=len(running) - available,
        updated_number_scheduled=sum(is_updated(daemon_set, pod, hash_) for pod in counted),
    )


def patch(daemon_set: apps_v1.DaemonSet, status: apps_v1.DaemonSetStatus) -> dict[str, Any]:
    """The merge patch of `/status`, valid only for the version that was observed."""
    return {
        "metadata": {"resourceVersion": daemon_set.metadata.resource_version},
        "status": {
            "observedGeneration": status.observed_generation,
            "desiredNumberScheduled": status.desired_number_scheduled,
            "currentNumberScheduled": status.current_number_scheduled,
            "numberMisscheduled": status.number_misscheduled,
            "numberReady": status.number_ready,
            "updatedNumberScheduled": status.updated_number_scheduled,
            "numberAvailable": status.number_available,
            "numberUnavailable": status.number_unavailable,
            "collisionCount": status.collision_count,
        },
    }
