"""`/debug/api_priority_and_fairness/dump_…`: levels, queues and waiting requests as tables.

Source: apiserver `util/flowcontrol/apf_controller_debug.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from setpoint.apiserver.flow_control.control import FlowControl
from setpoint.apiserver.flow_control.levels import Level, Waiter
from setpoint.apiserver.request import Request, Response, text_response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock, rfc3339_micro

PREFIX = "/debug/api_priority_and_fairness"
_LEVELS = ("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests")
_QUEUES = (
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
_REQUESTS = (
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",  # as Kubernetes spells it
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
)
_DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")


class Dumps:
    """The three pages."""

    def __init__(self, control: FlowControl, clock: Clock) -> None:
        self._control = control
        self._clock = clock

    async def handle(self, request: Request) -> Response:
        levels = sorted(self._control.levels.values(), key=lambda level: level.name)
        match request.path.removeprefix(PREFIX):
            case "/dump_priority_levels":
                return _page(_LEVELS, (_level(level) for level in levels))
            case "/dump_queues":
                return _page(_QUEUES, (row for level in levels for row in _queues(level)))
            case "/dump_requests":
                detailed = bool(request.parameter("includeRequestDetails"))
                header = _REQUESTS + _DETAILS if detailed else _REQUESTS
                return _page(header, (row for level in levels for row in self._requests(level, detailed=detailed)))
        return text_response("404 page not found\n", 404)

    def _requests(self, level: Level, *, detailed: bool) -> Iterator[Sequence[Any]]:
        started = self._clock.now() - self._clock.monotonic()
        for queue, number, waiter in level.waiters():
            arrived = rfc3339_micro(started + waiter.arrived)
            row = [level.name, waiter.schema, queue.index, number, waiter.distinguisher, arrived, waiter.width, 0, "0s"]
            yield [*row, *_asked(waiter)] if detailed else row


def _level(level: Level) -> Sequence[Any]:
    active = sum(bool(queue.waiting) for queue in level.queues())
    return level.name, active, _word(value=level.idle), _word(value=not level.wanted), level.waiting, level.executing


def _queues(level: Level) -> Iterator[Sequence[Any]]:
    if level.queuing is None:
        return
    for queue in level.queues():
        at = f"{queue.next_start:.8f}ss"
        waiting, work = len(queue.waiting), f"{queue.work * 0.003:.8f}ss"
        yield level.name, queue.index, waiting, queue.executing, queue.seats, at, queue.work, queue.work, work


def _asked(waiter: Waiter) -> Iterator[str]:
    info = waiter.info
    if isinstance(info, RequestInfo):
        version = f"{info.group}/{info.version}" if info.group else info.version
        yield from (waiter.user, info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource)


def _word(*, value: bool) -> str:
    return "true" if value else "false"


def _page(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
    """Columns with a comma behind each, as wide as their widest cell (Go's tabwriter with cells of eight at the least)."""
    table = [[f"{cell}" for cell in row] for row in (header, *rows)]
    widths = [max(8, *(len(row[column]) + 2 for row in table)) for column in range(len(header))]
    lines = []
    for row in table:
        cells = [f"{cell},".ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("".join([*cells, row[-1]]))
    return text_response("\n".join([*lines, ""]))
