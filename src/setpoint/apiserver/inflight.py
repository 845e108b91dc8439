"""How many requests may be worked on at once, reads and writes counted apart (kube-apiserver's max-in-flight filter)."""

from __future__ import annotations

from types import TracebackType

from setpoint.api.machinery.status import too_many_requests
from setpoint.kit import metrics

_GAUGE = metrics.gauge("apiserver_current_inflight_requests", "Requests being worked on.", ("request_kind",))
_REFUSED = metrics.counter("apiserver_request_terminations_total", "Requests refused for overload.", ("code",))


class _Counter:
    """A bounded counter to enter with `with`; 429 when full."""

    __slots__ = ("_gauge", "_limit", "used")

    def __init__(self, limit: int, kind: str) -> None:
        self._limit = limit
        self.used = 0
        _GAUGE.labels(kind).set_function(lambda: self.used)

    def __enter__(self) -> None:
        if self.used >= self._limit:
            _REFUSED.labels("429").inc()
            raise too_many_requests("Too many requests, please try again later.", 1)
        self.used += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.used -= 1


class InFlight:
    """Defaults are kube-apiserver's: 400 reads, 200 writes. Watches and connections count in neither."""

    def __init__(self, reads: int = 400, writes: int = 200) -> None:
        self._reads = _Counter(reads, "readOnly")
        self._writes = _Counter(writes, "mutating")

    def enter(self, *, mutating: bool) -> _Counter:
        return self._writes if mutating else self._reads
