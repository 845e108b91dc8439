"""Expressions of a policy over one write, and what they cost.

Source: apiserver `pkg/admission/plugin/cel/condition.go`, `composition.go`, `activation.go`; `pkg/apis/cel/config.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.cel.values import CelError, parse_timestamp
from setpoint.apiserver.admission_policies.asking import Answers
from setpoint.apiserver.admission_policies.definitions import Compiled, Policy

#: units of cost, for all expressions of a kind of one policy together
BUDGET = 10_000_000
OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class OutOfBudget(Exception):
    """Expressions have cost more than they may together."""

    def __init__(self) -> None:
        super().__init__(OUT_OF_BUDGET)


class Result(Struct, frozen=True):
    """What an expression came to. `given` is false where there is no expression."""

    value: Any = None
    error: str = ""
    given: bool = True
    seconds: float = 0.0  # that it took


class Values(dict[str, Any]):
    """The `variables` of a policy: each is evaluated when it is first looked at, and charged to who looked."""

    def __init__(self, compiled: Mapping[str, Compiled], known: Mapping[str, Any]) -> None:
        super().__init__(compiled)
        self._compiled = compiled
        self._known = known
        self._results: dict[str, Any] = {}
        self.cost = 0

    def get(self, name: str, default: Any = None) -> Any:
        found = self._results.get(name)
        if found is None:
            if name not in self._compiled:
                return default
            found = self._results[name] = self._evaluate(name, self._compiled[name])
        if isinstance(found, CelError):
            raise found
        return found[0]

    def _evaluate(self, name: str, compiled: Compiled) -> Any:
        if compiled.expression is None:
            return CelError(f'composited variable "{name}" fails to compile: {compiled.error}')
        outcome = compiled.expression.evaluate([self._known.get(each) for each in compiled.names])
        self.cost += outcome.cost
        if outcome.error:
            return CelError(f'composited variable "{name}" fails to evaluate: {outcome.error}')
        return (outcome.value,)

    def spent(self) -> int:
        """What variables have cost since it was asked last."""
        cost, self.cost = self.cost, 0
        return cost


class Evaluation:
    """A budget, and the variables of one policy over one write."""

    def __init__(self, policy: Policy, variables: Mapping[str, Any], answers: Answers, budget: int = BUDGET) -> None:
        self.budget = budget
        self._answers = answers
        known = {**variables, **answers.variables()}
        self._values = Values(policy.variables, known)
        known["variables"] = self._values
        self._known = known

    async def all(self, expressions: Sequence[Compiled]) -> list[Result]:
        """The results in order. Raises OutOfBudget."""
        return [await self.one(each) for each in expressions]

    async def one(self, compiled: Compiled) -> Result:
        if compiled.expression is None:
            if compiled.error:
                return Result(error=f"compilation error: {compiled.error}")
            return Result(given=False)
        start = perf_counter()
        outcome = await self._answers.evaluate(compiled.expression.evaluate, [self._known.get(each) for each in compiled.names])
        seconds = perf_counter() - start
        for cost in (self._values.spent(), outcome.cost):
            if cost > self.budget:
                raise OutOfBudget
            self.budget -= cost
        if outcome.error:
            return Result(error=f"expression '{compiled.text}' resulted in error: {outcome.error}", seconds=seconds)
        return Result(outcome.value, seconds=seconds)


_METADATA = ("name", "generateName", "namespace", "labels", "annotations", "deletionGracePeriodSeconds", "generation",
             "resourceVersion", "finalizers")  # fmt: skip


def namespace_object(namespace: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What expressions see of the write's namespace."""
    if namespace is None:
        return None
    given = namespace["metadata"]
    metadata = {name: given[name] for name in _METADATA if given.get(name)}
    if given.get("uid"):
        metadata["UID"] = given["uid"]
    for name in ("creationTimestamp", "deletionTimestamp"):
        if given.get(name):
            metadata[name] = parse_timestamp(given[name])
    spec, status = namespace.get("spec") or {}, namespace.get("status") or {}
    shown_spec = {"finalizers": spec["finalizers"]} if spec.get("finalizers") else {}
    return {"metadata": metadata, "spec": shown_spec, "status": {"phase": status["phase"]} if status.get("phase") else {}}
