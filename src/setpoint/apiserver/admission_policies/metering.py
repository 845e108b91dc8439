"""Metrics of validating policies. Source: apiserver `pkg/admission/plugin/policy/validating/metrics/metrics.go`, `errors.go`."""

from __future__ import annotations

from setpoint.apiserver.admission_policies.evaluating import OUT_OF_BUDGET
from setpoint.kit import metrics

_LABELS = ("policy", "policy_binding", "error_type", "enforcement_action")
_CHECKS = metrics.counter(
    "apiserver_validating_admission_policy_check_total",
    "Validations that did not hold or failed, by policy, binding and what came of it.",
    _LABELS,
)
_SECONDS = metrics.histogram(
    "apiserver_validating_admission_policy_check_duration_seconds",
    "How long the expressions of these validations took.",
    _LABELS,
    (0.0000005, 0.001, 0.01, 0.1, 1.0),
)


def checked(policy: str, binding: str, message: str, action: str, seconds: float) -> None:
    """Count one validation with its message; `action` is allow (an error that is ignored), deny, warn or audit."""
    labels = (policy, binding, _kind_of(message), action)
    _CHECKS.labels(*labels).inc()
    _SECONDS.labels(*labels).observe(seconds)


def _kind_of(message: str) -> str:
    """As Kubernetes tells them apart: what does not hold counts as an error, too."""
    if message.startswith("compilation"):
        return "compile_error"
    return "out_of_budget" if message == OUT_OF_BUDGET else "invalid_error"
