"""Wiring of the DaemonSet controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.controller import Controller
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context
from setpoint.controllers.daemonset.nodes import should_run
from setpoint.controllers.daemonset.plan import Observed, Plan
from setpoint.controllers.daemonset.reconciler import DaemonSetReconciler
from setpoint.controllers.owned_pods.handlers import Handlers

NAME = "daemonset-controller"


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    daemon_sets = context.informers.of(apps_v1.DAEMONSETS)
    pods = context.informers.of(core_v1.PODS)
    revisions = context.informers.of(apps_v1.CONTROLLERREVISIONS)
    nodes = context.informers.of(core_v1.NODES)
    for informer in (pods, revisions):
        informer.add_index(BY_CONTROLLER, by_controller)
    expectations = Expectations(context.clock)
    reconciler = DaemonSetReconciler(
        context.client,
        context.clock,
        daemon_sets.store,
        pods.store,
        revisions.store,
        nodes.store,
        context.recorder(NAME),
        expectations,
    )
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, context.clock, workers=2, informers=(daemon_sets, pods, revisions, nodes)
    )
    handlers = Handlers(controller, expectations, daemon_sets.store, apps_v1.DAEMONSETS.kind)

    def node_changed(_: str, old: core_v1.Node | None, changed: core_v1.Node | None) -> None:
        """The sets for which it makes a difference; heartbeats make none."""
        if old is not None and changed is not None and _same_place(old, changed):
            return
        for daemon_set in daemon_sets.store.list():
            before = should_run(daemon_set, old) if old is not None else (False, False)
            after = should_run(daemon_set, changed) if changed is not None else (False, False)
            if before != after:
                controller.enqueue(key_of(daemon_set))

    daemon_sets.on_change(handlers.owner_changed)
    pods.on_change(handlers.pod_changed)
    nodes.on_change(node_changed)
    return controller


def _same_place(old: core_v1.Node, new: core_v1.Node) -> bool:
    return old.metadata.labels == new.metadata.labels and old.spec.taints == new.spec.taints
