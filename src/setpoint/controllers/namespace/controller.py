"""Wiring of the namespace controller."""

from __future__ import annotations

from setpoint.api.types.core_v1 import NAMESPACES, Namespace
from setpoint.client.controller import Controller
from setpoint.controllers.component import Context
from setpoint.controllers.namespace.plan import Observed, Plan
from setpoint.controllers.namespace.reconciler import NamespaceReconciler

NAME = "namespace"
WORKERS = 10


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet.

    A namespace is emptied a moment after its deletion, not at once: creates that were admitted just before must have arrived.
    """
    namespaces = context.informers.of(NAMESPACES)
    reconciler = NamespaceReconciler(context.client, context.clock, namespaces.store)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=WORKERS, informers=(namespaces,))

    def changed(_: str, old: Namespace | None, namespace: Namespace | None) -> None:
        if namespace is None or not namespace.metadata.deletion_timestamp:
            return
        if old is None or not old.metadata.deletion_timestamp or old.spec.finalizers != namespace.spec.finalizers:
            controller.enqueue_after(namespace.metadata.name, context.settings.namespace_grace)

    namespaces.on_change(changed)
    return controller
