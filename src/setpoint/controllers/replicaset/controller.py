"""Wiring of the ReplicaSet controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.factory import InformerFactory
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.controllers import claims
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.replicaset.plan import Observed, Plan
from setpoint.controllers.replicaset.pods import is_ready
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
    replica_sets.on_change(handlers.replica_set_changed)
    pods.on_change(handlers.pod_changed)
    return controller


class Handlers:
    """Changes to keys, and to what is no longer expected; for every kind that owns pods by a selector (`kind` says which)."""

    def __init__(self, controller: Controller[Any, Any], expectations: Expectations, replica_sets: Store[Any], kind: str) -> None:
        self._controller = controller
        self._expectations = expectations
        self._replica_sets = replica_sets
        self._kind = kind

    def replica_set_changed(self, kind: str, old: Any, new: Any) -> None:
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._expectations.forget(key_of(old))
        self._controller.enqueue(key_of(new if new is not None else old))

    def pod_changed(self, kind: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        if new is None:
            if old is not None:
                self._gone(old)
        elif old is None:
            self._added(new)
        else:
            self._updated(old, new)

    def _added(self, pod: core_v1.Pod) -> None:
        if pod.metadata.deletion_timestamp:
            self._gone(pod)
            return
        owner = self._owner(pod)
        if owner is not None:
            self._expectations.creation_observed(key_of(owner))
            self._controller.enqueue(key_of(owner))
        elif controller_of(pod.metadata) is None:
            self._enqueue_matching(pod)

    def _updated(self, old: core_v1.Pod, new: core_v1.Pod) -> None:
        if old.metadata.uid != new.metadata.uid:
            self._gone(old)
            self._added(new)
            return
        if new.metadata.deletion_timestamp:
            # A pod that is being deleted counts as gone; its final deletion is seen once more and costs nothing.
            self._gone(new)
            if old.metadata.labels != new.metadata.labels:
                self._gone(old)
            return
        former, owner = self._owner(old), self._owner(new)
        moved = _controller_uid(old) != _controller_uid(new)
        if moved and former is not None:
            self._controller.enqueue(key_of(former))
        if owner is not None:
            self._controller.enqueue(key_of(owner))
            if not is_ready(old) and is_ready(new) and owner.spec.min_ready_seconds > 0:
                self._controller.enqueue_after(key_of(owner), owner.spec.min_ready_seconds + 1)
        elif controller_of(new.metadata) is None and (moved or old.metadata.labels != new.metadata.labels):
            self._enqueue_matching(new)

    def _gone(self, pod: core_v1.Pod) -> None:
        owner = self._owner(pod)
        if owner is not None:
            self._expectations.deletion_observed(key_of(owner), pod.metadata.uid)
            self._controller.enqueue(key_of(owner))

    def _owner(self, pod: core_v1.Pod) -> Any:
        """The object that controls the pod, if the cache has it under its uid."""
        ref = controller_of(pod.metadata)
        if ref is None or ref.kind != self._kind:
            return None
        owner = self._replica_sets.get(key(pod.metadata.namespace, ref.name))
        return owner if owner is not None and owner.metadata.uid == ref.uid else None

    def _enqueue_matching(self, pod: core_v1.Pod) -> None:
        if not pod.metadata.labels:
            return
        for replica_set in self._replica_sets.list(pod.metadata.namespace):
            if claims.matches(claims.selector_of(replica_set.spec.selector), pod):
                self._controller.enqueue(key_of(replica_set))


def _controller_uid(pod: core_v1.Pod) -> str:
    ref = controller_of(pod.metadata)
    return ref.uid if ref is not None else ""
