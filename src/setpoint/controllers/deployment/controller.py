"""Wiring of the Deployment controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller
from setpoint.client.events import EventRecorder
from setpoint.client.factory import InformerFactory
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.controllers import claims
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.deployment.plan import Observed, Plan
from setpoint.controllers.deployment.reconciler import DeploymentReconciler
from setpoint.kit.clock import Clock

NAME = "deployment-controller"


def new(
    client: ClientProtocol, clock: Clock, informers: InformerFactory, recorder: EventRecorder, *, workers: int = 5
) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    deployments = informers.of(apps_v1.DEPLOYMENTS)
    replica_sets = informers.of(apps_v1.REPLICASETS)
    pods = informers.of(core_v1.PODS)
    replica_sets.add_index(BY_CONTROLLER, by_controller)
    pods.add_index(BY_CONTROLLER, by_controller)
    reconciler = DeploymentReconciler(client, clock, deployments.store, replica_sets, pods.store, recorder)
    controller: Controller[Observed, Plan] = Controller(
        NAME, reconciler, clock, workers=workers, informers=(deployments, replica_sets, pods)
    )
    handlers = Handlers(controller, deployments.store, replica_sets.store)
    controller.follow(deployments, gone=True)
    replica_sets.on_change(handlers.replica_set_changed)
    pods.on_change(handlers.pod_changed)
    return controller


class Handlers:
    """Changes to keys."""

    def __init__(
        self,
        controller: Controller[Observed, Plan],
        deployments: Store[apps_v1.Deployment],
        replica_sets: Store[apps_v1.ReplicaSet],
    ) -> None:
        self._controller = controller
        self._deployments = deployments
        self._replica_sets = replica_sets

    def replica_set_changed(self, kind: str, old: apps_v1.ReplicaSet | None, new: apps_v1.ReplicaSet | None) -> None:
        for each in (old, new):
            owner = self._owner(each, self._deployments) if each is not None else None
            if owner is not None:
                self._controller.enqueue(key_of(owner))
        if new is not None and controller_of(new.metadata) is None and _is_news(old, new):
            self._enqueue_matching(new)

    def pod_changed(self, kind: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        """A Deployment that recreates waits for the last old pod to go, or to end."""
        if old is None or (new is not None and new.status.phase not in {"Succeeded", "Failed"}):
            return
        replica_set = self._owner(old, self._replica_sets)
        deployment = self._owner(replica_set, self._deployments) if replica_set is not None else None
        if deployment is not None and deployment.spec.strategy.type == "Recreate":
            self._controller.enqueue(key_of(deployment))

    def _owner(self, obj: Any, owners: Store[Any]) -> Any:
        """The controller of `obj`, if the cache of its kind has it under its uid."""
        ref = controller_of(obj.metadata)
        if ref is None:
            return None
        owner = owners.get(key(obj.metadata.namespace, ref.name))
        return owner if owner is not None and owner.metadata.uid == ref.uid else None

    def _enqueue_matching(self, replica_set: apps_v1.ReplicaSet) -> None:
        for deployment in self._deployments.list(replica_set.metadata.namespace):
            if claims.matches(claims.selector_of(deployment.spec.selector), replica_set):
                self._controller.enqueue(key_of(deployment))


def _is_news(old: apps_v1.ReplicaSet | None, new: apps_v1.ReplicaSet) -> bool:
    """Whether an orphan may have become adoptable."""
    return old is None or controller_of(old.metadata) is not None or old.metadata.labels != new.metadata.labels
