"""Which pods go first when a ReplicaSet shrinks.

The order is Kubernetes' own (`ActivePodsWithRanks` in `pkg/controller/controller_utils.go`): what does the least, and what has
cost the least, goes first. Ages are compared by their logarithm, so that pods of about the same age are chosen between at random
(by uid) and a rollout does not always hit the youngest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

from setpoint.api.types import core_v1
from setpoint.controllers.owned_pods.state import is_active, is_ready, ready_since
from setpoint.kit.clock import parse_rfc3339

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def pods_to_delete(
    owned: Sequence[core_v1.Pod], related: Sequence[core_v1.Pod], count: int, now: float
) -> tuple[core_v1.Pod, ...]:
    """The first `count` of the pods to go; `related` are the pods of all ReplicaSets with the same owner."""
    if count >= len(owned):
        return tuple(owned)
    per_node = Counter(pod.spec.node_name for pod in related if is_active(pod))

    def order(a: core_v1.Pod, b: core_v1.Pod) -> int:
        return compare(a, b, per_node, now)

    return tuple(sorted(owned, key=cmp_to_key(order))[:count])


def compare(a: core_v1.Pod, b: core_v1.Pod, per_node: Counter[str], now: float) -> int:
    """Below zero if `a` goes before `b`."""
    for difference in (
        bool(a.spec.node_name) - bool(b.spec.node_name),
        _PHASES.get(a.status.phase, 0) - _PHASES.get(b.status.phase, 0),
        is_ready(a) - is_ready(b),
        deletion_cost(a) - deletion_cost(b),
        per_node[b.spec.node_name] - per_node[a.spec.node_name],
    ):
        if difference:
            return difference
    if is_ready(a) and is_ready(b) and (difference := _by_age(a, b, ready_since(a), ready_since(b), now)):
        return difference
    if difference := _by_restarts(a, b):
        return difference
    return _by_age(a, b, _created(a), _created(b), now)


def least_advanced_first(pod: core_v1.Pod) -> tuple[Any, ...]:
    """Sort key of the older order (`ActivePods`), which asks for no cost and takes ages as they are: the youngest go first."""
    containers, sidecars = _restarts(pod)
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase, 0),
        is_ready(pod),
        *_youngest(ready_since(pod)),
        -containers,
        -sidecars,
        *_youngest(_created(pod)),
    )


def _youngest(since: float | None) -> tuple[bool, float]:
    return (False, 0.0) if since is None else (True, -since)


def deletion_cost(pod: core_v1.Pod) -> int:
    """The annotation's value; 0 where it is absent or not an integer as Kubernetes wants it (no `+`, no leading zero)."""
    text = (pod.metadata.annotations or {}).get(DELETION_COST, "0")
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or (text[0] == "0" and text != "0"):
        return 0
    value = int(text)
    return value if -(2**31) <= value < 2**31 else 0


def _created(pod: core_v1.Pod) -> float | None:
    return parse_rfc3339(pod.metadata.creation_timestamp) if pod.metadata.creation_timestamp else None


def _by_age(a: core_v1.Pod, b: core_v1.Pod, since_a: float | None, since_b: float | None, now: float) -> int:
    """Unknown before younger before older; about the same age: by uid."""
    if since_a == since_b:
        return 0
    if since_a is None or since_b is None:
        return -1 if since_a is None else 1
    return _magnitude(now - since_a) - _magnitude(now - since_b) or (-1 if a.metadata.uid < b.metadata.uid else 1)


def _magnitude(age: float) -> int:
    """Kubernetes takes the logarithm of nanoseconds; -1 for what lies in the future."""
    return int(math.log2(age * 1e9)) if age > 0 else -1


def _by_restarts(a: core_v1.Pod, b: core_v1.Pod) -> int:
    """The one whose most restarted container (then sidecar) restarted more often goes first."""
    containers_a, sidecars_a = _restarts(a)
    containers_b, sidecars_b = _restarts(b)
    return containers_b - containers_a or sidecars_b - sidecars_a


def _restarts(pod: core_v1.Pod) -> tuple[int, int]:
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    containers = max((status.restart_count for status in pod.status.container_statuses), default=0)
    inits = (status.restart_count for status in pod.status.init_container_statuses if status.name in sidecars)
    return containers, max(inits, default=0)
