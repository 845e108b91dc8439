"""Scaling a Deployment: one ReplicaSet alone takes all; in the middle of a rollout each takes its share.

As `scale` in `pkg/controller/deployment/sync.go`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from setpoint.api.types import apps_v1
from setpoint.controllers.deployment import revisions
from setpoint.controllers.deployment.fenceposts import is_rolling, max_surge
from setpoint.controllers.deployment.plan import Draft
from setpoint.controllers.deployment.replica_sets import active, by_creation, desired_replicas, replicas, total
from setpoint.controllers.deployment.versions import Versions


def is_scaling(deployment: apps_v1.Deployment, replica_sets: Iterable[apps_v1.ReplicaSet]) -> bool:
    """Whether the Deployment was resized since a ReplicaSet with pods was last told its size."""
    known = (revisions.integer(each.metadata.annotations.get(revisions.DESIRED)) for each in active(replica_sets))
    return any(desired is not None and desired != desired_replicas(deployment) for desired in known)


def scale(draft: Draft, versions: Versions) -> None:
    deployment = draft.deployment
    desired = desired_replicas(deployment)
    only = active_or_latest(versions)
    if only is not None:
        draft.scale_if_needed(only, desired)
    elif versions.new is not None and is_saturated(deployment, versions.new):
        for each in active(versions.old):
            draft.scale(each, 0)
    elif is_rolling(deployment):
        for each, size in shares(deployment, active(versions.all), draft.former.replicas):
            draft.scale(each, size)


def active_or_latest(versions: Versions) -> apps_v1.ReplicaSet | None:
    """The only ReplicaSet with replicas; if none has any, the new one or the youngest; None if several have."""
    busy = active(versions.all)
    if len(busy) > 1:
        return None
    if busy:
        return busy[0]
    if versions.new is not None:
        return versions.new
    return by_creation(versions.old)[-1] if versions.old else None


def is_saturated(deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet) -> bool:
    """The new ReplicaSet is what the Deployment wants, and all its pods are available."""
    desired = desired_replicas(deployment)
    known = revisions.integer(new.metadata.annotations.get(revisions.DESIRED))
    return (replicas(new), known, new.status.available_replicas) == (desired, desired, desired)


def shares(
    deployment: apps_v1.Deployment, replica_sets: Sequence[apps_v1.ReplicaSet], status_replicas: int
) -> list[tuple[apps_v1.ReplicaSet, int]]:
    """The size of each ReplicaSet once the difference is spread in proportion; what rounding leaves goes to the largest.

    Among equals the newer grows first, and the older shrinks first.
    """
    desired = desired_replicas(deployment)
    allowed = desired + max_surge(deployment) if desired > 0 else 0
    to_add = allowed - total(replica_sets)
    ordered = by_size(replica_sets, newer_first=to_add > 0)
    sizes: list[int] = []
    added = 0
    for each in ordered:
        share = proportion(each, deployment, to_add, added, status_replicas)
        sizes.append(replicas(each) + share)
        added += share
    if sizes:
        sizes[0] = max(0, sizes[0] + to_add - added)
    return [*zip(ordered, sizes, strict=True)]


def by_size(replica_sets: Sequence[apps_v1.ReplicaSet], *, newer_first: bool) -> list[apps_v1.ReplicaSet]:
    """Largest first, equals by age (sorting is stable)."""
    by_age = by_creation(replica_sets)
    return sorted(by_age[::-1] if newer_first else by_age, key=lambda each: -replicas(each))


def proportion(
    replica_set: apps_v1.ReplicaSet, deployment: apps_v1.Deployment, to_add: int, added: int, status_replicas: int
) -> int:
    """The ReplicaSet's part of `to_add`, of which others have taken `added`."""
    left = to_add - added
    if not replicas(replica_set) or not to_add or not left:
        return 0
    part = fraction(replica_set, deployment, status_replicas)
    return min(part, left) if to_add > 0 else max(part, left)


def fraction(replica_set: apps_v1.ReplicaSet, deployment: apps_v1.Deployment, status_replicas: int) -> int:
    """By how much the ReplicaSet must change to keep its share of the whole."""
    size, desired = replicas(replica_set), desired_replicas(deployment)
    if desired == 0:
        return -size
    before = revisions.integer(replica_set.metadata.annotations.get(revisions.MAXIMUM)) or status_replicas
    if not before:
        return 0
    return round_half_away(size * (desired + max_surge(deployment)) / before) - size


def round_half_away(value: float) -> int:
    """Go's `integer.RoundToInt32`: halves go away from zero."""
    return math.trunc(value - 0.5 if value < 0 else value + 0.5)
