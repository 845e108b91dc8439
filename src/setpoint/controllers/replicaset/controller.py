"""Wiring of the ReplicaSet controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.factory import InformerFactory
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.owned_pods.handlers import Handlers
from setpoint.controllers.replicaset.plan import Observed, Plan
from setpoint.controllers.replicaset.reconciler import ReplicaSetReconciler
from setpoint.kit.clock import Clock

NAME = "replicaset-controller"


def new(
    client: ClientProtocol, clock: Clock, informers: InformerFactory, recorder: EventRecorder, *, workers: int = 5
) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    replica_sets = informers.of(apps_v1.REPLICASETS)
    pods = informers.of(core_v1.PODS)
    replica_sets.add_index(BY_CONTROLLER, by_controller)
    pods.add_index(BY_CONTROLLER, by_controller)
    expectations = Expectations(clock)
    reconciler = ReplicaSetReconciler(client, clock, replica_sets.store, pods.store, recorder, expectations)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, clock, workers=workers, informers=(replica_sets, pods))
    handlers = Handlers(controller, expectations, replica_sets.store, apps_v1.REPLICASETS.kind)
    replica_sets.on_change(handlers.owner_changed)
    pods.on_change(handlers.pod_changed)
    return controller
