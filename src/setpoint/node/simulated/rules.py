"""Rules for the built-in stages: delays, jitter and rates of failure for pods that a selector finds.

    apiVersion: setpoint/v1
    kind: SimulatedPods
    rules:
    - namespaces: [shop]
      selector: {matchLabels: {app: web}}
      create: {after: 2s, jitter: 3s}
      ready: 500ms
      fail: {after: 1m, jitter: 30s, rate: 0.1, exitCode: 3}

The first rule that finds a pod counts; what it does not name is as in `Stages`. A pod fails with the chance `rate` (anew after
each restart); one that does not may complete. The same seed gives a pod of the same name the same delays and the same end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery import selectors
from setpoint.api.types import core_v1
from setpoint.node.simulated.chance import Chance
from setpoint.node.simulated.durations import StageError, seconds
from setpoint.node.simulated.stages import Stages

KIND = "SimulatedPods"
_DELAYS = ("create", "ready", "stop", "complete", "fail")
_KNOWN = {"selector", "namespaces", *_DELAYS}


class Delay(Struct, frozen=True):
    """`after` seconds, and up to `jitter` more, for the share `rate` of the pods."""

    after: float
    jitter: float = 0.0
    rate: float = 1.0


class Rule(Struct, frozen=True):
    """What holds for the pods that `finds` tells."""

    finds: Callable[[core_v1.Pod], bool]
    delays: Mapping[str, Delay]
    exit_code: int = 1


def read(document: Mapping[str, Any]) -> list[Rule]:
    """The rules of a document; StageError where it is none that can be used."""
    rules = document.get("rules")
    if not isinstance(rules, list):
        raise StageError(f"{KIND}: rules is no list")
    found = []
    for index, rule in enumerate(rules):
        try:
            found.append(_rule(rule))
        except StageError as error:
            raise StageError(f"rules[{index}]: {error}") from error
    return found


def _rule(body: Any) -> Rule:
    if not isinstance(body, Mapping):
        raise StageError("is no object")
    if unknown := set(body) - _KNOWN:
        raise StageError(f"unknown: {', '.join(sorted(unknown))}")
    delays = {name: _delay(name, body[name]) for name in _DELAYS if name in body}
    fail = body.get("fail")
    code = fail.get("exitCode", 1) if isinstance(fail, Mapping) else 1
    return Rule(_finder(body), delays, code)


def _finder(body: Mapping[str, Any]) -> Callable[[core_v1.Pod], bool]:
    selector = selectors.from_object(body.get("selector") or {})
    namespaces = frozenset(body.get("namespaces") or ())

    def finds(pod: core_v1.Pod) -> bool:
        return (not namespaces or pod.metadata.namespace in namespaces) and selector.matches(pod.metadata.labels)

    return finds


def _delay(name: str, value: Any) -> Delay:
    if not isinstance(value, Mapping):
        return Delay(seconds(value, name))
    if unknown := set(value) - {"after", "jitter", "rate", "exitCode"}:
        raise StageError(f"{name}: unknown: {', '.join(sorted(unknown))}")
    rate = value.get("rate", 1.0)
    if not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise StageError(f"{name}.rate {rate}: choose a number from 0 to 1")
    return Delay(seconds(value.get("after", 0), f"{name}.after"), seconds(value.get("jitter", 0), f"{name}.jitter"), rate)


class Rules:
    """Gives each pod its stages; to be called with the pod."""

    def __init__(self, rules: Sequence[Rule], chance: Chance) -> None:
        self._rules = rules
        self._chance = chance

    def __call__(self, pod: core_v1.Pod) -> Stages:
        rule = next((each for each in self._rules if each.finds(pod)), None)
        if rule is None:
            return Stages()
        return Stages(exit_code=rule.exit_code, **self._delays(rule, pod))

    def _delays(self, rule: Rule, pod: core_v1.Pod) -> dict[str, Any]:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        life = str(sum(status.restart_count for status in pod.status.container_statuses))
        found: dict[str, Any] = {}
        for stage, delay in rule.delays.items():
            if self._chance.of(name, stage, life, "rate") < delay.rate:
                found[stage] = delay.after + delay.jitter * self._chance.of(name, stage, life, "jitter")
        if "fail" in found:
            found["complete"] = None
        return found
