"""How long admission takes, by phase and by plugin. A plugin that a kind of write does not concern is not measured for it.

Source: apiserver `pkg/admission/metrics/metrics.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from setpoint.kit import metrics
from setpoint.kit.metrics import Histogram
from setpoint.registry.admission.request import AdmissionRequest

_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_PHASES = metrics.histogram(
    "apiserver_admission_step_admission_duration_seconds",
    "How long a phase of admission took, by phase (validate or admit) and operation.",
    ("type", "operation", "rejected"),
    _BUCKETS,
)
_PLUGINS = metrics.histogram(
    "apiserver_admission_controller_admission_duration_seconds",
    "How long an admission plugin took, by plugin, phase (validate or admit) and operation.",
    ("name", "type", "operation", "rejected"),
    _BUCKETS,
)

Act = Callable[[AdmissionRequest], Awaitable[None]]


class Phase:
    """What one kind of write passes in one phase: `steps` by name, where they have one. Their metrics are at hand."""

    def __init__(self, kind: str, operation: str, steps: Sequence[tuple[str, Act]]) -> None:
        self.steps = steps
        self._labels = (kind, operation)
        self._acts = tuple((name, act, self._plugin(name, "false")) for name, act in steps)
        self._whole = _PHASES.labels(*self._labels, "false")

    async def run(self, request: AdmissionRequest) -> None:
        """All of them; those that change objects a second time where one of them asked for that."""
        at, begun = "", perf_counter()
        start = now = begun
        try:
            while True:
                for at, act, histogram in self._acts:  # noqa: B007  # `at` is who refused
                    await act(request)
                    now = perf_counter()
                    histogram.observe(now - start)
                    start = now
                if request.reinvoking or not request.reinvoke:
                    break
                request.reinvoking = True
        except Exception:
            now = perf_counter()
            self._plugin(at, "true").observe(now - start)
            _PHASES.labels(*self._labels, "true").observe(now - begun)
            raise
        self._whole.observe(now - begun)

    def _plugin(self, name: str, rejected: str) -> Histogram:
        return _PLUGINS.labels(name, *self._labels, rejected) if name else Histogram(())
