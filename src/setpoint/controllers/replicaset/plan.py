"""The decision: from the pods that are there to the pods that should be. Pure and synchronous."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.expectations import TIMEOUT
from setpoint.client.owners import is_controlled_by
from setpoint.controllers import claims
from setpoint.controllers.owned_pods.ranking import pods_to_delete
from setpoint.controllers.owned_pods.state import is_active, is_terminating, next_availability
from setpoint.controllers.replicaset import status as statuses

BURST = 500


class Observed(Struct, frozen=True):
    """What the caches show. `pods` are the ReplicaSet's own and the orphans of its namespace, `related` those of its siblings
    (the ReplicaSets with the same controller). `trusted` says that nothing the controller wrote is still missing in the caches.
    """

    replica_set: apps_v1.ReplicaSet
    pods: Sequence[core_v1.Pod]
    related: Sequence[core_v1.Pod]
    trusted: bool
    now: float


class Plan(Struct, frozen=True):
    """What to write. `status` holds if nothing fails; `difference` is how many active pods there are too many."""

    replica_set: apps_v1.ReplicaSet
    status: apps_v1.ReplicaSetStatus
    difference: int
    adopt: tuple[core_v1.Pod, ...] = ()
    release: tuple[core_v1.Pod, ...] = ()
    create: int = 0
    delete: tuple[core_v1.Pod, ...] = ()
    requeue_after: float | None = None


def diff(observed: Observed) -> Plan:
    """What it takes to get from the observed pods to `spec.replicas` of them."""
    replica_set, now = observed.replica_set, observed.now
    selector = claims.selector_of(replica_set.spec.selector)
    claim = claims.sort(replica_set, selector, filter(is_active, observed.pods))
    active = claim.owned
    terminating = [
        pod
        for pod in observed.pods
        if is_terminating(pod) and claims.matches(selector, pod) and is_controlled_by(pod.metadata, replica_set)
    ]
    difference = len(active) - desired_replicas(replica_set)
    scales = observed.trusted and not replica_set.metadata.deletion_timestamp
    return Plan(
        replica_set,
        statuses.with_failure(statuses.calculate(replica_set, active, terminating, now), None, now),
        difference,
        claim.adopt,
        claim.release,
        min(max(-difference, 0), BURST) if scales else 0,
        _to_delete(observed, active, min(difference, BURST)) if scales else (),
        _look_again(observed, active),
    )


def _look_again(observed: Observed, active: tuple[core_v1.Pod, ...]) -> float | None:
    """In how many seconds; None where an event will say so. What is expected may never come: a pod that was made and deleted
    while the watch was broken off shows in no event, and only the time limit lets the caches be trusted again.
    """
    wait = next_availability(active, observed.replica_set.spec.min_ready_seconds, observed.now)
    if observed.trusted:
        return wait
    return TIMEOUT + 1 if wait is None else min(wait, TIMEOUT + 1)


def desired_replicas(replica_set: apps_v1.ReplicaSet) -> int:
    """`spec.replicas`, which the server has defaulted to 1."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


def _to_delete(observed: Observed, active: tuple[core_v1.Pod, ...], count: int) -> tuple[core_v1.Pod, ...]:
    return pods_to_delete(active, observed.related, count, observed.now) if count > 0 else ()
