"""One priority level: its seats, and the queues of those who wait for them. Synchronous, without clock or tasks of its own.

A request takes seats (`take`), or waits in one of its flow's queues (`wait`) until `on_free` lets it in, or is refused.
Queues are served fairly: each has a virtual time that grows by the work (seats times seconds) that was done for it, and the one
whose next request would be done first in virtual time is next. So a flow with a thousand requests gets no more than one with
ten, however its queue is filled. Nothing of that is computed while nobody waits.
Source: apiserver `util/flowcontrol/fairqueuing/queueset`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from setpoint.apiserver.flow_control.allocation import Bounds, Demand
from setpoint.apiserver.flow_control.dropped import Dropped
from setpoint.kit.metrics import Histogram

_GUESS = 0.003  # seconds that a request is taken to last before it is known


class Queuing(Struct, frozen=True):
    """How many queues, how many of them a flow may use, how long each may get."""

    queues: int
    hand: int
    length: int


class Waiter:
    """A request that waits, or waited. `admitted` is set once its seats are taken."""

    __slots__ = ("admitted", "arrived", "distinguisher", "info", "queue", "schema", "started", "user", "width")

    def __init__(self, schema: str, distinguisher: str, width: int, arrived: float) -> None:
        self.schema = schema
        self.distinguisher = distinguisher
        self.width = width
        self.arrived = arrived
        self.started = 0.0
        self.queue: Queue | None = None
        self.admitted = asyncio.Event()
        self.info: object = None
        self.user = ""


class Queue:
    """Those who wait at one place, oldest first."""

    __slots__ = ("executing", "index", "next_start", "seats", "waiting", "work")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: deque[Waiter] = deque()
        self.work = 0  # seats of those who wait
        self.executing = 0
        self.seats = 0
        self.next_start = 0.0  # virtual time

    def remove(self, waiter: Waiter) -> None:
        self.waiting.remove(waiter)
        self.work -= waiter.width


class Level:
    """See the module. `uid` is empty for a level that has no object (yet)."""

    def __init__(self, name: str, now: float, *, exempt: bool = False) -> None:
        self.name = name
        self.uid = ""
        self.exempt = exempt
        self.wanted = True  # its object is there; otherwise it only drains
        self.shares = 0
        self.lendable = 0
        self.borrowing: int | None = None
        self.bounds = Bounds(0, 0, 0)
        self.limit = 0
        self.queuing: Queuing | None = None
        self.seats = 0
        self.executing = 0
        self.waiting = 0
        self.waiting_seats = 0
        self.demand = Demand(now)
        self.executions: dict[str, Histogram] = {}  # how long requests took, by schema
        self.spent = 0.0  # seat-seconds of wide requests beyond their first seat
        self.dropped = Dropped()
        self.target = 0.0
        self._queues: list[Queue] = []
        self._virtual = 0.0
        self._turn = 0

    # --- what it is made of ---

    def configure(self, queuing: Queuing | None, now: float) -> None:
        """Take over a new shape; who waits goes on waiting."""
        if queuing == self.queuing:
            return
        waiters = sorted((waiter for queue in self._queues for waiter in queue.waiting), key=lambda waiter: waiter.arrived)
        self.queuing = queuing
        self._queues = [Queue(index) for index in range(queuing.queues)] if queuing is not None else [Queue(0)]
        for number, waiter in enumerate(waiters):
            self._append(self._queues[number % len(self._queues)], waiter)
        self.on_free(now)

    def set_limit(self, limit: int, now: float) -> None:
        """So many seats from now on."""
        self.limit = limit
        self.on_free(now)

    @property
    def idle(self) -> bool:
        return not (self.executing or self.waiting)

    @property
    def widest(self) -> int:
        """Seats that one request may take at the most: a level must do several at a time."""
        return max(1, -(-self.bounds.nominal * 15 // 100))

    def queues(self) -> Sequence[Queue]:
        return self._queues

    def waiters(self) -> Iterator[tuple[Queue, int, Waiter]]:
        for queue in self._queues:
            for number, waiter in enumerate(queue.waiting):
                yield queue, number, waiter

    # --- requests ---

    def fits(self, width: int) -> bool:
        if width > self.limit:  # too wide ever to fit: alone, then
            return self.executing == 0 and self.limit > 0
        return self.seats + width <= self.limit

    def take(self, width: int) -> None:
        """Let a request in."""
        self.executing += 1
        self.seats += width
        self._asked()

    def _asked(self) -> None:
        self.demand.high = max(self.demand.high, self.seats + self.waiting_seats)

    def period(self, now: float) -> tuple[int, float]:
        """What was asked for since the last time: the most, and the mean of long."""
        spent = self.spent + sum(execution.sum for execution in self.executions.values())
        return self.demand.close(now, spent, self.seats + self.waiting_seats)

    def done(self, width: int, now: float) -> None:
        """A request that has taken `width` seats, and did not wait, is done."""
        self.executing -= 1
        self.seats -= width
        if self.waiting:
            self.on_free(now)

    def hold(self, seats: int, now: float) -> None:
        """Keep seats that nobody sits on: the work that a write leaves behind. Negative: no longer."""
        self.seats += seats
        if seats < 0 and self.waiting:
            self.on_free(now)

    def full(self, hand: Sequence[int]) -> Queue | None:
        """The queue of `hand` that is to be waited in; None when it is full while all seats are taken."""
        if self.queuing is None:
            return None
        self._turn += 1
        best = self._queues[hand[self._turn % len(hand)]]
        for step in range(1, len(hand)):
            queue = self._queues[hand[(self._turn + step) % len(hand)]]
            if queue.work < best.work:
                best = queue
        if len(best.waiting) >= self.queuing.length and self.seats >= self.limit:
            return None
        return best

    def wait(self, queue: Queue, waiter: Waiter, now: float) -> None:
        """Queue up; whoever is next is let in at once if there are seats."""
        self._append(queue, waiter)
        self.waiting += 1
        self.waiting_seats += waiter.width
        self._asked()
        self.on_free(now)

    def _append(self, queue: Queue, waiter: Waiter) -> None:
        if not queue.waiting and not queue.executing:
            queue.next_start = self._virtual
        queue.waiting.append(waiter)
        queue.work += waiter.width
        waiter.queue = queue

    def give_up(self, waiter: Waiter) -> None:
        """Wait no longer."""
        if waiter.queue is not None:
            waiter.queue.remove(waiter)
        self.waiting -= 1
        self.waiting_seats -= waiter.width

    def finish(self, waiter: Waiter, now: float) -> None:
        """A request that waited is done: its queue pays for what it really took."""
        queue = waiter.queue
        if queue is not None:
            queue.executing -= 1
            queue.seats -= waiter.width
            queue.next_start += waiter.width * (now - waiter.started - _GUESS)
        self.done(waiter.width, now)

    def on_free(self, now: float) -> None:
        """Let in whoever is next, as long as there are seats."""
        while self.waiting:
            queue = min((each for each in self._queues if each.waiting), key=_virtual_finish)
            waiter = queue.waiting[0]
            if not self.fits(waiter.width):
                return
            queue.waiting.popleft()
            queue.work -= waiter.width
            queue.executing += 1
            queue.seats += waiter.width
            self._virtual = max(self._virtual, queue.next_start)
            queue.next_start = max(queue.next_start, self._virtual) + waiter.width * _GUESS
            self.waiting -= 1
            self.waiting_seats -= waiter.width
            waiter.started = now
            self.take(waiter.width)
            waiter.admitted.set()


def _virtual_finish(queue: Queue) -> float:
    """When, in virtual time, the queue's next request would be done."""
    return queue.next_start + queue.waiting[0].width * _GUESS
