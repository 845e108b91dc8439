"""The decision over a HorizontalPodAutoscaler. Pure. As `reconcileAutoscaler` in `pkg/controller/podautoscaler/horizontal.go`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from setpoint.api.types.autoscaling_v2 import (
    HorizontalPodAutoscaler,
    HorizontalPodAutoscalerCondition,
    HorizontalPodAutoscalerStatus,
    MetricStatus,
)
from setpoint.controllers.event import Event
from setpoint.controllers.horizontal_pod_autoscaler import plan as kinds
from setpoint.controllers.horizontal_pod_autoscaler.plan import Change, Failure, Memory, Observed, Plan, Selected, Target
from setpoint.controllers.horizontal_pod_autoscaler.proposals import Given, Proposal, Useless, propose, tolerance
from setpoint.controllers.horizontal_pod_autoscaler.stabilizing import Asked, allow, noted
from setpoint.kit.clock import rfc3339

Conditions = tuple[HorizontalPodAutoscalerCondition, ...]
_UNREAD = "the HPA controller was unable to get the target's current scale: "
_READ = "the HPA controller was able to get the target's current scale"


def least(hpa: HorizontalPodAutoscaler) -> int:
    """The fewest replicas; one if none is said."""
    return 1 if hpa.spec.min_replicas is None else hpa.spec.min_replicas


def asks_metrics(hpa: HorizontalPodAutoscaler, target: Target) -> bool:
    """Whether metrics decide: the target is not switched off, and within its bounds."""
    off = target.replicas == 0 and least(hpa) != 0
    return not off and least(hpa) <= target.replicas <= hpa.spec.max_replicas


class Draft(Struct):
    """A status on its way, and what there is to tell."""

    conditions: Conditions
    now: float
    events: tuple[Event, ...] = ()

    def set(self, kind: str, status: str, reason: str, message: str) -> None:
        """The time of a condition is that of its last change of status."""
        old = next((each for each in self.conditions if each.type == kind), None)
        since = old.last_transition_time if old is not None and old.status == status else rfc3339(self.now)
        new = HorizontalPodAutoscalerCondition(
            type=kind, status=status, reason=reason, message=message, last_transition_time=since
        )
        if old is None:
            self.conditions = (*self.conditions, new)
        else:
            self.conditions = tuple(new if each is old else each for each in self.conditions)

    def warn(self, reason: str, message: str) -> None:
        self.events = (*self.events, Event("Warning", reason, message))


def diff(observed: Observed) -> Plan:
    """What to do now."""
    hpa, target = observed.hpa, observed.target
    draft = Draft(hpa.status.conditions, observed.now)
    if isinstance(target, Failure):
        draft.warn("FailedGetScale", target.message)
        draft.set(kinds.ABLE_TO_SCALE, "False", "FailedGetScale", _UNREAD + target.message)
        return Plan(hpa, replace(hpa.status, conditions=draft.conditions), observed.memory, draft.events)
    draft.set(kinds.ABLE_TO_SCALE, "True", "SucceededGetScale", _READ)
    memory = observed.memory
    if not memory.recommendations:
        memory = replace(memory, recommendations=(Change(target.replicas, observed.now),))
    if asks_metrics(hpa, target):
        return _by_metrics(replace(observed, memory=memory), target, draft)
    if target.replicas == 0 and least(hpa) != 0:
        why = "scaling is disabled since the replica count of the target is zero"
        draft.set(kinds.SCALING_ACTIVE, "False", "ScalingDisabled", why)
        return _keeping(hpa, target, draft, memory, ())
    if target.replicas > hpa.spec.max_replicas:
        wanted, reason = hpa.spec.max_replicas, "Current number of replicas above Spec.MaxReplicas"
    else:
        wanted, reason = least(hpa), "Current number of replicas below Spec.MinReplicas"
    return _scaling(hpa, target, draft, memory, (), wanted, reason)


def _status(
    hpa: HorizontalPodAutoscaler, draft: Draft, current: int, desired: int, metrics: Sequence[MetricStatus], scaled: str | None
) -> HorizontalPodAutoscalerStatus:
    return HorizontalPodAutoscalerStatus(
        conditions=draft.conditions,
        current_metrics=tuple(metrics),
        current_replicas=current,
        desired_replicas=desired,
        last_scale_time=scaled or hpa.status.last_scale_time,
    )


def _keeping(hpa: HorizontalPodAutoscaler, target: Target, draft: Draft, memory: Memory, metrics: Sequence[MetricStatus]) -> Plan:
    return Plan(hpa, _status(hpa, draft, target.replicas, target.replicas, metrics, None), memory, draft.events, target)


def _scaling(
    hpa: HorizontalPodAutoscaler,
    target: Target,
    draft: Draft,
    memory: Memory,
    metrics: Sequence[MetricStatus],
    wanted: int,
    reason: str,
) -> Plan:
    """A plan for other replicas, with the status for either outcome."""
    before = draft.conditions
    draft.set(
        kinds.ABLE_TO_SCALE,
        "True",
        "SucceededRescale",
        f"the HPA controller was able to update the target scale to {wanted}",
    )
    done = _status(hpa, draft, target.replicas, wanted, metrics, rfc3339(draft.now))
    kept = replace(
        done, conditions=before, desired_replicas=hpa.status.desired_replicas, last_scale_time=hpa.status.last_scale_time
    )
    return Plan(hpa, done, memory, draft.events, target, wanted, reason, kept)


def refused(plan: Plan, error: str, now: float) -> HorizontalPodAutoscalerStatus:
    """The status when the replicas could not be changed."""
    status = plan.unscaled or plan.status
    draft = Draft(status.conditions, now)
    why = f"the HPA controller was unable to update the target scale: {error}"
    draft.set(kinds.ABLE_TO_SCALE, "False", "FailedUpdateScale", why)
    return replace(status, conditions=draft.conditions)


def scaled(plan: Plan, now: float) -> Memory:
    """The memory when the replicas were changed."""
    if plan.target is None or plan.rescale is None:
        return plan.memory
    return noted(plan.memory, plan.hpa.spec.behavior, plan.target.replicas, plan.rescale, now)


class _Counted(Struct):
    """The highest proposal, the statuses of all metrics, the failures."""

    best: Proposal | None
    statuses: tuple[MetricStatus, ...]
    failures: tuple[Useless, ...]


def _count(observed: Observed, target: Target, selected: Selected, draft: Draft) -> _Counted:
    hpa = observed.hpa
    given = Given(target, selected.pods, tolerance(hpa.spec.behavior), observed.now)
    best: Proposal | None = None
    statuses: list[MetricStatus] = []
    failures: list[Useless] = []
    for spec, reading in zip(hpa.spec.metrics, observed.readings, strict=True):
        try:
            proposal = propose(spec, reading, given)
        except Useless as error:
            draft.warn(error.reason, str(error))
            failures.append(error)
            statuses.append(MetricStatus())
            continue
        statuses.append(proposal.status)
        if best is None or best.replicas == 0 or proposal.replicas > best.replicas:
            best = proposal
    return _Counted(best, tuple(statuses), tuple(failures))


def _by_metrics(observed: Observed, target: Target, draft: Draft) -> Plan:
    hpa = observed.hpa
    selected = _selected(observed, target, draft)
    if isinstance(selected, Failure):
        return _failed(hpa, target, draft, observed.memory, (), selected.message)
    counted = _count(observed, target, selected, draft)
    best, failures = counted.best, counted.failures
    summary = ""
    if failures:
        first = f"{failures[0].outer}: {failures[0]}" if failures[0].outer else str(failures[0])
        summary = f"invalid metrics ({len(failures)} invalid out of {len(hpa.spec.metrics)}), first error is: {first}"
    if best is None or (failures and best.replicas < target.replicas):
        if failures:
            why = f"the HPA was unable to compute the replica count: {failures[0]}"
            draft.set(kinds.SCALING_ACTIVE, "False", failures[0].reason, why)
        return _failed(hpa, target, draft, observed.memory, counted.statuses, summary)
    found = f"the HPA was able to successfully calculate a replica count from {best.name}"
    draft.set(kinds.SCALING_ACTIVE, "True", "ValidMetricFound", found)
    return _within(observed, target, draft, best, counted.statuses)


def _within(observed: Observed, target: Target, draft: Draft, best: Proposal, statuses: Sequence[MetricStatus]) -> Plan:
    """A plan for what the metrics want, within bounds, rates and windows."""
    hpa = observed.hpa
    asked = Asked(target.replicas, best.replicas, least(hpa), hpa.spec.max_replicas)
    allowed = allow(asked, hpa.spec.behavior, observed.memory, observed.now)
    draft.set(kinds.ABLE_TO_SCALE, "True", *allowed.able)
    draft.set(kinds.SCALING_LIMITED, "True" if allowed.is_limited else "False", *allowed.limited)
    if allowed.replicas == target.replicas:
        return _keeping(hpa, target, draft, allowed.memory, statuses)
    reason = ""
    if best.replicas > target.replicas:
        reason = f"{best.name} above target"
    elif best.replicas < target.replicas:
        reason = "All metrics below target"
    return _scaling(hpa, target, draft, allowed.memory, statuses, allowed.replicas, reason)


def _selected(observed: Observed, target: Target, draft: Draft) -> Selected | Failure:
    """The target's pods, unless the selector is of no use; told and noted."""
    found = observed.selected
    if not target.selector:
        draft.warn("SelectorRequired", "selector is required")
        draft.set(kinds.SCALING_ACTIVE, "False", "InvalidSelector", "the HPA target's scale is missing a selector")
        return Failure("selector is required")
    if found is None or isinstance(found, Failure):
        why = "couldn't convert selector into a corresponding internal selector object: "
        return _unusable(draft, "InvalidSelector", why + (found.message if found is not None else ""))
    if len(found.autoscalers) > 1:
        listed = " ".join(f"{{{name} {namespace}}}" for namespace, name in found.autoscalers)
        why = f"pods by selector {target.selector} are controlled by multiple HPAs: [{listed}]"
        return _unusable(draft, "AmbiguousSelector", why)
    return found


def _unusable(draft: Draft, reason: str, message: str) -> Failure:
    draft.warn(reason, message)
    draft.set(kinds.SCALING_ACTIVE, "False", reason, message)
    return Failure(message)


def _failed(
    hpa: HorizontalPodAutoscaler,
    target: Target,
    draft: Draft,
    memory: Memory,
    metrics: Sequence[MetricStatus],
    message: str,
) -> Plan:
    """Leave the replicas as they are and say why."""
    draft.warn("FailedComputeMetricsReplicas", message)
    status = _status(hpa, draft, target.replicas, hpa.status.desired_replicas, metrics, None)
    return Plan(hpa, status, memory, draft.events, target)
