"""The fleet: many simulated nodes on one informer of pods, one of nodes, and one queue each.

Faults for tests: `freeze` is a partition (the node says nothing, its containers go on), `kill` a power cut (they die), `start`
ends both. All three act on what the node writes, never on what others see.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field

from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller
from setpoint.client.events import Recorder
from setpoint.client.informer import Informer, any_of
from setpoint.client.objects import key_of
from setpoint.client.settled import Activity, combined
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.node.simulated.lifecycle import BuiltIn, Lifecycle
from setpoint.node.simulated.node_objects import NodeSpec
from setpoint.node.simulated.nodes import Heartbeat, NodeReconciler, reports_well
from setpoint.node.simulated.pods import BY_NODE, PodReconciler
from setpoint.node.simulated.stages import Stages

StagesFor = Callable[[core_v1.Pod], Stages]
Declared = Stages | StagesFor | Lifecycle


class Beats(Struct, frozen=True):
    """How nodes beat: every quarter of `lease_seconds`, each at a moment of its own.

    With `moments`, all beat at so many moments of a period, which costs a server less.
    """

    lease_seconds: int = 40
    moments: int = 0


class SimulatedNode(Struct):
    """What the fleet remembers of a node. `lost` are uids of pods whose containers died with it.

    `phase`, from 0 to 1, says where in a period its heartbeats and reports fall, so that fleets spread.
    """

    spec: NodeSpec
    index: int
    phase: float = 0.0
    alive: bool = True
    lost: set[str] = field(default_factory=set)
    addresses: dict[str, str] = field(default_factory=dict)
    _next: int = 0

    @property
    def address(self) -> str:
        return f"172.{16 + self.index // 65536 % 16}.{self.index // 256 % 256}.{self.index % 256}"

    def pod_address(self, uid: str, known: str = "") -> str:
        """The address of a pod here; the same as long as it is here. `known` is the one that its status has already."""
        if known:
            self.addresses[uid] = known
        elif uid not in self.addresses:
            taken = set(self.addresses.values())
            while (found := self._candidate()) in taken:
                pass
            self.addresses[uid] = found
        return self.addresses[uid]

    def _candidate(self) -> str:
        self._next = self._next % 254 + 1
        return f"10.{64 + self.index // 256 % 128}.{self.index % 256}.{self._next}"


class SimulatedNodes:
    """A component: `await run()` until cancelled. `clients(node)` gives the client that a node writes with, as itself."""

    name = "simulated-nodes"

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        nodes: Iterable[NodeSpec] = (),
        *,
        stages: Declared = Stages(),  # noqa: B008  # frozen
        clients: Callable[[str], ClientProtocol] | None = None,
        version: str = "v1.36.0",
        beats: Beats = Beats(),  # noqa: B008  # frozen
        rng: random.Random | None = None,
    ) -> None:
        self._moments = beats.moments
        self._clock = clock
        self._tasks: Tasks | None = None
        self._rng = rng or random.Random()  # noqa: S311  # spreads load; keeps no secret
        self.nodes: dict[str, SimulatedNode] = {}
        writer = clients or (lambda _: client)
        self._pods: Informer[core_v1.Pod] = Informer(
            client, core_v1.PODS, clock, field_selector="spec.nodeName!=", indexers={BY_NODE: _node_of}, rng=rng
        )
        self._nodes: Informer[core_v1.Node] = Informer(client, core_v1.NODES, clock, rng=rng)
        lifecycle = BuiltIn(stages) if isinstance(stages, Stages) or callable(stages) else stages
        self._recorder = Recorder(client, "kubelet", clock)
        reconciler = self._reconciler = PodReconciler(
            writer, clock, self._pods.store, self.nodes, lifecycle, self._recorder, client
        )
        self._pod_controller = Controller("simulated-pods", reconciler, clock, workers=8, informers=(self._pods,))
        self._node_reconciler = NodeReconciler(writer, clock, self._nodes.store, self.nodes, version)
        self._node_controller = Controller("simulated-nodes", self._node_reconciler, clock, workers=4, informers=(self._nodes,))
        self._heartbeat = Heartbeat(writer, clock, self._nodes.store, beats.lease_seconds)
        self._pods.on_change(self._pod_changed)
        self._nodes.on_change(self._node_changed)
        for spec in nodes:
            self.add(spec)

    def add(self, spec: NodeSpec) -> None:
        """One more node; it registers as soon as the fleet runs."""
        node = SimulatedNode(spec, len(self.nodes) + 1, self._phase())
        self.nodes[spec.name] = node
        self._node_controller.enqueue(spec.name)
        if self._tasks is not None:
            self._beat(node)

    def _phase(self) -> float:
        phase = self._rng.random()
        return int(phase * self._moments) / self._moments if self._moments else phase

    async def run(self) -> None:
        """Follow pods and nodes, and send heartbeats, until cancelled."""
        async with Tasks(self.name) as tasks:
            self._tasks = tasks
            for part in (self._pods, self._nodes):
                tasks.loop(f"informer {part.name}", part.run, clock=self._clock)
            tasks.start("events", self._recorder.run())
            tasks.start("pods", self._pod_controller.run())
            tasks.start("nodes", self._node_controller.run())
            for node in self.nodes.values():
                self._beat(node)

    def _beat(self, node: SimulatedNode) -> None:
        if self._tasks is None:
            return

        async def beat() -> None:
            await self._heartbeat.run(node)

        self._tasks.loop(f"heartbeat {node.spec.name}", beat, clock=self._clock)

    def freeze(self, name: str) -> None:
        """The node falls silent; its containers go on."""
        self.nodes[name].alive = False

    def kill(self, name: str) -> None:
        """The node falls silent and its containers die."""
        node = self.nodes[name]
        node.alive = False
        node.lost |= {pod.metadata.uid for pod in self._pods.store.by_index(BY_NODE, name)}

    def start(self, name: str) -> None:
        """The node is back: it reports at once, and goes on with what is bound to it."""
        self.nodes[name].alive = True
        self._node_reconciler.restarted(name)
        self._node_controller.enqueue(name)
        for pod in self._pods.store.by_index(BY_NODE, name):
            self._pod_controller.enqueue(key_of(pod))

    @property
    def controllers(self) -> dict[str, Controller[Any, Any]]:
        """The loops of pods and of nodes, for whoever reads their traces."""
        return {each.name: each for each in (self._pod_controller, self._node_controller)}

    def activity(self) -> Activity:
        """Heartbeats are no work; pods between two stages are."""
        parts = (self._pods, self._nodes, self._pod_controller, self._node_controller, self._recorder)
        return combined([*(part.activity() for part in parts), Activity(queued=len(self._reconciler.waiting))])

    def _pod_changed(self, kind: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        pod = any_of(old, new)
        node = self.nodes.get(pod.spec.node_name)
        if node is None:
            return
        if new is None:
            node.addresses.pop(pod.metadata.uid, None)
            node.lost.discard(pod.metadata.uid)
        elif new.status.pod_ip:
            node.pod_address(new.metadata.uid, new.status.pod_ip)
        self._pod_controller.enqueue(key_of(pod))

    def _node_changed(self, _: str, old: core_v1.Node | None, new: core_v1.Node | None) -> None:
        """What a node reported itself is no reason to look, as long as it stands."""
        name = any_of(old, new).metadata.name
        if name in self.nodes and (old is None or new is None or not reports_well(new)):
            self._node_controller.enqueue(name)


def _node_of(pod: core_v1.Pod) -> tuple[str, ...]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()
