"""Metrics of admission webhooks. Source: apiserver `pkg/admission/metrics/metrics.go`, the two dispatchers."""

from __future__ import annotations

from setpoint.apiserver.admission_webhooks.hooks import Hook
from setpoint.apiserver.admission_webhooks.review import Denied, HookFailed
from setpoint.kit import metrics

_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)
_HIGHEST = 600  # a code above it is counted as it: a webhook must not make labels without end
_SECONDS = metrics.histogram(
    "apiserver_admission_webhook_admission_duration_seconds",
    "How long admission webhooks took, by webhook, type (validating or admit) and operation.",
    ("name", "type", "operation", "rejected"),
    _BUCKETS,
)
_REQUESTS = metrics.counter(
    "apiserver_admission_webhook_request_total",
    "Questions to admission webhooks, by webhook, type, operation and code.",
    ("name", "type", "operation", "code", "rejected"),
)
_REJECTIONS = metrics.counter(
    "apiserver_admission_webhook_rejection_count",
    "Writes that admission webhooks refused, by webhook, type, operation, kind of error and code.",
    ("name", "type", "operation", "error_type", "rejection_code"),
)
_FAILED_OPEN = metrics.counter(
    "apiserver_admission_webhook_fail_open_count",
    "Admission webhooks that failed, which their policy ignored, by webhook and type.",
    ("name", "type"),
)


class Meter:
    """Counts for the webhooks of one type: `admit` or `validating`."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def asked(self, hook: Hook, operation: str, seconds: float, error: Exception | None) -> None:
        """Count one question, with what came of it: Denied, HookFailed, another error of the server itself, or consent."""
        code = _code(error) if error is not None else 200
        rejected = error is not None and not (isinstance(error, HookFailed) and hook.ignores_failures)
        if rejected:
            _REJECTIONS.labels(hook.name, self._kind, operation, _kind_of(error), str(code)).inc()
        word = "true" if rejected else "false"
        _REQUESTS.labels(hook.name, self._kind, operation, str(code), word).inc()
        _SECONDS.labels(hook.name, self._kind, operation, word).observe(seconds)

    def failed_open(self, hook: Hook) -> None:
        _FAILED_OPEN.labels(hook.name, self._kind).inc()


def _code(error: Exception) -> int:
    return min(error.code, _HIGHEST) if isinstance(error, Denied | HookFailed) else 0


def _kind_of(error: Exception | None) -> str:
    if isinstance(error, HookFailed):
        return "calling_webhook_error"
    return "no_error" if isinstance(error, Denied) else "apiserver_internal_error"
