"""Wiring of the node life cycle: taints follow every change of a node, its health is looked at every few seconds."""

from __future__ import annotations

from setpoint.api.types.coordination_v1 import LEASES
from setpoint.api.types.core_v1 import NODES, PODS, Node
from setpoint.client.controller import Controller
from setpoint.controllers.component import Context, Several
from setpoint.controllers.node_lifecycle import monitor, tainting
from setpoint.controllers.node_lifecycle.health import ready_status
from setpoint.controllers.node_lifecycle.pods import by_node

NAME = "node-controller"
NODES_KEY = "nodes"


def new(context: Context) -> Several:
    """Both controllers, their handlers registered; nothing runs yet."""
    client, clock = context.client, context.clock
    nodes = context.informers.of(NODES)
    leases = context.informers.of(LEASES)  # of all namespaces, which the garbage collector follows as well
    pods = context.informers.of(PODS)
    pods.add_index(monitor.BY_NODE, by_node)
    watch = monitor.HealthMonitor(
        client, clock, nodes.store, leases.store, pods.store, context.recorder(NAME), context.settings.nodes
    )
    health: Controller[monitor.Observed, monitor.Plan] = Controller(
        "node-health", watch, clock, workers=1, informers=(nodes, leases, pods)
    )
    health.enqueue(NODES_KEY)
    reconciler = tainting.TaintReconciler(client, clock, nodes.store)
    taint: Controller[Node, tainting.Plan] = Controller("node-taints", reconciler, clock, workers=4, informers=(nodes,))

    def changed(_: str, old: Node | None, node: Node | None) -> None:
        if node is not None and reconciler.diff(node) is not None:  # a heartbeat is no reason to look
            taint.enqueue(node.metadata.name)
        if old is None or node is None or ready_status(old) != ready_status(node):
            health.enqueue(NODES_KEY)  # what a node itself says of its readiness need not wait for the next look

    nodes.on_change(changed)
    return Several(NAME, (health, taint))
