"""Wiring of eviction by taint: a node's NoExecute taints concern all its pods, a pod's binding and tolerations itself."""

from __future__ import annotations

from setpoint.api.types.core_v1 import NODES, PODS, Node, Pod
from setpoint.client.controller import Controller
from setpoint.client.informer import any_of
from setpoint.client.objects import key_of
from setpoint.controllers.component import Context
from setpoint.controllers.node_lifecycle.monitor import BY_NODE
from setpoint.controllers.node_lifecycle.pods import by_node
from setpoint.controllers.taint_eviction.plan import Observed, Plan
from setpoint.controllers.taint_eviction.reconciler import TaintEvictionReconciler, no_execute

NAME = "taint-eviction-controller"
WORKERS = 8


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    nodes, pods = context.informers.of(NODES), context.informers.of(PODS)
    pods.add_index(BY_NODE, by_node)
    reconciler = TaintEvictionReconciler(context.client, context.clock, nodes.store, pods.store, context.recorder(NAME))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=WORKERS, informers=(nodes, pods))

    def node_changed(_: str, old: Node | None, node: Node | None) -> None:
        before = no_execute(old) if old is not None else ()
        now = no_execute(node) if node is not None else ()
        if before != now:
            for pod in pods.store.by_index(BY_NODE, any_of(old, node).metadata.name):
                controller.enqueue(key_of(pod))

    def pod_changed(_: str, old: Pod | None, pod: Pod | None) -> None:
        if old is not None and (pod is None or pod.metadata.uid != old.metadata.uid):
            reconciler.forget(old.metadata.uid)
            old = None
        if pod is None:
            return
        node = nodes.store.get(pod.spec.node_name) if pod.spec.node_name else None
        if node is None or not no_execute(node):
            return
        if old is None or old.spec.node_name != pod.spec.node_name or old.spec.tolerations != pod.spec.tolerations:
            controller.enqueue(key_of(pod))

    nodes.on_change(node_changed)
    pods.on_change(pod_changed)
    return controller
