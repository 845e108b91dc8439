"""The TTL annotation of nodes: for how long a node may trust what it cached of Secrets and ConfigMaps, by the cluster's size.

Kubernetes' `ttl_controller`: bounds overlap, so that a cluster whose size swings around one does not rewrite all its nodes.
"""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.store import Store
from setpoint.controllers.component import Context

NAME = "ttl-controller"
ANNOTATION = "node.alpha.kubernetes.io/ttl"
# (fewest nodes, most nodes, seconds)
BOUNDS = ((0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, 10000, 300))


class Plan(Struct, frozen=True):
    """Set the annotation."""

    name: str
    seconds: str


class TtlReconciler:
    """Keys are nodes; the number of nodes is the store's size."""

    def __init__(self, client: ClientProtocol, nodes: Store[Node]) -> None:
        self._client = client
        self._nodes = nodes
        self._bound = 0

    def resized(self) -> bool:
        """Follow the number of nodes; tell whether the annotation's value changes."""
        before, count = self._bound, len(self._nodes)
        while self._bound + 1 < len(BOUNDS) and count > BOUNDS[self._bound][1]:
            self._bound += 1
        while self._bound > 0 and count < BOUNDS[self._bound][0]:
            self._bound -= 1
        return before != self._bound

    def observe(self, name: str) -> Node | None:
        return self._nodes.get(name)

    def diff(self, node: Node) -> Plan | None:
        seconds = str(BOUNDS[self._bound][2])
        present = (node.metadata.annotations or {}).get(ANNOTATION)
        return Plan(node.metadata.name, seconds) if present != seconds else None

    async def act(self, plan: Plan) -> Result | None:
        await self._client.patch(NODES, plan.name, {"metadata": {"annotations": {ANNOTATION: plan.seconds}}})
        return None


def new(context: Context) -> Controller[Node, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    nodes = context.informers.of(NODES)
    reconciler = TtlReconciler(context.client, nodes.store)
    controller: Controller[Node, Plan] = Controller(NAME, reconciler, context.clock, workers=2, informers=(nodes,))

    def changed(_: str, old: Node | None, node: Node | None) -> None:
        if (old is None or node is None) and reconciler.resized():
            for name in nodes.store:
                controller.enqueue(name)
        elif node is not None and reconciler.diff(node) is not None:  # a heartbeat is no reason to look
            controller.enqueue(node.metadata.name)

    nodes.on_change(changed)
    return controller
