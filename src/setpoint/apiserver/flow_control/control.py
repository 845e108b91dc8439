"""A request is let in, waits for its turn, or is refused with 429 and the time after which to come again.

`enter` is what nearly every request pays: a look-up of its flow and a count. It answers None when that is not enough: `admit`
then finds out how wide the request is and waits if it must. Whatever either gives is left with `leave`.
Levels lend and borrow when somebody is short of seats, once in ten seconds at the most, so an idle server does nothing.
Source: apiserver `server/filters/priority-and-fairness.go`, `util/flowcontrol/apf_controller.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.flow_control import metering, sharding, widths
from setpoint.apiserver.flow_control.allocation import PERIOD, allocate, bounds, wish
from setpoint.apiserver.flow_control.levels import Level, Queuing, Waiter
from setpoint.apiserver.flow_control.matching import Schema, in_order, schema
from setpoint.apiserver.flow_control.watching import Watchers, Watching, asks_for_few
from setpoint.apiserver.request import JSON_HEADERS, Request, Response, text_response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock
from setpoint.registry.flowcontrol.flow_schema import MANDATORY as MANDATORY_SCHEMAS
from setpoint.registry.flowcontrol.priority_level import MANDATORY as MANDATORY_LEVELS
from setpoint.storage.protocol import Store

SEATS = 600  # kube-apiserver's --max-requests-inflight and --max-mutating-requests-inflight together
LONGEST_WAIT = 15.0  # seconds in a queue: a quarter of what a request may take
_REMEMBERED = 4096  # flows; then they are found anew
_LONGEST = 4096  # characters of what tells a flow from others, if it is to be remembered
_READS = frozenset(("get", "list", "watch"))
_LONG_VERBS = frozenset(("proxy", "connect"))
_LONG = frozenset(("exec", "attach", "portforward", "proxy", "log"))

Object = Mapping[str, Any]


class Refused(Exception):
    """429: the level is full. `response` is the answer."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("too many requests")
        self.response: Response = text_response("Too many requests, please try again later.\n", 429)
        self.response.headers = {"Retry-After": str(retry_after), **self.response.headers}


class Flow:
    """Requests that are treated alike: of one schema, one distinguisher and one verb. Entered by requests one seat wide."""

    __slots__ = (
        "_clock",
        "_headers",
        "_json_headers",
        "dispatched",
        "distinguisher",
        "execution",
        "hand",
        "in_flight",
        "level",
        "narrow",
        "schema",
        "wakes",
    )

    def __init__(self, schema_: Schema, level: Level, distinguisher: str, clock: Clock, verb: str) -> None:
        self.schema = schema_
        self.level = level
        self.distinguisher = distinguisher
        self.narrow = verb not in ("list", "watch")  # one seat wide, unless it wakes many
        self.wakes: Watchers | None = None
        self.hand: tuple[int, ...] = ()
        if level.queuing is not None:
            self.hand = sharding.deal(sharding.flow_hash(schema_.name, distinguisher), level.queuing.queues, level.queuing.hand)
        names = (level.name, schema_.name)
        self.dispatched = metering.DISPATCHED.labels(*names)
        self.execution = level.executions[schema_.name] = metering.EXECUTION.labels(*names)
        self.in_flight = metering.IN_FLIGHT.labels("readOnly" if verb in _READS else "mutating")
        self._clock = clock
        uids = {"X-Kubernetes-Pf-Flowschema-Uid": schema_.uid, "X-Kubernetes-Pf-Prioritylevel-Uid": level.uid}
        self._headers = {name: uid for name, uid in uids.items() if uid}
        self._json_headers = {**JSON_HEADERS, **self._headers}

    def headers(self, given: Mapping[str, str]) -> Mapping[str, str]:
        """The headers of an answer with those that tell how the request was classified."""
        if given is JSON_HEADERS:
            return self._json_headers
        return {**given, **self._headers} if self._headers else given

    def leave(self) -> None:
        self.in_flight.value -= 1
        level = self.level
        level.executing -= 1
        level.seats -= 1
        if level.waiting:
            level.on_free(self._clock.monotonic())


class _Free:
    """What a request leaves that takes no seat."""

    __slots__ = ()

    def leave(self) -> None:
        """Nothing was taken."""


class Ticket:
    """A request of several seats, or one that waited. A write keeps its seats for `afterwards` seconds more."""

    __slots__ = ("_afterwards", "_clock", "_flow", "_since", "_waiter", "_width")

    def __init__(self, flow: Flow, clock: Clock, width: int, afterwards: float, waiter: Waiter | None) -> None:
        self._flow = flow
        self._clock = clock
        self._width = width
        self._afterwards = afterwards
        self._waiter = waiter
        self._since = clock.monotonic()
        flow.in_flight.value += 1

    def leave(self) -> None:
        self._flow.in_flight.value -= 1
        level, now = self._flow.level, self._clock.monotonic()
        level.spent += (self._width - 1) * (now - self._since) + self._width * self._afterwards
        if self._afterwards:
            level.hold(self._width, now)
            asyncio.get_running_loop().call_later(self._afterwards, self._let_go)
        if self._waiter is not None:
            level.finish(self._waiter, now)
        else:
            level.done(self._width, now)

    def _let_go(self) -> None:
        self._flow.level.hold(-self._width, self._clock.monotonic())


FREE = _Free()


class FlowControl:
    """All levels and schemas. Until `configure` is called those rule that every cluster must have."""

    def __init__(self, store: Store, clock: Clock, seats: int = SEATS) -> None:
        self._store = store
        self._clock = clock
        self._server_seats = seats
        self._schemas: list[Schema] = []
        self._flows: dict[tuple[Any, ...], Flow | None] = {}
        self._adjusted = clock.monotonic()
        self.levels: dict[str, Level] = {}
        self.watching = Watching()
        self.configure((), ())

    # --- configuration ---

    def configure(self, schemas: Iterable[Object], levels: Iterable[Object]) -> None:
        """Go by these FlowSchemas and PriorityLevelConfigurations; what is mandatory and absent is added."""
        now = self._clock.monotonic()
        given = {each["metadata"]["name"]: each for each in levels}
        for name, spec in MANDATORY_LEVELS.items():
            given.setdefault(name, {"metadata": {"name": name}, "spec": spec})
        for name, level in self.levels.items():
            level.wanted = name in given
        for name, each in given.items():
            self._configure_level(name, each, now)
        self._drop_idle()
        self._divide(now)
        known = {each["metadata"]["name"]: each for each in schemas}
        for name, spec in MANDATORY_SCHEMAS.items():
            known.setdefault(name, {"metadata": {"name": name}, "spec": spec})
        made = (schema(name, each["metadata"].get("uid", ""), each["spec"]) for name, each in known.items())
        self._schemas = in_order(one for one in made if one.level in given)
        self._flows.clear()

    def _configure_level(self, name: str, given: Object, now: float) -> None:
        spec = given["spec"]
        level = self.levels.get(name)
        if level is None:
            level = self.levels[name] = Level(name, now, exempt=spec.get("type") == "Exempt")
            metering.show(level)
        details = spec.get("exempt" if level.exempt else "limited") or {}
        level.uid = given["metadata"].get("uid", "")
        shares = details.get("nominalConcurrencyShares")
        level.shares = int(details.get("assuredConcurrencyShares") or 0) if shares is None else int(shares)
        level.lendable = int(details.get("lendablePercent") or 0)
        level.borrowing = details.get("borrowingLimitPercent")
        level.configure(_queuing(details), now)

    def _drop_idle(self) -> None:
        for name, level in [*self.levels.items()]:
            if not level.wanted and level.idle:
                del self.levels[name]
                metering.hide(level)

    def _divide(self, now: float) -> None:
        """Give every level the seats that its shares say."""
        shares = sum(level.shares for level in self.levels.values())
        for level in self.levels.values():
            level.bounds = bounds(self._server_seats, level.shares, shares, level.lendable, level.borrowing)
            level.set_limit(level.bounds.nominal, now)
        self._adjusted = now - PERIOD

    def _adjust(self, now: float) -> None:
        """Let levels lend and borrow, if the last time was long enough ago."""
        if now - self._adjusted < PERIOD:
            return
        self._adjusted = now
        levels = [*self.levels.values()]
        wishes = [wish(level.bounds, *level.period(now)) for level in levels]
        found = allocate(sum(level.bounds.nominal for level in levels), wishes)
        if found is not None:
            metering.FAIR_FRACTION.labels().set(found[1])
        for number, level in enumerate(levels):
            level.target = wishes[number].target
            level.set_limit(level.bounds.nominal if found is None else round(found[0][number]), now)

    # --- requests ---

    def enter(self, request: Request, info: RequestInfo) -> Flow | _Free | None:
        """Let a request in if nothing speaks against it; None when `admit` must decide. `info.flow` is its flow then."""
        user = request.user
        key = (
            user.name,
            user.groups,
            info.verb,
            info.resource,
            info.namespace,
            info.group,
            info.subresource,
            "" if info.is_resource else info.path,
        )
        try:
            flow = self._flows[key]
        except KeyError:
            flow = self._find(key, user, info)
        if flow is None:
            return FREE
        info.flow = flow
        level = flow.level
        if level.exempt or (
            flow.narrow
            and level.seats < level.limit
            and not level.waiting
            and (flow.wakes is None or flow.wakes.total < widths.WATCHES_PER_SEAT)
        ):
            flow.dispatched.value += 1
            flow.in_flight.value += 1
            level.executing += 1
            level.seats += 1
            if level.seats > level.demand.high:  # noqa: PLR1730  every request comes by here, and a call costs more
                level.demand.high = level.seats
            return flow
        return None

    def _find(self, key: tuple[Any, ...], user: UserInfo, info: RequestInfo) -> Flow | None:
        """The flow of a request, None when it is too long to be counted; remembered."""
        if len(self._flows) >= _REMEMBERED:
            self._flows.clear()
            self.watching.forget_unwatched()
        parts = (user.name, *user.groups, info.resource, info.namespace, info.group, info.subresource, info.path)
        remember = sum(map(len, parts)) <= _LONGEST
        if info.verb in _LONG_VERBS or info.subresource in _LONG:
            if remember:
                self._flows[key] = None
            return None
        found = next((each for each in self._schemas if each.matches(user, info)), self._schemas[-1])
        level = self.levels[found.level]
        flow = Flow(found, level, found.distinguisher(user, info), self._clock, info.verb)
        if remember and info.is_resource and info.verb not in _READS:
            flow.wakes = self.watching.of(info.group, info.resource)
        if remember:
            self._flows[key] = flow
        return flow

    async def admit(self, request: Request, info: RequestInfo) -> Ticket:
        """Let a request in that `enter` did not, sooner or later. Raises Refused. A cancelled wait leaves nothing."""
        flow = info.flow
        if flow is None:
            raise RuntimeError("a request is entered first")
        level = flow.level
        width, afterwards = await self._width(request, info, flow)
        now = self._clock.monotonic()
        if level.waiting or not level.fits(width):
            waiter = await self._wait(flow, width, now, info, request.user.name)
        else:
            level.take(width)
            waiter = None
        flow.dispatched.value += 1
        return Ticket(flow, self._clock, width, afterwards, waiter)

    async def _width(self, request: Request, info: RequestInfo, flow: Flow) -> tuple[int, float]:
        """Seats of a request, and for how long (seconds) it keeps them when it is done."""
        level = flow.level
        if flow.wakes is not None:
            seats, seconds = widths.afterwards(flow.wakes.of(info.namespace), level.widest)
            return max(1, seats), seconds
        if not widths.asks_for_state(request, info):
            return 1, 0.0
        prefix = f"{info.resource}.{info.group}/" if info.group else f"{info.resource}/"
        if info.namespace:
            prefix += f"{info.namespace}/"
        page = await self._store.list(prefix, limit=1)
        if not page.records:
            return 1, 0.0
        return widths.of_list(request.query, page.remaining + 1, len(page.records[0].value), level.widest), 0.0

    async def _wait(self, flow: Flow, width: int, now: float, info: RequestInfo, user: str) -> Waiter:
        level = flow.level
        queue = level.full(flow.hand)
        if queue is None:
            self._adjust(now)
            queue = level.full(flow.hand)
        if queue is None:
            raise self._refuse(flow, "queue-full" if level.queuing is not None else "concurrency-limit")
        waiter = Waiter(flow.schema.name, flow.distinguisher, width, now)
        waiter.info, waiter.user = info, user
        level.wait(queue, waiter, now)
        self._adjust(now)
        waiting = metering.IN_QUEUE.labels(level.name, flow.schema.name)
        waiting.inc()
        try:
            await self._until_admitted(flow, waiter)
        finally:
            waiting.dec()
            passed, admitted = self._clock.monotonic() - now, str(waiter.admitted.is_set())
            metering.WAITED.labels(level.name, flow.schema.name, admitted).observe(passed)
        return waiter

    async def _until_admitted(self, flow: Flow, waiter: Waiter) -> None:
        level = flow.level
        try:
            if await self._clock.wait(waiter.admitted, LONGEST_WAIT):
                return
        except asyncio.CancelledError:
            now = self._clock.monotonic()
            if waiter.admitted.is_set():
                level.finish(waiter, now)
            else:
                level.give_up(waiter)
            raise
        level.give_up(waiter)
        raise self._refuse(flow, "time-out")

    def _refuse(self, flow: Flow, reason: str) -> Refused:
        level = flow.level
        metering.REJECTED.labels(level.name, flow.schema.name, reason).inc()
        metering.TERMINATED.labels("429").inc()
        level.dropped.record(int(self._clock.now()))
        return Refused(level.dropped.retry_after)

    def opened(self, request: Request, info: RequestInfo, response: Response) -> None:
        """A watch has begun: until its stream is closed, writes to what it watches wake it."""
        if response.stream is not None and not asks_for_few(request):
            response.stream = self.watching.add(info.group, info.resource, info.namespace, response.stream)


def _queuing(details: Object) -> Queuing | None:
    response = details.get("limitResponse") or {}
    given = response.get("queuing")
    if response.get("type") != "Queue" or not given:
        return None
    return Queuing(int(given.get("queues") or 1), int(given.get("handSize") or 1), int(given.get("queueLengthLimit") or 1))
