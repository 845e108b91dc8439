"""A time limit that every request has and hardly any reaches: one timer for all of them instead of one each.

`with limit:` raises TimeoutError in a task that is still inside after `seconds`, as `asyncio.timeout` does for a tenth of
the cost. A task that enters again, by a request that it makes of itself meanwhile, keeps its first deadline.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class Deadlines:
    """The tasks that are inside, oldest first. The limit is kept to within a second."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: dict[asyncio.Task[Any], float] = {}
        self._again: dict[asyncio.Task[Any], int] = {}
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("no task to limit")
        if task in self._since or task in self._late:
            self._again[task] = self._again.get(task, 0) + 1
            return
        self._since[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._look, loop)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        task = asyncio.current_task()
        if task is None:
            return
        if self._again and task in self._again:
            self._left_inner(task)
            return
        self._since.pop(task, None)
        if task in self._late:
            self._late.discard(task)
            if task.uncancel() <= 0 and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def _left_inner(self, task: asyncio.Task[Any]) -> None:
        self._again[task] -= 1
        if not self._again[task]:
            del self._again[task]

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Interrupt who is late, and look again when the oldest of the others may be."""
        now = loop.time()
        self._timer = None
        for task, since in [*self._since.items()]:
            if since + self.seconds > now:
                self._timer = loop.call_at(since + self.seconds, self._look, loop)
                return
            del self._since[task]
            self._late.add(task)
            task.cancel()
