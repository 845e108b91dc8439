"""The status of a budget, computed from its pods and the scales of their controllers; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.types import meta_v1
from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.policy_v1 import PodDisruptionBudget, PodDisruptionBudgetStatus
from setpoint.client.owners import controller_of
from setpoint.controllers.owned_pods.state import is_ready
from setpoint.kit.clock import parse_rfc3339, rfc3339

#: how long a pod that was evicted may take to go before it counts again
DELETION_TIMEOUT = 120.0
_CONDITION = "DisruptionAllowed"


class ScaleError(Exception):
    """A pod's controller does not say how many pods it wants."""


class Scale(Struct, frozen=True):
    """How many pods are wanted, and the uid of what wants them: all ReplicaSets of a Deployment count once."""

    uid: str
    replicas: int


class Observed(Struct, frozen=True):
    """A budget, the pods that it selects, and by uid the scales of their controllers, or why those are not known."""

    budget: PodDisruptionBudget
    pods: Sequence[Pod]
    scales: Mapping[str, Scale | str | None]
    now: float


def scaled(value: int | str, total: int) -> int:
    """A number, or so many percent of all, rounded up."""
    return math.ceil(int(value.removesuffix("%")) * total / 100) if isinstance(value, str) else value


def expected_scale(observed: Observed) -> int:
    """The replicas of all controllers of the pods; pods without one do not count. Raises ScaleError."""
    seen: dict[str, int] = {}
    for pod in observed.pods:
        ref = controller_of(pod.metadata)
        if ref is None:
            continue
        scale = observed.scales.get(ref.uid)
        if isinstance(scale, str):
            raise ScaleError(scale)
        if scale is None:
            raise ScaleError(f'found no controllers for pod "{pod.metadata.name}"')
        seen[scale.uid] = scale.replicas
    return sum(seen.values())


def counts_controllers(budget: PodDisruptionBudget) -> bool:
    """Whether how many pods there should be is asked of their controllers."""
    return budget.spec.max_unavailable is not None or isinstance(budget.spec.min_available, str)


def expectation(observed: Observed) -> tuple[int, int]:
    """How many pods there should be, and how many of them healthy."""
    spec = observed.budget.spec
    if spec.max_unavailable is not None:
        total = expected_scale(observed)
        return total, max(total - scaled(spec.max_unavailable, total), 0)
    if isinstance(spec.min_available, str):
        total = expected_scale(observed)
        return total, scaled(spec.min_available, total)
    return (0, 0) if spec.min_available is None else (len(observed.pods), spec.min_available)


def disrupted(observed: Observed) -> dict[str, str]:
    """The evictions whose pods are still to go, by pod."""
    pods = {pod.metadata.name: pod for pod in observed.pods}
    out = {}
    for name, time in (observed.budget.status.disrupted_pods or {}).items():
        pod = pods.get(name)
        going = pod is None or pod.metadata.deletion_timestamp
        if not going and parse_rfc3339(time) + DELETION_TIMEOUT > observed.now:
            out[name] = time
    return out


def overdue(observed: Observed) -> tuple[Pod, ...]:
    """The pods that were evicted, should be gone by now and are not even being deleted."""
    evicted, waited_for = observed.budget.status.disrupted_pods or {}, disrupted(observed)
    left = (pod for pod in observed.pods if pod.metadata.name in evicted and pod.metadata.name not in waited_for)
    return tuple(pod for pod in left if not pod.metadata.deletion_timestamp)


def calculate(observed: Observed) -> PodDisruptionBudgetStatus:
    """The status as of `now`. Raises ScaleError."""
    budget = observed.budget
    expected, desired = expectation(observed)
    evicted = disrupted(observed)
    healthy = sum(
        1 for pod in observed.pods if not pod.metadata.deletion_timestamp and pod.metadata.name not in evicted and is_ready(pod)
    )
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    return PodDisruptionBudgetStatus(
        conditions=_with_condition(budget, "True" if allowed else "False", reason, "", observed.now, budget.metadata.generation),
        current_healthy=healthy,
        desired_healthy=desired,
        disrupted_pods=evicted,
        disruptions_allowed=allowed,
        expected_pods=expected,
        observed_generation=budget.metadata.generation,
    )


def failed(observed: Observed, message: str) -> PodDisruptionBudgetStatus:
    """What cannot be computed allows nothing."""
    budget = observed.budget
    seen = budget.status.observed_generation
    conditions = _with_condition(budget, "False", "SyncFailed", message, observed.now, seen)
    return msgspec.structs.replace(budget.status, conditions=conditions, disruptions_allowed=0)


def _with_condition(
    budget: PodDisruptionBudget, status: str, reason: str, message: str, now: float, generation: int
) -> tuple[meta_v1.Condition, ...]:
    conditions = budget.status.conditions
    before = next((one for one in conditions if one.type == _CONDITION), None)
    since = before.last_transition_time if before is not None and before.status == status else rfc3339(now)
    condition = meta_v1.Condition(
        type=_CONDITION,
        status=status,
        reason=reason,
        message=message,
        observed_generation=generation,
        last_transition_time=since,
    )
    return (*(one for one in conditions if one.type != _CONDITION), condition)


def patch(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus) -> dict[str, Any]:
    """The merge patch of `/status`, valid for the version that was seen: evictions write here, too."""
    gone = {name: None for name in budget.status.disrupted_pods or {} if name not in status.disrupted_pods}
    body: dict[str, Any] = {
        "conditions": msgspec.to_builtins(status.conditions),
        "currentHealthy": status.current_healthy,
        "desiredHealthy": status.desired_healthy,
        "disruptionsAllowed": status.disruptions_allowed,
        "expectedPods": status.expected_pods,
        "observedGeneration": status.observed_generation,
    }
    if gone:
        body["disruptedPods"] = None if not status.disrupted_pods else {**gone, **status.disrupted_pods}
    return {"metadata": {"resourceVersion": budget.metadata.resource_version}, "status": body}
