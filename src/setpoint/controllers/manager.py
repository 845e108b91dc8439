"""The controller manager: all controllers of the table over one client and one set of informers."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from setpoint.client.client import Client
from setpoint.client.events import EventRecorder, Recorder
from setpoint.client.factory import InformerFactory
from setpoint.client.settled import Active, Activity, combined
from setpoint.controllers.component import Component, Context, Settings
from setpoint.controllers.table import CONTROLLERS
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

NAME = "kube-controller-manager"


class ControllerManager:
    """Everything is wired in the constructor; `run()` starts it and ends when cancelled.

    `client` watches and writes events; what a controller does, it does by its own (`clients`, by the controller's name), as with
    kube-controller-manager's --use-service-account-credentials.
    """

    name = NAME

    def __init__(
        self,
        client: Client,
        clock: Clock,
        settings: Settings,
        *,
        without: Collection[str] = (),
        clients: Callable[[str], Client] | None = None,
    ) -> None:
        self._clock = clock
        self._client = client
        self._recorders: dict[str, Recorder] = {}
        self.informers = InformerFactory(client, clock)
        context = Context(client, clock, self.informers, settings, self._recorder)
        self.controllers: dict[str, Component] = {}
        for name, new in CONTROLLERS.items():
            if name in without:
                continue
            own = context if clients is None else replace(context, client=clients(name))
            if (controller := new(own)) is not None:
                self.controllers[name] = controller

    def _recorder(self, name: str) -> EventRecorder:
        if name not in self._recorders:
            self._recorders[name] = Recorder(self._client, name, self._clock)
        return self._recorders[name]

    async def run(self) -> None:
        """Informers, recorders and controllers; a controller that fails starts anew, the others go on."""
        async with Tasks(NAME) as tasks:
            await self.informers.run(tasks)
            for recorder in self._recorders.values():
                tasks.loop(recorder.name, recorder.run, clock=self._clock)
            for name, controller in self.controllers.items():
                tasks.loop(name, controller.run, clock=self._clock)

    async def wait_synced(self) -> None:
        """Until every controller has seen the world once."""
        await self.informers.wait_synced()

    def parts(self) -> list[Active]:
        """All that can be busy, by name."""
        return [self.informers, *self._recorders.values(), *self.controllers.values()]

    def activity(self) -> Activity:
        return combined(part.activity() for part in self.parts())
