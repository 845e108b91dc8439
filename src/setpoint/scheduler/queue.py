"""Pods that wait to be scheduled: a state machine without I/O; the caller says what time it is (seconds, monotonic).

    add ──▶ active ──pop──▶ in flight ──done──▶ gone
               ▲                │ fail
               │                ▼
            backoff ◀── waiting (unschedulable, or gated)

- *active*: ordered by the QueueSort plugin, then by how long they have waited.
- *waiting*: refused by plugins; an event that one of these plugins says may help (a queueing hint) moves the pod to active, or to
  backoff while its backoff lasts: 1 s after the first refusal, doubled with each, 10 s at most. After five minutes it is tried
  anyway. Gated pods wait here too, until PreEnqueue lets them in. While others are still being evicted for it, nothing helps a
  pod: it would only have more of them evicted.
- *backoff*: after an error (nobody refused it, something broke) a pod waits its backoff out. One that was merely refused is
  taken early when there is nothing else to do.

What decides about a pod is synchronous (the last slice of its cycle), so as a rule no event comes between looking and `fail`, and
unlike Kubernetes' queue this one need not remember what happened meanwhile: that something did is enough. Then a refused pod
backs off instead of waiting for an event that was there already.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, pod_change
from setpoint.scheduler.framework import Victims
from setpoint.scheduler.pods import PodInfo, pod_key
from setpoint.scheduler.status import Status

MAX_WAIT = 300.0
NO_NODES_PLUGIN = "no nodes"  # stands for a plugin where there was no node to ask one about


class Place(Enum):
    """Where a pod is."""

    ACTIVE = auto()
    BACKOFF = auto()
    WAITING = auto()
    GATED = auto()
    IN_FLIGHT = auto()
    GONE = auto()


class Backoff(Struct, frozen=True):
    """How long a pod has to wait after it failed, in seconds: the first time, and at most."""

    initial: float = 1.0
    most: float = 10.0

    def after(self, failures: int) -> float:
        return min(self.initial * float(1 << min(failures - 1, 20)), self.most)


DEFAULT_BACKOFF = Backoff()


class QueuedPod:
    """A pod and its history in the queue."""

    __slots__ = (
        "errors",
        "info",
        "pending",
        "place",
        "plugins",
        "promised",
        "refusals",
        "seen",
        "since",
        "ticket",
        "victims",
    )

    def __init__(self, pod: Pod, now: float) -> None:
        self.info = PodInfo(pod)
        self.since = now
        self.refusals = 0
        self.errors = 0
        self.plugins: frozenset[str] = frozenset()
        self.pending: frozenset[str] = frozenset()
        self.place = Place.GONE
        self.ticket = 0
        self.seen = 0
        self.promised = ""  # the node last written to its status, if by us
        self.victims: Victims | None = None  # those that make room for it

    @property
    def pod(self) -> Pod:
        return self.info.pod

    @property
    def key(self) -> str:
        return self.info.key

    def backoff_until(self, backoff: Backoff) -> float:
        """Whole seconds: of those whose backoff ends in the same second the more important comes first."""
        count = self.errors or self.refusals
        return float(math.floor(self.since + backoff.after(count))) if count else self.since


Gate = Callable[[Pod], Status | None]
_Entry = tuple[float, float, int, int, QueuedPod]


class SchedulingQueue:
    """See the module. `gate` is PreEnqueue, `sort_key` QueueSort, `events_to_register` what each plugin waits for.

    `awaits` tells of a refused pod whether any of its victims is still where it was.
    """

    def __init__(
        self,
        gate: Gate,
        sort_key: Callable[[Pod], int],
        events_to_register: Mapping[str, Sequence[ClusterEventWithHint]],
        backoff: Backoff = DEFAULT_BACKOFF,
        awaits: Callable[[QueuedPod], bool] = lambda _: False,
    ) -> None:
        self._awaits = awaits
        self._gate = gate
        self._durations = backoff
        self._sort_key = sort_key
        self._registered = {NO_NODES_PLUGIN: (ClusterEventWithHint(EventResource.NODE, ActionType.ADD),), **events_to_register}
        self._pods: dict[str, QueuedPod] = {}
        self._active: list[_Entry] = []
        self._backoff: list[_Entry] = []
        # Plugins that may let a gated pod in when something else than the pod changes.
        self._openers = {
            name for name, each in events_to_register.items() if any(one.resource is not EventResource.POD for one in each)
        }
        self._gated: dict[str, tuple[QueuedPod, str]] = {}  # those whose gate is kept by one of them
        self._waiting: dict[str, QueuedPod] = {}  # in the order in which they were refused
        self._tickets = itertools.count(1)
        self._happenings = 0

    def __len__(self) -> int:
        return len(self._pods)

    def counts(self) -> Mapping[Place, int]:
        """How many pods are where, for metrics."""
        counts = dict.fromkeys(Place, 0)
        for queued in self._pods.values():
            counts[queued.place] += 1
        return counts

    def get(self, key: str) -> QueuedPod | None:
        return self._pods.get(key)

    # ---- what informers report

    def add(self, pod: Pod, now: float) -> None:
        """A pod without a node appeared."""
        if pod_key(pod) in self._pods:
            self.update(pod, now)
            return
        queued = QueuedPod(pod, now)
        self._pods[queued.key] = queued
        self._let_in(queued)

    def update(self, new: Pod, now: float) -> None:
        """It changed. One that waits is tried again if the change may help."""
        queued = self._pods.get(pod_key(new))
        if queued is None:
            self.add(new, now)
            return
        old = queued.pod
        queued.info = PodInfo(new)
        match queued.place:
            case Place.ACTIVE:
                self._activate(queued)
            case Place.GATED:
                self._let_in(queued)
            case Place.WAITING:
                event = ClusterEvent(EventResource.POD, pod_change(old, new), old, new)
                if self._helps(queued, event) and not self._awaits(queued):
                    self._retry(queued, now)

    def delete(self, key: str) -> None:
        """It is gone or has a node now."""
        queued = self._pods.pop(key, None)
        if queued is not None:
            self._move(queued, Place.GONE)

    def happened(self, event: ClusterEvent, now: float) -> None:
        """Try again those whom `event` may help."""
        self._happenings += 1
        for queued in [*self._waiting.values()]:
            if self._helps(queued, event) and not self._awaits(queued):
                self._retry(queued, now)
        for queued, plugin in [*self._gated.values()]:
            if self._plugin_hopes(plugin, queued.pod, event):
                self._let_in(queued)

    def again(self, queued: QueuedPod, now: float) -> None:
        """Try it again, if it waits: its victims could not be evicted."""
        queued.victims = None
        if queued.place is Place.WAITING:
            self._retry(queued, now)

    def _helps(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        return any(self._plugin_hopes(plugin, queued.pod, event) for plugin in (*queued.plugins, *queued.pending))

    def _plugin_hopes(self, plugin: str, pod: Pod, event: ClusterEvent) -> bool:
        events_to_register = self._registered.get(plugin)
        # A plugin that does not say what it waits for is asked again whatever happens.
        return events_to_register is None or any(interest.helps(pod, event) for interest in events_to_register)

    # ---- the scheduler's side

    def pop(self, now: float) -> QueuedPod | None:
        """The next pod to schedule; it is in flight until `done` or `fail`."""
        self.flush(now)
        queued = _take(self._active) or self._take_refused()
        if queued is not None:
            self._move(queued, Place.IN_FLIGHT)
            self.looking(queued)
        return queued

    def looking(self, queued: QueuedPod) -> None:
        """The pod's cycle (begins or goes on and) sees all that has happened up to now."""
        queued.seen = self._happenings

    def _take_refused(self) -> QueuedPod | None:
        """Nothing is active: the first of those that back off, unless after an error."""
        errors: list[_Entry] = []
        found: QueuedPod | None = None
        while self._backoff and found is None:
            entry = heapq.heappop(self._backoff)
            queued = entry[-1]
            if queued.ticket != entry[-2]:
                continue
            if queued.errors:
                errors.append(entry)
            else:
                found = queued
        for entry in errors:
            heapq.heappush(self._backoff, entry)
        return found

    def done(self, key: str) -> None:
        """The pod has its node."""
        self.delete(key)

    def fail(self, queued: QueuedPod, now: float, plugins: Iterable[str] = (), pending: Iterable[str] = ()) -> None:
        """It could not be scheduled: refused by `plugins`, or, when there are none, for an error."""
        if queued.place is not Place.IN_FLIGHT:
            return  # deleted meanwhile
        queued.since = now
        queued.plugins, queued.pending = frozenset(plugins), frozenset(pending)
        if queued.plugins or queued.pending:
            queued.refusals += 1
            queued.errors = 0
            if queued.seen == self._happenings or self._awaits(queued):
                self._move(queued, Place.WAITING)
                self._waiting[queued.key] = queued
            else:
                self._back_off(queued)
        else:
            queued.errors += 1
            self._back_off(queued)

    def flush(self, now: float) -> None:
        """Let in whose backoff is over, and who has waited five minutes."""
        while self._backoff and self._backoff[0][0] <= now:
            queued = _take(self._backoff)
            if queued is not None and queued.backoff_until(self._durations) <= now:
                self._activate(queued)
            elif queued is not None:
                self._back_off(queued)
        for queued in self._overdue(now):
            self._retry(queued, now)

    def _overdue(self, now: float) -> list[QueuedPod]:
        overdue: list[QueuedPod] = []
        for queued in self._waiting.values():
            if now - queued.since < MAX_WAIT:
                break
            overdue.append(queued)
        return overdue

    def due(self) -> float | None:
        """When `flush` has something to do next."""
        moments = [queued.since + MAX_WAIT for queued in itertools.islice(self._waiting.values(), 1)]
        while self._backoff and self._backoff[0][-1].ticket != self._backoff[0][-2]:
            heapq.heappop(self._backoff)
        if self._backoff:
            moments.append(self._backoff[0][0])
        return min(moments, default=None)

    # ---- places

    def _let_in(self, queued: QueuedPod) -> None:
        """Past PreEnqueue into active, or to the gated ones."""
        if not self._is_gated(queued):
            self._activate(queued)

    def _is_gated(self, queued: QueuedPod) -> bool:
        status = self._gate(queued.pod)
        if status is None:
            return False
        self._move(queued, Place.GATED)
        if status.plugin in self._openers:
            self._gated[queued.key] = (queued, status.plugin)
        return True

    def _retry(self, queued: QueuedPod, now: float) -> None:
        if self._is_gated(queued):
            return
        if queued.backoff_until(self._durations) > now and not queued.pending:
            self._back_off(queued)
        else:
            self._activate(queued)

    def _activate(self, queued: QueuedPod) -> None:
        self._move(queued, Place.ACTIVE)
        entry = (float(self._sort_key(queued.pod)), queued.since, queued.ticket, queued.ticket, queued)
        heapq.heappush(self._active, entry)

    def _back_off(self, queued: QueuedPod) -> None:
        self._move(queued, Place.BACKOFF)
        entry = (queued.backoff_until(self._durations), float(self._sort_key(queued.pod)), queued.ticket, queued.ticket, queued)
        heapq.heappush(self._backoff, entry)

    def _move(self, queued: QueuedPod, place: Place) -> None:
        """Entries in heaps that carry an older ticket are void."""
        self._waiting.pop(queued.key, None)
        self._gated.pop(queued.key, None)
        queued.place = place
        queued.ticket = next(self._tickets)


def _take(heap: list[_Entry]) -> QueuedPod | None:
    while heap:
        entry = heapq.heappop(heap)
        if entry[-1].ticket == entry[-2]:
            return entry[-1]
    return None
