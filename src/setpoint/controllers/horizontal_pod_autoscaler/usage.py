"""How many replicas a metric asks for. Pure. As `pkg/controller/podautoscaler/replica_calculator.go`.

Amounts are in thousandths. Pods without a metric count as what keeps replicas where they are: as using all on the way down,
nothing on the way up; pods that are not ready yet count as using nothing on the way up, and not at all on the way down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from setpoint.api.machinery import quantity
from setpoint.api.types import core_v1
from setpoint.controllers.horizontal_pod_autoscaler.plan import Sample
from setpoint.controllers.owned_pods.state import is_ready, ready_condition
from setpoint.kit.clock import parse_rfc3339

INITIALIZATION = 300.0
"""Seconds after a pod's start in which its CPU says little (--horizontal-pod-autoscaler-cpu-initialization-period)."""
INITIAL_READINESS = 30.0
"""Seconds in which a pod's first readiness may come (--horizontal-pod-autoscaler-initial-readiness-delay)."""
_NO_METRICS = "did not receive metrics for targeted pods (pods might be unready)"
_NO_PODS = "no pods returned by selector while calculating replica count"


class Uncountable(Exception):
    """No count can be told; the message is Kubernetes'."""


class Tolerance(Struct, frozen=True):
    """How far usage may be from its target before replicas change."""

    down: float = 0.1
    up: float = 0.1

    def covers(self, ratio: float) -> bool:
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Groups(Struct, frozen=True):
    """The names of pods by what their samples are worth."""

    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


class Used(Struct, frozen=True):
    """A proposal: replicas; the average in thousandths; and in percent of what is requested, where the target is."""

    replicas: int
    average: int
    percent: int | None = None


def group(pods: Iterable[core_v1.Pod], samples: Mapping[str, Sample], resource: str, now: float) -> Groups:
    """Sort the pods; `resource` is empty for metrics that are not of a resource."""
    names: dict[str, set[str]] = {"unready": set(), "missing": set(), "ignored": set()}
    ready = 0
    for pod in pods:
        kind = _worth(pod, samples.get(pod.metadata.name), resource, now)
        if kind:
            names[kind].add(pod.metadata.name)
        else:
            ready += 1
    return Groups(ready, *(frozenset(names[kind]) for kind in ("unready", "missing", "ignored")))


def _worth(pod: core_v1.Pod, sample: Sample | None, resource: str, now: float) -> str:
    if pod.metadata.deletion_timestamp or pod.status.phase == "Failed":
        return "ignored"
    if pod.status.phase == "Pending":
        return "unready"
    if sample is None:
        return "missing"
    return "unready" if resource == "cpu" and _starting(pod, sample, now) else ""


def _starting(pod: core_v1.Pod, sample: Sample, now: float) -> bool:
    """Whether a CPU sample is of a pod's start rather than of its work."""
    condition = ready_condition(pod)
    if condition is None or not pod.status.start_time:
        return True
    started = parse_rfc3339(pod.status.start_time)
    turned = parse_rfc3339(condition.last_transition_time) if condition.last_transition_time else 0.0
    if started + INITIALIZATION > now:
        return condition.status == "False" or sample.taken < turned + sample.window
    return condition.status == "False" and started + INITIAL_READINESS > turned


def requests(pods: Sequence[core_v1.Pod], container: str, resource: str) -> dict[str, int]:
    """What each pod, or its container of that name, requests. Raises Uncountable when one requests nothing."""
    return {pod.metadata.name: _requested(pod, container, resource) for pod in pods}


def _requested(pod: core_v1.Pod, container: str, resource: str) -> int:
    spec = pod.spec
    own = spec.resources.requests if not container and spec.resources is not None else None
    if own:
        if resource not in own:
            raise Uncountable(f"missing pod-level request for {resource} in Pod {pod.metadata.name}")
        return quantity.parse(own[resource]).milli_value()
    total = 0
    stays = [each for each in spec.init_containers if each.restart_policy == "Always"]
    for each in (*spec.containers, *stays):
        if container in {"", each.name}:
            if resource not in each.resources.requests:
                raise Uncountable(f"missing request for {resource} in container {each.name} of Pod {pod.metadata.name}")
            total += quantity.parse(each.resources.requests[resource]).milli_value()
    return total


def _percent(samples: Mapping[str, Sample], requested: Mapping[str, int]) -> tuple[int, int]:
    """Usage in percent of the requests, and its average."""
    known = [name for name in samples if name in requested]
    asked = sum(requested[name] for name in known)
    if not asked:
        raise Uncountable("no metrics returned matched known pods")
    used = sum(samples[name].value for name in known)
    return used * 100 // asked, used // len(known)


def of_utilization(
    current: int,
    percent: int,
    samples: Mapping[str, Sample],
    pods: Sequence[core_v1.Pod],
    groups: Groups,
    requested: Mapping[str, int],
    tolerance: Tolerance,
) -> Used:
    """Replicas that bring usage to `percent` of the requests."""
    counted = counted_at_first(samples, groups, pods)
    utilization, average = _percent(counted, requested)

    def ratio(of: Mapping[str, Sample]) -> float:
        return _percent(of, requested)[0] / percent

    def full(name: str) -> int:
        return requested[name] * max(100, percent) // 100

    return Used(_replicas(current, counted, groups, ratio, full, tolerance), average, utilization)


def of_average(
    current: int,
    target: int,
    samples: Mapping[str, Sample],
    pods: Sequence[core_v1.Pod],
    groups: Groups,
    tolerance: Tolerance,
) -> Used:
    """Replicas that bring the average of a metric to `target`."""
    counted = counted_at_first(samples, groups, pods)

    def average(of: Mapping[str, Sample]) -> int:
        return sum(sample.value for sample in of.values()) // len(of)

    def ratio(of: Mapping[str, Sample]) -> float:
        return average(of) / target

    return Used(_replicas(current, counted, groups, ratio, lambda _: target, tolerance), average(counted))


def counted_at_first(samples: Mapping[str, Sample], groups: Groups, pods: Sequence[core_v1.Pod]) -> dict[str, Sample]:
    """The samples that count at first. Raises Uncountable when there are none."""
    if not pods:
        raise Uncountable(_NO_PODS)
    left_out = groups.ignored | groups.unready
    counted = {name: sample for name, sample in samples.items() if name not in left_out}
    if not counted:
        raise Uncountable(_NO_METRICS)
    return counted


def _replicas(
    current: int,
    counted: Mapping[str, Sample],
    groups: Groups,
    ratio_of: Callable[[Mapping[str, Sample]], float],
    full: Callable[[str], int],
    tolerance: Tolerance,
) -> int:
    ratio = ratio_of(counted)
    waits = bool(groups.unready) and ratio > 1.0
    if not waits and not groups.missing:
        return current if tolerance.covers(ratio) else math.ceil(ratio * groups.ready)
    filled = dict(counted)
    if ratio < 1.0:
        filled |= {name: Sample(full(name)) for name in groups.missing}
    elif ratio > 1.0:
        filled |= {name: Sample(0) for name in groups.missing | groups.unready}
    again = ratio_of(filled)
    if tolerance.covers(again) or (again - 1.0) * (ratio - 1.0) < 0:
        return current
    replicas = math.ceil(again * len(filled))
    turned = (again < 1.0 and replicas > current) or (again > 1.0 and replicas < current)
    return current if turned else replicas


def of_value(current: int, target: int, amount: int, pods: Sequence[core_v1.Pod], tolerance: Tolerance) -> Used:
    """Replicas for a metric that is of no pod and shrinks as replicas grow."""
    ratio = amount / target
    if not current:
        return Used(math.ceil(ratio), amount)
    if tolerance.covers(ratio):
        return Used(current, amount)
    if not pods:
        raise Uncountable(f"unable to calculate ready pods: {_NO_PODS}")
    ready = sum(pod.status.phase == "Running" and is_ready(pod) for pod in pods)
    return Used(math.ceil(ratio * ready), amount)


def of_share(current: int, target: int, amount: int, tolerance: Tolerance) -> Used:
    """Replicas for an amount that they share among them."""
    wanted = math.ceil(amount / target)
    if not current:
        return Used(wanted, amount)
    replicas = current if tolerance.covers(amount / (target * current)) else wanted
    return Used(replicas, math.ceil(amount / current))
