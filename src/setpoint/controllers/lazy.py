"""Controllers that are loaded when there is something for them to do: a cluster without Jobs starts without the Job controller.

What is not loaded costs a process that starts nothing; loading takes milliseconds, once.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.client.settled import Activity
from setpoint.client.trace import Trace
from setpoint.controllers.component import Component, Context

Wanted = tuple[Resource[Any], Callable[[Any], bool]]


class Lazy:
    """Stands for the controller of `module` (its `new`); loads it at the first object of `wanted` kinds that asks for it."""

    def __init__(self, name: str, context: Context, module: str, wanted: tuple[Wanted, ...], recorder: str = "") -> None:
        self.name = name
        self._context = context
        self._module = module
        self._needed = asyncio.Event()
        self._part: Component | None = None
        context.recorder(recorder or name)  # recorders run from the start
        for resource, asks in wanted:
            context.informers.of(resource).on_change(self._handler(asks))

    def _handler(self, asks: Callable[[Any], bool]) -> Callable[[str, Any, Any], None]:
        def changed(_: str, old: Any, new: Any) -> None:
            if not self._needed.is_set() and asks(new if new is not None else old):
                self._needed.set()

        return changed

    @property
    def traces(self) -> list[Trace]:
        """Those of the controller, once it is loaded."""
        traces: list[Trace] | None = getattr(self._part, "traces", None)
        if traces is not None:
            return traces
        trace: Trace | None = getattr(self._part, "trace", None)
        return [trace] if trace is not None else []

    async def run(self) -> None:
        """Wait until it is needed, load it, be it."""
        await self._needed.wait()
        if self._part is None:
            self._part = importlib.import_module(f"setpoint.controllers.{self._module}").new(self._context)
        await self._part.run()

    def activity(self) -> Activity:
        if self._part is not None:
            return self._part.activity()
        return Activity(in_flight=int(self._needed.is_set()))


def always(_: Any) -> bool:
    return True


def lazy(name: str, module: str, *wanted: Wanted, recorder: str = "") -> tuple[str, Callable[[Context], Component]]:
    """An entry of the table of controllers; `recorder` is the component of its events, if that is not its name."""
    return name, lambda context: Lazy(name, context, module, wanted, recorder)
