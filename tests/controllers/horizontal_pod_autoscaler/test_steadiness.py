"""Random walks of what metrics want, with changes by hand and lost memories: rates, windows and bounds hold at every step."""

from __future__ import annotations

import os
import random
from typing import Any

import msgspec
import pytest

from setpoint.api.types.autoscaling_v2 import HorizontalPodAutoscalerBehavior
from setpoint.controllers.horizontal_pod_autoscaler.plan import Memory, Sample
from setpoint.controllers.horizontal_pod_autoscaler.stabilizing import Asked, allow, noted
from setpoint.controllers.horizontal_pod_autoscaler.usage import Groups, Tolerance, of_average, of_share, of_value
from setpoint.testing.scaling_limits import Limits

SEEDS = int(os.environ.get("SETPOINT_SEEDS", "60").rpartition("-")[2])
STEPS = 150
PERIOD = 15


def rules(chance: random.Random, windows: tuple[int, ...]) -> dict[str, Any]:
    kinds = [(kind, period) for kind in ("Pods", "Percent") for period in (15, 60, 300)]
    policies = [
        {"type": kind, "value": chance.randint(1, 100 if kind == "Percent" else 6), "periodSeconds": period}
        for kind, period in chance.sample(kinds, chance.randint(1, 3))
    ]
    select = chance.choice(("Max", "Max", "Min", "Disabled"))
    return {"policies": policies, "selectPolicy": select, "stabilizationWindowSeconds": chance.choice(windows)}


class Walk:
    """One autoscaler; `recommended` is what its metrics have wanted since its memory began."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.spec = chance.choice((None, {"scaleUp": rules(chance, (0, 60, 600)), "scaleDown": rules(chance, (0, 60, 300))}))
        self.behavior = msgspec.convert(self.spec, HorizontalPodAutoscalerBehavior) if self.spec is not None else None
        self.least, self.most = sorted((chance.randint(1, 10), chance.randint(1, 60)))
        self.limits = Limits(self.least, self.most, self.spec, 0)
        self.current, self.memory = chance.randint(self.least, self.most), Memory()
        self.recommended: list[tuple[float, int]] = []

    def step(self, now: float, wanted: int) -> None:
        allowed = allow(Asked(self.current, wanted, self.least, self.most), self.behavior, self.memory, now)
        self.recommended.append((now, wanted))
        self.memory = allowed.memory
        after = allowed.replicas
        assert self.least <= after <= self.most
        self._within_windows(after, now)
        if after != self.current:
            assert self.limits.take(self.current, after, now) == []
            self.memory = noted(self.memory, self.behavior, self.current, after, now)
        self.current = after

    def _within_windows(self, after: int, now: float) -> None:
        """Never below what was wanted lately, never above; without a behaviour it may go back to what was wanted lately."""
        if after < self.current:
            assert after >= min(self.most, max(self._since(now, "scaleDown")))
        elif after > self.current:
            lately = self._since(now, "scaleUp")
            assert after <= max(self.least, min(lately) if self.spec is not None else max(lately))

    def _since(self, now: float, which: str) -> list[int]:
        window = self.spec[which]["stabilizationWindowSeconds"] if self.spec is not None else 301  # its end included
        return [wanted for moment, wanted in self.recommended if moment > now - window or moment == now]

    def trouble(self) -> None:
        """Somebody scales by hand, or the controller restarts."""
        if self.chance.random() < 0.03:
            self.current = self.chance.randint(self.least, self.most)
        if self.chance.random() < 0.02:
            self.memory, self.recommended = Memory(), []
            self.limits.forget()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_step_is_allowed(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  chance, not secrets
    walk, wanted = Walk(chance), 5
    for number in range(STEPS):
        if chance.random() < 0.4:
            wanted = chance.randint(0, 80)
        walk.trouble()
        walk.step(1000.0 + PERIOD * number, wanted)


def test_a_window_never_changes_the_direction() -> None:
    """What is wanted grows, but less was wanted a moment ago: the replicas stay. And the other way round."""
    spec = {"scaleUp": rules(random.Random(1), (300,)), "scaleDown": rules(random.Random(1), (300,))}  # noqa: S311  # predictable on purpose
    behavior = msgspec.convert(spec, HorizontalPodAutoscalerBehavior)
    memory = allow(Asked(5, 3, 1, 20), behavior, Memory(), 0.0).memory
    assert allow(Asked(5, 10, 1, 20), behavior, memory, 15.0).replicas == 5
    memory = allow(Asked(5, 10, 1, 20), behavior, Memory(), 0.0).memory
    assert allow(Asked(5, 3, 1, 20), behavior, memory, 15.0).replicas == 5


@pytest.mark.parametrize("seed", range(20))
def test_nothing_happens_within_tolerance(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # predictable on purpose
    tolerance = Tolerance(down=chance.choice((0.1, 0.3)), up=chance.choice((0.0, 0.1, 0.5)))
    for _ in range(50):
        current, target = chance.randint(1, 30), chance.randint(1000, 9000)
        amount = int(target * chance.uniform(1.0 - tolerance.down + 0.001, 1.0 + tolerance.up - 0.001))
        pods: Any = [None] * current
        samples = {str(place): Sample(amount) for place in range(current)}
        groups = Groups(current, frozenset(), frozenset(), frozenset())
        assert of_average(current, target, samples, pods, groups, tolerance).replicas == current
        assert of_value(current, target, amount, pods, tolerance).replicas == current
        assert of_share(current, target, amount * current, tolerance).replicas == current
