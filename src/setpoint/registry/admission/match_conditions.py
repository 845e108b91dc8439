"""Match conditions at work: whether a webhook or a policy is asked about a write.

One condition that is false decides, whatever the others come to; else errors do, as the failure policy says.
Source: apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.registry.admissionregistration.expressions import Environment

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression

_BUDGET = 2_500_000  # units of cost, for all conditions of one webhook together
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class ConditionsFailed(Exception):
    """Conditions that came to nothing, and the failure policy is Fail; says why."""


class MatchConditions:
    """The conditions of one webhook or policy; compiled when first needed."""

    def __init__(self, given: Sequence[Mapping[str, Any]], *, ignores_failures: bool, params: bool = False) -> None:
        self._texts = [str(each["expression"]).strip() for each in given]
        self._ignores_failures = ignores_failures
        self._environment = Environment(params=params)
        self._compiled: list[Expression | str] | None = None

    def match(self, variables: Mapping[str, Any]) -> bool:
        """Whether all hold for these variables (what is not given is null). Raises ConditionsFailed."""
        errors: list[str] = []
        budget = _BUDGET
        names = list(self._environment.names())
        for text, expression in zip(self._texts, self._expressions(), strict=True):
            if isinstance(expression, str):
                errors.append(f"compilation error: {expression}")
                continue
            outcome = expression.evaluate([variables.get(name) for name in names])
            budget -= outcome.cost
            if budget < 0:
                errors.append(_OUT_OF_BUDGET)
                break
            if outcome.error:
                errors.append(f"expression '{text}' resulted in error: {outcome.error}")
            elif outcome.value is False:
                return False
        if not errors:
            return True
        if self._ignores_failures:
            return False
        raise ConditionsFailed(errors[0] if len(errors) == 1 else f"[{', '.join(dict.fromkeys(errors))}]")

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
