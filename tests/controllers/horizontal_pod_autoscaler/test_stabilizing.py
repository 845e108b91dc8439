"""Bounds, rates and windows."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from setpoint.api.types.autoscaling_v2 import HorizontalPodAutoscalerBehavior
from setpoint.controllers.horizontal_pod_autoscaler.plan import Change, Memory
from setpoint.controllers.horizontal_pod_autoscaler.stabilizing import Allowed, Asked, allow, noted

NOW = 1000.0


def behavior(up: Any = None, down: Any = None) -> HorizontalPodAutoscalerBehavior:
    """With the defaults that the API server writes."""
    up = {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}],
        **(up or {}),
    }
    down = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}], **(down or {})}
    return msgspec.convert({"scaleUp": up, "scaleDown": down}, HorizontalPodAutoscalerBehavior)


def decide(asked: Asked, rules: HorizontalPodAutoscalerBehavior | None = None, memory: Memory = Memory()) -> Allowed:  # noqa: B008  frozen
    return allow(asked, rules, memory, NOW)


def recommended(*pairs: tuple[int, float]) -> Memory:
    return Memory(recommendations=tuple(Change(replicas, NOW - age) for replicas, age in pairs))


@pytest.mark.parametrize(
    ("asked", "replicas", "reason", "limited"),
    [
        (Asked(2, 2, 1, 10), 2, "DesiredWithinRange", False),
        (Asked(2, 20, 1, 10), 4, "ScaleUpLimit", True),
        (Asked(6, 20, 1, 10), 10, "TooManyReplicas", True),
        (Asked(6, 0, 1, 10), 1, "TooFewReplicas", True),
    ],
)
def test_without_behaviour(asked: Asked, replicas: int, reason: str, limited: bool) -> None:
    allowed = decide(asked)
    assert (allowed.replicas, allowed.limited[0], allowed.is_limited) == (replicas, reason, limited)
    assert allowed.able[0] == "ReadyForNewScale"


def test_the_highest_of_five_minutes_holds() -> None:
    allowed = decide(Asked(5, 1, 1, 10), memory=recommended((4, 299), (9, 301)))
    assert (allowed.replicas, allowed.able[0]) == (4, "ScaleDownStabilized")
    assert [each.replicas for each in allowed.memory.recommendations] == [4, 1]


def test_the_window_upwards_takes_the_lowest() -> None:
    rules = behavior(up={"stabilizationWindowSeconds": 60})
    allowed = decide(Asked(2, 8, 1, 10), rules, recommended((3, 30), (2, 90)))
    assert (allowed.replicas, allowed.able[0]) == (3, "ScaleUpStabilized")


@pytest.mark.parametrize(
    ("select", "replicas"),
    [("Max", 14), ("Min", 12), ("Disabled", 10)],
)
def test_policies_upwards(select: str, replicas: int) -> None:
    policies = [{"type": "Pods", "value": 4, "periodSeconds": 60}, {"type": "Percent", "value": 15, "periodSeconds": 60}]
    allowed = decide(Asked(10, 50, 1, 100), behavior(up={"selectPolicy": select, "policies": policies}))
    assert (allowed.replicas, allowed.limited[0]) == (replicas, "ScaleUpLimit")


@pytest.mark.parametrize(("select", "replicas"), [("Max", 5), ("Min", 8), ("Disabled", 10)])
def test_policies_downwards(select: str, replicas: int) -> None:
    policies = [{"type": "Pods", "value": 2, "periodSeconds": 60}, {"type": "Percent", "value": 50, "periodSeconds": 60}]
    allowed = decide(Asked(10, 1, 1, 100), behavior(down={"selectPolicy": select, "policies": policies}))
    assert (allowed.replicas, allowed.limited[0]) == (replicas, "ScaleDownLimit")


def test_what_changed_in_the_period_counts() -> None:
    rules = behavior(up={"policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]})
    memory = noted(Memory(), rules, 7, 10, NOW - 30)
    assert decide(Asked(10, 50, 1, 100), rules, memory).replicas == 11
    memory = noted(Memory(), rules, 7, 10, NOW - 61)
    assert decide(Asked(10, 50, 1, 100), rules, memory).replicas == 14


def test_changes_are_forgotten_after_the_longest_period() -> None:
    rules = behavior()
    memory = noted(noted(Memory(), rules, 1, 3, NOW - 100), rules, 3, 4, NOW)
    assert memory.ups == (Change(1, NOW),)
    memory = noted(memory, rules, 4, 2, NOW)
    assert memory.downs == (Change(2, NOW),)
    assert noted(Memory(), None, 1, 2, NOW) == Memory()


def test_bounds_with_behaviour() -> None:
    assert decide(Asked(8, 50, 1, 10), behavior()).limited[0] == "TooManyReplicas"
    assert decide(Asked(8, 0, 2, 10), behavior()).limited[0] == "TooFewReplicas"


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_asked_stays_within_bounds(seed: int) -> None:
    """A random walk of what metrics want, on one autoscaler: bounds hold at every step, and a steady wish is met in the end."""
    chance = random.Random(seed)  # noqa: S311  chance, not secrets
    least, most = sorted((chance.randint(1, 10), chance.randint(1, 60)))
    pods, seconds = chance.randint(1, 5), chance.choice((15, 60))
    policies = [{"type": "Pods", "value": pods, "periodSeconds": seconds}]
    rules = behavior(
        up={"policies": policies, "stabilizationWindowSeconds": chance.choice((0, 60))},
        down={"policies": policies, "stabilizationWindowSeconds": chance.choice((0, 120))},
    )
    current, memory = chance.randint(least, most), Memory()
    wanted = current
    for step in range(200):
        now = NOW + 15 * step
        wanted = chance.randint(0, 80) if step < 60 else wanted
        allowed = allow(Asked(current, wanted, least, most), rules, memory, now)
        assert least <= allowed.replicas <= most
        memory = allowed.memory
        if allowed.replicas != current:
            memory = noted(memory, rules, current, allowed.replicas, now)
        current = allowed.replicas
        assert len(memory.recommendations) <= 10
        assert len(memory.ups) + len(memory.downs) <= 10
    assert current == min(max(wanted, least), most)
