"""Metrics of policies. Source: apiserver `pkg/admission/plugin/policy/{validating,mutating}/metrics/metrics.go`, `errors.go`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from setpoint.apiserver.admission_policies.evaluating import OUT_OF_BUDGET
from setpoint.kit import metrics

_LABELS = ("policy", "policy_binding", "error_type", "enforcement_action")
_BUCKETS = (0.0000005, 0.001, 0.01, 0.1, 1.0)
_CHECKS = metrics.counter(
    "apiserver_validating_admission_policy_check_total",
    "Validations that did not hold or failed, by policy, binding and what came of it.",
    _LABELS,
)
_SECONDS = metrics.histogram(
    "apiserver_validating_admission_policy_check_duration_seconds",
    "How long the expressions of these validations took.",
    _LABELS,
    _BUCKETS,
)
_MUTATED_LABELS = ("policy", "policy_binding", "error_type")
_MUTATIONS = metrics.counter(
    "apiserver_mutating_admission_policy_check_total",
    "Mutations by policies, by policy, binding and what kind of error came of it.",
    _MUTATED_LABELS,
)
_MUTATION_SECONDS = metrics.histogram(
    "apiserver_mutating_admission_policy_check_duration_seconds",
    "How long these mutations took.",
    _MUTATED_LABELS,
    _BUCKETS,
)


def checked(policy: str, binding: str, message: str, action: str, seconds: float) -> None:
    """Count one validation with its message; `action` is allow (an error that is ignored), deny, warn or audit."""
    labels = (policy, binding, _kind_of(message), action)
    _CHECKS.labels(*labels).inc()
    _SECONDS.labels(*labels).observe(seconds)


@contextmanager
def mutated(policy: str, binding: str) -> Iterator[None]:
    """Count the mutation that is done in the block."""
    start, kind = perf_counter(), "no_error"
    try:
        yield
    except Exception as error:
        kind = _kind_of(str(error))
        raise
    finally:
        _MUTATIONS.labels(policy, binding, kind).inc()
        _MUTATION_SECONDS.labels(policy, binding, kind).observe(perf_counter() - start)


def _kind_of(message: str) -> str:
    """As Kubernetes tells them apart: what does not hold counts as an error, too."""
    if message.startswith("compilation"):
        return "compile_error"
    return "out_of_budget" if message == OUT_OF_BUDGET else "invalid_error"
