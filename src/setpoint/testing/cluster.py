"""A whole cluster on virtual time: memory store, API server, controllers, scheduler and simulated nodes on one asyncio loop.

    async with VirtualCluster(nodes=3) as cluster:
        await cluster.client.create(DEPLOYMENTS, body, "default")
        await cluster.settled()

An hour of its time takes as long as the work in it. Components talk to the API server through links with faults
(`cluster.faults`); any of them, the API server included, can be stopped and started. The test's own client has no faults.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, Self

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.app import bootstrap, identities
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.settled import Activity
from setpoint.client.trace import Trace
from setpoint.client.transport import Transport
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.controllers.component import Settings
from setpoint.controllers.manager import ControllerManager
from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.node.simulated import Beats, Declared, NodeSpec, SimulatedNodes, Stages
from setpoint.scheduler.scheduler import Scheduler
from setpoint.storage.backends.memory import memory_store
from setpoint.testing.chance import seeded
from setpoint.testing.faults import Faults, Link

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
CONTROLLERS, SCHEDULER, NODES = "controllers", "scheduler", "nodes"
#: a client that acts as somebody
Connect = Callable[[UserInfo], Client]


class Part(Protocol):
    """A component of the cluster."""

    async def run(self) -> None: ...
    def activity(self) -> Activity: ...


class Unsettled(AssertionError):
    """The cluster still works after all the time it was given; the message says who does what."""


@dataclass(slots=True)
class _Running:
    """A part that runs, with the links that are its only way to the API server: one for each identity that it has."""

    part: Any
    links: list[Link]
    task: asyncio.Task[None]


@dataclass(slots=True)
class _ApiServer:
    """What in-process transports call; the pipeline behind it can be replaced."""

    pipeline: Pipeline = field(repr=False)

    def handle(self, request: Any) -> Coroutine[Any, Any, Any]:
        return self.pipeline.handle(request)


class VirtualCluster:
    """Use it with `async with`; everything runs from then on, as far as the clock is moved."""

    def __init__(
        self,
        nodes: int | Iterable[NodeSpec] = 3,
        *,
        seed: int = 0,
        stages: Declared = Stages(),  # noqa: B008  # frozen
        settings: Settings = Settings(),  # noqa: B008  # frozen
        parts: Sequence[str] = (CONTROLLERS, SCHEDULER, NODES),
        without: Sequence[str] = (),
        beats: Beats = Beats(),  # noqa: B008  # frozen
        clock: VirtualClock | None = None,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.seed = seed
        self.rng = random.Random(seed)  # noqa: S311  # a test's seed
        self.faults = Faults(self.clock, random.Random(seed + 1))  # noqa: S311  # a test's seed
        self.store = memory_store(self.clock)
        self._server = _ApiServer(make_pipeline(self.store, self.clock, address=lambda: "127.0.0.1:6443"))
        self.client = Client(self._transport(ADMIN), user_agent="kubectl", clock=self.clock)
        specs = [NodeSpec(f"node-{number}") for number in range(1, nodes + 1)] if isinstance(nodes, int) else nodes
        self._specs = {spec.name: spec for spec in specs}
        self._stages = stages
        self._settings = settings
        self._without = without
        self._beats = beats
        self._names = parts
        self._running: dict[str, _Running] = {}
        self._tasks = Tasks("cluster")
        self._following: list[asyncio.Task[None]] = []
        self._stack = AsyncExitStack()
        self._makers: dict[str, Callable[[Connect], Part]] = {
            CONTROLLERS: self._make_controllers,
            SCHEDULER: self._make_scheduler,
            NODES: self._make_nodes,
        }

    # -- life

    async def __aenter__(self) -> Self:
        self._stack.enter_context(seeded(self.seed))
        await self.store.open()
        self._stack.push_async_callback(self.store.close)
        self._stack.push_async_callback(self._close_pipeline)
        await bootstrap.ensure(self.client, service_address="10.96.0.1", port=6443)
        await self._stack.enter_async_context(self._tasks)
        self._follow()
        for name in self._names:
            self.start(name)
        await self.clock.advance(1)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._tasks.stop()
        await self._stack.__aexit__(None, None, None)  # an error of the body stays what it is

    async def _close_pipeline(self) -> None:
        await self._server.pipeline.close()

    def _follow(self) -> None:
        """What the API server itself follows in the store."""
        self._following = [self._tasks.start("follower", each.run()) for each in self._server.pipeline.followers]

    def start(self, name: str) -> None:
        """Start a part anew; what it knew before is gone."""
        links: list[Link] = []

        def connect(user: UserInfo) -> Client:
            links.append(Link(self._transport(user), self.faults))
            return Client(links[-1], user_agent=name, clock=self.clock)

        part = self._makers[name](connect)
        task = self._tasks.start(name, self._run(part))
        self._running[name] = _Running(part, links, task)

    @staticmethod
    async def _run(part: Part) -> None:
        await part.run()

    async def stop(self, name: str) -> None:
        """Stop a part where it stands, as a crash would."""
        running = self._running.pop(name)
        for link in running.links:
            self.faults.links.remove(link)
        running.task.cancel()
        await asyncio.wait([running.task])

    async def restart(self, name: str) -> None:
        await self.stop(name)
        self.start(name)

    async def restart_api_server(self) -> None:
        """A new API server over the same store: all watches end, caches begin empty."""
        await self._close_pipeline()
        self._server.pipeline = make_pipeline(self.store, self.clock, address=lambda: "127.0.0.1:6443")
        for task in self._following:
            task.cancel()
        for follower in self._server.pipeline.followers:
            await follower.load()
        self._follow()
        self.faults.break_watches()
        await self.clock.idle()

    def part(self, name: str) -> Any:
        """The component that runs under this name."""
        return self._running[name].part

    @property
    def nodes(self) -> SimulatedNodes:
        fleet: SimulatedNodes = self.part(NODES)
        return fleet

    # -- time

    async def advance(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def settled(self, limit: float = 600.0) -> float:
        """Move time until nothing is queued, in flight or tried again, `limit` seconds at the most; return how long that was.

        Raises Unsettled. What is due later (a deadline, a toleration's end, a heartbeat) does not count.
        """
        start = self.clock.elapsed
        await self.clock.idle()
        while busy := self.busy():
            if self.clock.elapsed - start > limit or not await self.clock.step():
                errors = "\n".join(self.errors()[-20:])
                raise Unsettled(f"after {self.clock.elapsed - start:.1f} s: {'; '.join(busy)}\n{errors}")
        return self.clock.elapsed - start

    def busy(self) -> list[str]:
        """Who has work, and what kind of work."""
        found = []
        for name, running in self._running.items():
            for label, activity in _activities(name, running.part):
                if not activity.settled:
                    found.append(f"{label}: {activity}")
            if calls := sum(link.calls for link in running.links):
                found.append(f"{name}: {calls} calls under way")
        return found

    def errors(self) -> list[str]:
        """What controllers' latest cycles failed with, oldest first."""
        traces = _traces(running.part for running in self._running.values())
        cycles = sorted((cycle for trace in traces for cycle in trace.cycles()), key=lambda cycle: cycle.started)
        return [f"{cycle.controller} {cycle.key}: {cycle.outcome} {cycle.error}" for cycle in cycles if cycle.error]

    async def until(self, check: Callable[[], Any], limit: float = 600.0, step: float = 1.0) -> float:
        """Move time until `await check()` is true, `limit` seconds at the most; return how long that was; else AssertionError."""
        start = self.clock.elapsed
        while not await check():
            if self.clock.elapsed - start > limit:
                raise AssertionError(f"not so after {limit} s: {check.__doc__ or check}; busy: {self.busy()}")
            await self.clock.advance(step)
        return self.clock.elapsed - start

    # -- composition

    def _transport(self, user: UserInfo) -> Transport:
        return InProcessTransport(self._server, Request, user)

    def _make_controllers(self, connect: Connect) -> Part:
        def own(name: str) -> Client:
            return connect(identities.controller(name))

        client = connect(identities.user(identities.CONTROLLER_MANAGER))
        return ControllerManager(client, self.clock, self._settings, without=self._without, clients=own)

    def _make_scheduler(self, connect: Connect) -> Part:
        return Scheduler(connect(identities.user(identities.SCHEDULER)), self.clock, rng=self.rng)

    def _make_nodes(self, connect: Connect) -> Part:
        @cache  # it is asked for at every write
        def own(name: str) -> Client:
            return connect(identities.user(identities.node_user(name), identities.NODES))

        watching = connect(identities.user("system:simulated-nodes", identities.MASTERS))
        specs = self._specs.values()
        return SimulatedNodes(watching, self.clock, specs, clients=own, stages=self._stages, rng=self.rng, beats=self._beats)


def _activities(name: str, part: Any) -> list[tuple[str, Activity]]:
    if hasattr(part, "parts"):
        return [(each.name, each.activity()) for each in part.parts()]
    return [(name, part.activity())]


def _traces(parts: Iterable[Any]) -> Iterable[Trace]:
    for part in parts:
        for controller in getattr(part, "controllers", {}).values():
            if (traces := getattr(controller, "traces", None)) is not None:
                yield from traces
            elif hasattr(controller, "trace"):
                yield controller.trace
