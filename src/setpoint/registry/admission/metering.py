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
        start = perf_counter()
        try:
            await self._pass(request)
            if request.reinvoke and not request.reinvoking:
                request.reinvoking = True
                await self._pass(request)
        except Exception:
            _PHASES.labels(*self._labels, "true").observe(perf_counter() - start)
            raise
        self._whole.observe(perf_counter() - start)

    async def _pass(self, request: AdmissionRequest) -> None:
        at, start = "", perf_counter()
        try:
            for name, act, histogram in self._acts:
                at = name
                await act(request)
                now = perf_counter()
                histogram.observe(now - start)
                start = now
        except Exception:
            self._plugin(at, "true").observe(perf_counter() - start)
            raise

    def _plugin(self, name: str, rejected: str) -> Histogram:
        return _PLUGINS.labels(name, *self._labels, rejected) if name else Histogram(())
