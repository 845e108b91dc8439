"""From the old version to the new: step by step (RollingUpdate), or all at once after the old pods are gone (Recreate).

As `rolling.go` and `recreate.go` in `pkg/controller/deployment`. Each pass makes one move; the next one
comes when the ReplicaSets show what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.deployment import status
from setpoint.controllers.deployment.fenceposts import min_available
from setpoint.controllers.deployment.plan import Draft
from setpoint.controllers.deployment.replica_sets import active, available, by_creation, desired_replicas, replicas, total
from setpoint.controllers.deployment.versions import Versions, clean_up, new_replicas, split


def rolling(draft: Draft, replica_sets: Sequence[apps_v1.ReplicaSet]) -> Versions:
    """Scale up what may be scaled up, else scale down what may be scaled down, else clean up."""
    versions = split(draft, replica_sets, create=True)
    moved = _scale_new(draft, versions) or _scale_old(draft, versions)
    if not moved and status.is_complete(draft.deployment, draft.former):
        clean_up(draft, versions.old)
    return versions


def _scale_new(draft: Draft, versions: Versions) -> bool:
    new = versions.new
    if new is None:
        return False
    desired, own = desired_replicas(draft.deployment), replicas(new)
    count = desired if own >= desired else new_replicas(draft.deployment, total(versions.all), own)
    return draft.scale_if_needed(new, count)


def _scale_old(draft: Draft, versions: Versions) -> bool:
    """Take away what is broken first, then as many as can be missed."""
    old = {each.metadata.name: each for each in by_creation(active(versions.old))}
    if not old or versions.new is None:
        return False
    new_unavailable = replicas(versions.new) - versions.new.status.available_replicas
    spare = total(versions.all) - min_available(draft.deployment) - new_unavailable
    if spare <= 0:
        return False
    sizes = _without_unhealthy(old, spare)
    if sizes is None:
        return False
    moved = sum(draft.scale_if_needed(each, sizes[name]) for name, each in old.items())
    left = available(versions.all) - min_available(draft.deployment)
    for name, each in old.items():
        removed = max(0, min(sizes[name], left))
        left -= removed
        moved += removed
        if removed and sizes[name] != replicas(each):  # told of as a scaling of its own
            draft.rescale(each, sizes[name], sizes[name] - removed)
        else:
            draft.scale_if_needed(each, sizes[name] - removed)
    return moved > 0


def _without_unhealthy(old: Mapping[str, apps_v1.ReplicaSet], spare: int) -> dict[str, int] | None:
    """Sizes without the pods that are not available, `spare` at the most; None while a status is behind its spec."""
    sizes: dict[str, int] = {}
    for name, each in old.items():
        unhealthy = replicas(each) - each.status.available_replicas
        if unhealthy < 0 and spare > 0:
            return None  # it was scaled down and has not said so yet: its count of available pods is too high
        removed = min(spare, unhealthy)
        sizes[name] = replicas(each) - removed
        spare -= removed
    return sizes


def recreate(draft: Draft, replica_sets: Sequence[apps_v1.ReplicaSet], pods: Mapping[str, Sequence[core_v1.Pod]]) -> Versions:
    """Scale the old down; when their pods are gone, make the new."""
    versions = split(draft, replica_sets, create=False)
    if sum(draft.scale_if_needed(each, 0) for each in active(versions.old)) or old_pods_run(versions, pods):
        return versions
    if versions.new is None:
        versions = split(draft, replica_sets, create=True)
    elif not draft.scale_if_needed(versions.new, desired_replicas(draft.deployment)) and status.is_complete(
        draft.deployment, draft.former
    ):
        clean_up(draft, versions.old)
    return versions


def old_pods_run(versions: Versions, pods: Mapping[str, Sequence[core_v1.Pod]]) -> bool:
    """Whether a pod of an old version may still do something; one that is being deleted may."""
    if any(each.status.replicas for each in versions.old):
        return True
    new_uid = versions.new.metadata.uid if versions.new is not None else ""
    return any(pod.status.phase not in {"Succeeded", "Failed"} for uid, own in pods.items() if uid != new_uid for pod in own)
