"""Wiring of the garbage collector: watches feed the graph, the graph names uids, the reconciler looks at each."""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.client.controller import Controller
from setpoint.client.discovery import Discovered
from setpoint.client.settled import Activity, combined
from setpoint.controllers.component import Context
from setpoint.controllers.garbage_collector.graph import Graph
from setpoint.controllers.garbage_collector.monitors import Monitors
from setpoint.controllers.garbage_collector.plan import Observed, Plan
from setpoint.controllers.garbage_collector.reconciler import GarbageReconciler
from setpoint.kit.tasks import Tasks

NAME = "garbage-collector"
RECORDER = "garbage-collector-controller"
WORKERS = 20
#: seconds: some sixty lists and watches begin after those that nodes and pods wait for at a start
START_DELAY = 0.5


class GarbageCollector:
    """Looks begin once every resource was listed: before, every owner would seem to be missing."""

    name = NAME

    def __init__(self, context: Context) -> None:
        self.graph = Graph()
        self._clock = context.clock
        self._reconciler = GarbageReconciler(context.client, self.graph, self._look, context.recorder(RECORDER))
        self._monitors = Monitors(context.client, context.clock, context.informers, self.graph, self._look, self._discovered)
        self._controller: Controller[Observed, Plan] = Controller(NAME, self._reconciler, context.clock, workers=WORKERS)
        self.trace = self._controller.trace

    def _look(self, uids: Iterable[str]) -> None:
        for uid in uids:
            self._controller.enqueue(uid)

    def _discovered(self, found: Discovered) -> None:
        """New kinds may be what unknown owners are of."""
        before, self._reconciler.discovered = self._reconciler.discovered, found
        if before.served and before.served != found.served:
            self._look(self.graph.virtual())

    async def run(self) -> None:
        """Watch and collect until cancelled."""
        await self._clock.sleep(START_DELAY)
        async with Tasks(NAME) as tasks:
            tasks.start("discovery", self._monitors.run(tasks))
            await self._monitors.wait_synced()
            tasks.start("looks", self._controller.run())

    def activity(self) -> Activity:
        return combined((self._monitors.activity(), self._controller.activity()))


def new(context: Context) -> GarbageCollector:
    """The garbage collector; nothing runs yet."""
    return GarbageCollector(context)
