"""Flow control's metrics, under Kubernetes' names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from setpoint.apiserver.flow_control.levels import Level
from setpoint.kit import metrics

_FLOW = ("priority_level", "flow_schema")
DISPATCHED = metrics.counter("apiserver_flowcontrol_dispatched_requests_total", "Requests let in.", _FLOW)
REJECTED = metrics.counter("apiserver_flowcontrol_rejected_requests_total", "Requests refused, by reason.", (*_FLOW, "reason"))
EXECUTION = metrics.histogram(
    "apiserver_flowcontrol_request_execution_seconds", "How long requests took, the wait for a seat included.", _FLOW
)
WAITED = metrics.histogram(
    "apiserver_flowcontrol_request_wait_duration_seconds", "How long requests waited that had to wait.", (*_FLOW, "execute")
)
IN_QUEUE = metrics.gauge("apiserver_flowcontrol_current_inqueue_requests", "Requests that wait.", _FLOW)
IN_FLIGHT = metrics.gauge("apiserver_current_inflight_requests", "Requests being worked on.", ("request_kind",))
TERMINATED = metrics.counter("apiserver_request_terminations_total", "Requests refused for overload.", ("code",))
FAIR_FRACTION = metrics.gauge("apiserver_flowcontrol_seat_fair_frac", "Proportion of their targets that levels get.")
_BY_LEVEL: dict[str, tuple[str, Callable[[Level], float]]] = {
    "current_executing_seats": ("Seats taken.", lambda level: level.seats),
    "current_limit_seats": ("Seats, with what is borrowed and lent.", lambda level: level.limit),
    "nominal_limit_seats": ("Seats by shares.", lambda level: level.bounds.nominal),
    "lower_limit_seats": ("Seats that are never lent.", lambda level: level.bounds.minimum),
    "upper_limit_seats": ("Seats at the most.", lambda level: level.bounds.maximum),
    "target_seats": ("Seats aimed at.", lambda level: level.target),
    "demand_seats_high_watermark": ("Most seats asked for in a period.", lambda level: level.demand.high),
    "demand_seats_average": ("Seats asked for, mean of a period.", lambda level: level.demand.average),
    "demand_seats_stdev": ("Seats asked for, deviation in a period.", lambda level: level.demand.deviation),
    "demand_seats_smoothed": ("Seats asked for, mean of long.", lambda level: level.demand.smoothed),
}
_GAUGES = {
    name: (metrics.gauge(f"apiserver_flowcontrol_{name}", text, ("priority_level",)), tell)
    for name, (text, tell) in _BY_LEVEL.items()
}


def show(level: Level) -> None:
    """Let the gauges tell of a level."""
    for gauge, tell in _GAUGES.values():
        gauge.labels(level.name).set_function(partial(tell, level))


def hide(level: Level) -> None:
    """A level is gone."""
    for gauge, _ in _GAUGES.values():
        gauge.children.pop((level.name,), None)
