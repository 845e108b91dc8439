"""Wiring of the StatefulSet controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.controller import Controller
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context
from setpoint.controllers.owned_pods.handlers import Handlers
from setpoint.controllers.statefulset.plan import Observed, Plan
from setpoint.controllers.statefulset.reconciler import StatefulSetReconciler

NAME = "statefulset-controller"


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    stateful_sets = context.informers.of(apps_v1.STATEFULSETS)
    pods = context.informers.of(core_v1.PODS)
    revisions = context.informers.of(apps_v1.CONTROLLERREVISIONS)
    claims = context.informers.of(core_v1.PERSISTENTVOLUMECLAIMS)
    for informer in (pods, revisions):
        informer.add_index(BY_CONTROLLER, by_controller)
    reconciler = StatefulSetReconciler(
        context.client,
        context.clock,
        stateful_sets.store,
        pods.store,
        revisions.store,
        claims.store,
        context.recorder(NAME),
    )
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, context.clock, informers=(stateful_sets, pods, revisions, claims)
    )
    # Names make pods unique here, so nothing need be expected: what the cache does not show yet is refused by the server.
    handlers = Handlers(controller, Expectations(context.clock), stateful_sets.store, apps_v1.STATEFULSETS.kind)

    def claim_changed(_: str, old: core_v1.PersistentVolumeClaim | None, changed: core_v1.PersistentVolumeClaim | None) -> None:
        """A claim that is gone may be made anew, and with it the pod that waited."""
        if changed is not None or old is None:
            return
        for each in stateful_sets.store.list(old.metadata.namespace):
            prefixes = (f"{one.metadata.name}-{each.metadata.name}-" for one in each.spec.volume_claim_templates)
            if any(old.metadata.name.startswith(prefix) for prefix in prefixes):
                controller.enqueue(key_of(each))

    stateful_sets.on_change(handlers.owner_changed)
    pods.on_change(handlers.pod_changed)
    claims.on_change(claim_changed)
    return controller
