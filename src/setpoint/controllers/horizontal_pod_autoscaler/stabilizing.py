"""From what the metrics ask for to what is allowed: bounds, rates and windows. Pure. As `normalizeDesiredReplicas…`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from setpoint.api.types.autoscaling_v2 import HorizontalPodAutoscalerBehavior, HPAScalingRules
from setpoint.controllers.horizontal_pod_autoscaler.plan import Change, Memory

DOWNSCALE_WINDOW = 300
"""Seconds (--horizontal-pod-autoscaler-downscale-stabilization)."""
_READY = ("ReadyForNewScale", "recommended size matches current size")
_UP = ("ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest recent recommendation")
_DOWN = ("ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation")
_FREE = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FAST_UP = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_TOO_FAST_DOWN = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")

Why = tuple[str, str]


class Asked(Struct, frozen=True):
    """Replicas: as they are, as the metrics want them, at least and at most."""

    current: int
    wanted: int
    least: int
    most: int


class Allowed(Struct, frozen=True):
    """`able` and `limited` are reason and message of the conditions AbleToScale and ScalingLimited."""

    replicas: int
    able: Why
    limited: Why
    is_limited: bool
    memory: Memory


def allow(asked: Asked, behavior: HorizontalPodAutoscalerBehavior | None, memory: Memory, now: float) -> Allowed:
    """Steady the recommendation, then hold it within rates and bounds."""
    if behavior is None:
        stable = max([asked.wanted, *_since(memory.recommendations, now - DOWNSCALE_WINDOW)])
        able, window = _DOWN, DOWNSCALE_WINDOW
    else:
        stable, able, window = _steadied(asked, behavior, memory, now)
    kept = tuple(each for each in memory.recommendations if each.moment >= now - window)
    memory = msgspec.structs.replace(memory, recommendations=(*kept, Change(asked.wanted, now)))
    asked_now = msgspec.structs.replace(asked, wanted=stable)
    replicas, limited = _by_default(asked_now) if behavior is None else _by_rules(asked_now, behavior, memory, now)
    return Allowed(replicas, _READY if stable == asked.wanted else able, limited, replicas != stable, memory)


def _since(changes: Iterable[Change], moment: float) -> list[int]:
    return [each.replicas for each in changes if each.moment >= moment]


def _steadied(asked: Asked, behavior: HorizontalPodAutoscalerBehavior, memory: Memory, now: float) -> tuple[int, Why, int]:
    """The steady recommendation, why it is another, and for how many seconds recommendations are kept.

    The replicas stay where they are between the lowest recommendation of the window upwards and the highest of the one downwards:
    a window holds a change back, and never makes one of the other direction.
    """
    up, down = _window(behavior.scale_up, 0), _window(behavior.scale_down, DOWNSCALE_WINDOW)
    lowest = min([asked.wanted, *(each.replicas for each in memory.recommendations if each.moment > now - up)])
    highest = max([asked.wanted, *(each.replicas for each in memory.recommendations if each.moment > now - down)])
    stable = min(max(asked.current, lowest), highest)
    return stable, _UP if asked.wanted >= asked.current else _DOWN, max(up, down)


def _window(rules: HPAScalingRules | None, default: int) -> int:
    found = rules.stabilization_window_seconds if rules is not None else None
    return default if found is None else found


def _by_default(asked: Asked) -> tuple[int, Why]:
    """Without behaviour: at most doubled, or to four."""
    rate = max(2 * asked.current, 4)
    most, why = (rate, _TOO_FAST_UP) if asked.most > rate else (asked.most, _TOO_MANY)
    if asked.wanted < asked.least:
        return asked.least, _TOO_FEW
    return (most, why) if asked.wanted > most else (asked.wanted, _FREE)


def _by_rules(asked: Asked, behavior: HorizontalPodAutoscalerBehavior, memory: Memory, now: float) -> tuple[int, Why]:
    if asked.wanted > asked.current:
        rate = max(_highest(asked.current, behavior.scale_up, memory, now), asked.current)
        most, why = (rate, _TOO_FAST_UP) if asked.most > rate else (asked.most, _TOO_MANY)
        if asked.wanted > most:
            return most, why
    elif asked.wanted < asked.current:
        rate = min(_lowest(asked.current, behavior.scale_down, memory, now), asked.current)
        least, why = (rate, _TOO_FAST_DOWN) if asked.least < rate else (asked.least, _TOO_FEW)
        if asked.wanted < least:
            return least, why
    return asked.wanted, _FREE


def _highest(current: int, rules: HPAScalingRules | None, memory: Memory, now: float) -> int:
    """To how many the policies let the replicas grow now. Changes up and down within a period count."""
    if rules is None:
        return max(2 * current, current + 4)
    if rules.select_policy == "Disabled":
        return current
    proposals = []
    for policy in rules.policies:
        start = current - _changed(memory.ups, policy.period_seconds, now) + _changed(memory.downs, policy.period_seconds, now)
        if policy.type == "Pods":
            proposals.append(start + policy.value)
        else:  # rounded up: a small share must not mean never
            proposals.append(math.ceil(start * (1 + policy.value / 100)))
    if rules.select_policy == "Min":
        return min(proposals, default=current)
    return max(proposals, default=0)


def _lowest(current: int, rules: HPAScalingRules | None, memory: Memory, now: float) -> int:
    """To how few the policies let the replicas shrink now."""
    if rules is None:
        return 0
    if rules.select_policy == "Disabled":
        return current
    proposals = []
    for policy in rules.policies:
        start = current - _changed(memory.ups, policy.period_seconds, now) + _changed(memory.downs, policy.period_seconds, now)
        if policy.type == "Pods":
            proposals.append(start - policy.value)
        else:
            proposals.append(int(start * (1 - policy.value / 100)))
    if rules.select_policy == "Min":
        return max(proposals, default=current)
    return min(proposals, default=current)


def _changed(changes: Sequence[Change], period: int, now: float) -> int:
    return sum(each.replicas for each in changes if each.moment > now - period)


def noted(memory: Memory, behavior: HorizontalPodAutoscalerBehavior | None, before: int, after: int, now: float) -> Memory:
    """The memory after a change of replicas. Without behaviour nobody asks for changes."""
    if behavior is None:
        return memory
    if after > before:
        return msgspec.structs.replace(memory, ups=_added(memory.ups, behavior.scale_up, Change(after - before, now)))
    return msgspec.structs.replace(memory, downs=_added(memory.downs, behavior.scale_down, Change(before - after, now)))


def _added(changes: Sequence[Change], rules: HPAScalingRules | None, new: Change) -> tuple[Change, ...]:
    """With `new` in the place of one that is older than the longest period of its own policies.

    Only of one: the policies of the other direction, whose periods may be longer, still count the others.
    """
    longest = max((policy.period_seconds for policy in rules.policies), default=0) if rules is not None else 0
    outdated = [place for place, each in enumerate(changes) if each.moment < new.moment - longest]
    if not outdated:
        return (*changes, new)
    return (*changes[: outdated[-1]], new, *changes[outdated[-1] + 1 :])
