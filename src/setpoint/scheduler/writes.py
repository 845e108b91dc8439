"""What the scheduler writes goes out side by side, beside the cycles: a bounded number, so that a slow API server slows the
cycles down instead of piling up work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from setpoint.api.machinery.status import StatusError
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.tasks import Tasks
from setpoint.scheduler.framework import Work

T = TypeVar("T")
log = logs.get_logger("scheduler")

MAX_WRITES = 64  # bindings and refusals under way at once


class Writes:
    """How many are `under_way`; `freed` is called when one ends. `later` takes what plugins want written (`Handle.later`)."""

    def __init__(self, freed: Callable[[], None]) -> None:
        self.under_way = 0
        self.later: list[tuple[str, Work]] = []
        self._freed = freed

    @property
    def full(self) -> bool:
        return self.under_way >= MAX_WRITES

    def start(self, tasks: Tasks, name: str, work: Work) -> None:
        """Begin a write; there may be more than the bound of those that one cycle brings about."""

        async def run() -> None:
            try:
                await attempt(name, work)
            finally:
                self.under_way -= 1
                self._freed()

        self.under_way += 1
        tasks.start(name, run())

    def start_later(self, tasks: Tasks) -> None:
        """Begin what plugins want written."""
        for name, work in self._take_later():
            self.start(tasks, name, work)

    async def do_later(self) -> None:
        """The same one after the other, in the place that the caller has."""
        for name, work in self._take_later():
            await attempt(name, work)

    def _take_later(self) -> list[tuple[str, Work]]:
        asked, self.later[:] = [*self.later], []
        return asked

    async def without_place(self, work: Awaitable[T]) -> T:
        """What may take long (a pod that is held, a volume that is made) takes no place among the writes meanwhile."""
        self.under_way -= 1
        self._freed()
        try:
            return await work
        finally:
            self.under_way += 1


async def attempt(name: str, work: Work) -> None:
    """What the server refuses is only logged: the next attempt says it again."""
    try:
        await work()
    except (StatusError, TransportError) as error:
        log.info("not written", what=name, error=str(error))
    except Exception:  # the one place where a write's errors end: the others go on
        log.exception("not written", what=name)
