"""The controller runtime: observe, diff, act, for one key at a time.

A controller is three functions. `observe(key)` reads informer caches; `diff(observed)` is pure and synchronous: it needs no
server and no clock to be tested; `act(plan)` writes. The runtime calls them with as many workers as asked for, never two on
one key, retries what fails with per-key backoff, and keeps a bounded trace of what it saw, wanted and did.

Cancelling `run()` stops between or within cycles; a cycle is safe to cut off anywhere, since the next one starts from what is
there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.client.informer import Informer
from setpoint.client.objects import key_of
from setpoint.client.settled import Activity
from setpoint.client.trace import Cycle, Trace
from setpoint.client.transport import TransportError
from setpoint.client.workqueue import WorkQueue
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

Observed = TypeVar("Observed")
Plan = TypeVar("Plan")
log = logs.get_logger("client.controller")


class Result(Struct, frozen=True):
    """What `act` asks for: look at the key again in `requeue_after` seconds; None for no need."""

    requeue_after: float | None = None


DONE = Result()


class TerminalError(Exception):
    """Trying again will not help: the key is left alone until something about it changes."""


class Reconciler(Protocol[Observed, Plan]):
    """`observe` gives None when there is nothing to do for the key; `diff` gives None when nothing is to be changed.

    With an attribute `secret` that is true, what it observes and plans is kept out of the trace.
    """

    def observe(self, key: str) -> Observed | Awaitable[Observed | None] | None: ...
    def diff(self, observed: Observed) -> Plan | None: ...
    async def act(self, plan: Plan) -> Result | None: ...


class Controller(Generic[Observed, Plan]):
    """Runs a reconciler. Event handlers call `enqueue`; `informers` must be synced before the first cycle."""

    def __init__(
        self,
        name: str,
        reconciler: Reconciler[Observed, Plan],
        clock: Clock,
        *,
        workers: int = 5,
        informers: Sequence[Informer[Any]] = (),
        queue: WorkQueue[str] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.name = name
        self.queue: WorkQueue[str] = queue if queue is not None else WorkQueue(clock, name)
        self.trace = trace if trace is not None else Trace()
        self._reconciler = reconciler
        self._secret = bool(getattr(reconciler, "secret", False))
        self._clock = clock
        self._workers = workers
        self._informers = informers

    def enqueue(self, key: str) -> None:
        self.queue.add(key)

    def enqueue_after(self, key: str, seconds: float) -> None:
        self.queue.add_after(key, seconds)

    def enqueue_soon(self, key: str, seconds: float) -> None:
        self.queue.add_soon(key, seconds)

    def follow(self, informer: Informer[Any], *, gone: bool = False) -> None:
        """Enqueue the key of each of its objects that comes or changes; `gone`: of each that goes, too."""

        def changed(_: str, old: Any, new: Any) -> None:
            if new is not None:
                self.enqueue(key_of(new))
            elif gone:
                self.enqueue(key_of(old))

        informer.on_change(changed)

    async def run(self) -> None:
        """Work until cancelled."""
        for informer in self._informers:
            await informer.synced.wait()
        async with Tasks(self.name) as tasks:
            for number in range(self._workers):
                tasks.loop(f"worker {number}", self._work, clock=self._clock)

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                await self.cycle(key)
            finally:
                self.queue.done(key)

    async def cycle(self, key: str) -> Cycle:
        """One pass over one key, with its retry; tests call it directly."""
        started = self._clock.now()
        observed: Any = None
        plan: Any = None
        outcome, error, after = "gone", "", None
        try:
            observed = self._reconciler.observe(key)
            if hasattr(observed, "__await__"):  # `inspect.isawaitable` costs as much as a short look at an object
                observed = await observed
            if observed is not None:
                plan = self._reconciler.diff(observed)
                outcome = "unchanged"
                if plan is not None:
                    result = await self._reconciler.act(plan)
                    outcome, after = "acted", (result or DONE).requeue_after
            self.queue.forget(key)
            if after is not None:
                self.queue.add_after(key, after)
        except TerminalError as failure:
            self.queue.forget(key)
            outcome, error = "terminal", str(failure)
            log.warning("given up until it changes", controller=self.name, key=key, error=error)
        except (StatusError, TransportError) as failure:
            outcome, error = "retry", str(failure)
            log.debug("tries again", controller=self.name, key=key, error=error, seconds=self.queue.add_backoff(key))
        except Exception as failure:  # the one place where a cycle's errors end: every key is tried again
            outcome, error = "retry", f"{type(failure).__name__}: {failure}"
            log.exception("cycle failed", controller=self.name, key=key, seconds=self.queue.add_backoff(key))
        if self._secret:
            observed = plan = None
        cycle = Cycle(self.name, key, started, self._clock.now() - started, observed, plan, outcome, error, after)
        self.trace.record(cycle)
        return cycle

    def activity(self) -> Activity:
        return self.queue.activity()
