"""Match conditions at work: whether a webhook or a policy is asked about a write.

One condition that is false decides, whatever the others come to; else errors do, as the failure policy says.
Source: apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`, `pkg/admission/metrics/metrics.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.kit import metrics
from setpoint.registry.admissionregistration.expressions import Environment

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression

_BUDGET = 2_500_000  # units of cost, for all conditions of one webhook together
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_LABELS = ("name", "kind", "type", "operation")
_ERRORS = metrics.counter(
    "apiserver_admission_match_condition_evaluation_errors_total",
    "Match conditions that came to an error, by the webhook or policy that has them, its kind and type, and operation.",
    _LABELS,
)
_EXCLUSIONS = metrics.counter(
    "apiserver_admission_match_condition_exclusions_total",
    "Writes that match conditions kept from a webhook or policy.",
    _LABELS,
)
_SECONDS = metrics.histogram(
    "apiserver_admission_match_condition_evaluation_seconds",
    "How long the match conditions of a webhook or policy took.",
    _LABELS,
    (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25),
)


class ConditionsFailed(Exception):
    """Conditions that came to nothing, and the failure policy is Fail; says why."""


class Holder(Struct, frozen=True):
    """Whose conditions they are: `kind` is webhook or policy, `phase` admit or validate."""

    name: str
    kind: str
    phase: str


class MatchConditions:
    """The conditions of one webhook or policy; compiled when first needed."""

    def __init__(
        self, given: Sequence[Mapping[str, Any]], holder: Holder, *, ignores_failures: bool, params: bool = False
    ) -> None:
        self._texts = [str(each["expression"]).strip() for each in given]
        self._holder = holder
        self._ignores_failures = ignores_failures
        self._environment = Environment(params=params)
        self._compiled: list[Expression | str] | None = None

    def match(self, variables: Mapping[str, Any]) -> bool:
        """Whether all hold for these variables (what is not given is null). Raises ConditionsFailed."""
        start = perf_counter()
        labels = (self._holder.name, self._holder.kind, self._holder.phase, str(variables["request"]["operation"]))
        try:
            return self._decided(variables, labels)
        finally:
            _SECONDS.labels(*labels).observe(perf_counter() - start)

    def _decided(self, variables: Mapping[str, Any], labels: tuple[str, ...]) -> bool:
        errors: list[str] = []
        for value, error in self._evaluated(variables):
            if error:
                errors.append(error)
                if error != _OUT_OF_BUDGET:
                    _ERRORS.labels(*labels).inc()
            elif value is False:
                _EXCLUSIONS.labels(*labels).inc()
                return False
        if not errors:
            return True
        if self._ignores_failures:
            return False
        raise ConditionsFailed(errors[0] if len(errors) == 1 else f"[{', '.join(dict.fromkeys(errors))}]")

    def _evaluated(self, variables: Mapping[str, Any]) -> list[tuple[Any, str]]:
        """Each one's value or error; where they cost too much together that alone is what they come to."""
        results: list[tuple[Any, str]] = []
        budget = _BUDGET
        names = list(self._environment.names())
        for text, expression in zip(self._texts, self._expressions(), strict=True):
            if isinstance(expression, str):
                results.append((None, f"compilation error: {expression}"))
                continue
            outcome = expression.evaluate([variables.get(name) for name in names])
            budget -= outcome.cost
            if budget < 0:
                return [(None, _OUT_OF_BUDGET)]
            results.append((outcome.value, f"expression '{text}' resulted in error: {outcome.error}" if outcome.error else ""))
        return results

    def _expressions(self) -> list[Expression | str]:
        if self._compiled is None:
            self._compiled = [self._compile(text) for text in self._texts]
        return self._compiled

    def _compile(self, text: str) -> Expression | str:
        from setpoint.api.machinery import cel
        from setpoint.api.machinery.cel.source import CompileError

        try:
            return cel.compile_expression(text, self._environment.names())
        except CompileError as error:
            return str(error)
