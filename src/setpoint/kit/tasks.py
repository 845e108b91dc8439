"""Named task groups: the only place that makes tasks.

`Tasks` is a nursery for the life of a component. A task begun by `start` takes the group down when it fails; one begun by `loop`
has its error logged and starts anew after a pause. So which loops restart and which take the process down can be read where
they are started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from setpoint.kit import logs
from setpoint.kit.clock import Clock

T = TypeVar("T")
log = logs.get_logger("kit.tasks")


class Tasks:
    """A group of named tasks, entered with `async with`.

    Leaving the block waits for every task; `stop()` cancels those that run. The first error of a task begun by `start`
    cancels the others and leaves the block as an ExceptionGroup, as in asyncio.TaskGroup.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._group.__aexit__(kind, error, trace)

    def start(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` as the task `<group>/<name>`."""
        task = self._group.create_task(work, name=f"{self.name}/{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def loop(self, name: str, work: Callable[[], Awaitable[None]], *, clock: Clock, pause: float = 1.0) -> asyncio.Task[None]:
        """Run `work()` again and again: after an error, logged, with a pause of `pause` seconds; after its return, at an end."""

        async def keep() -> None:
            while True:
                try:
                    await work()
                    return
                except Exception:  # the one place where a restarting loop's errors end
                    log.exception("loop failed, starts anew", loop=f"{self.name}/{name}", pause=pause)
                    await clock.sleep(pause)

        return self.start(name, keep())

    def stop(self) -> None:
        """Cancel every task of the group."""
        for task in self._tasks:
            task.cancel()
