"""Wiring of the replication controller: ReplicationControllers are seen as ReplicaSets from here on."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.controller import Controller
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context
from setpoint.controllers.owned_pods.handlers import Handlers
from setpoint.controllers.replicaset.plan import Observed, Plan
from setpoint.controllers.replicaset.reconciler import ReplicaSetReconciler
from setpoint.controllers.replication_controller.conversion import as_replica_set, reference, without_terminating

NAME = "replication-controller"


class ReplicationControllerReconciler(ReplicaSetReconciler):
    """The same rules; what is written goes to ReplicationControllers."""

    resource: ClassVar[Resource[Any]] = core_v1.REPLICATIONCONTROLLERS

    def plan(self, observed: Observed) -> Plan:
        plan = super().plan(observed)
        return msgspec.structs.replace(plan, status=without_terminating(plan.status))

    def status_patch(self, replica_set: apps_v1.ReplicaSet, status: apps_v1.ReplicaSetStatus) -> dict[str, Any]:
        patch = super().status_patch(replica_set, status)
        del patch["status"]["terminatingReplicas"]
        return patch


class _Recorder:
    """Events about the ReplicationController behind a ReplicaSet that is none."""

    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def event(  # the parts of an event
        self,
        obj: Any,
        kind: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        action: str = "",
        related: Any = None,
    ) -> None:
        self._recorder.event(reference(obj), kind, reason, message, field_path=field_path, action=action, related=related)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    controllers = context.informers.of(core_v1.REPLICATIONCONTROLLERS)
    pods = context.informers.of(core_v1.PODS)
    pods.add_index(BY_CONTROLLER, by_controller)
    converted: Store[apps_v1.ReplicaSet] = Store({BY_CONTROLLER: by_controller})
    expectations = Expectations(context.clock)
    recorder = _Recorder(context.recorder(NAME))
    reconciler = ReplicationControllerReconciler(context.client, context.clock, converted, pods.store, recorder, expectations)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(controllers, pods))
    handlers = Handlers(controller, expectations, converted, core_v1.REPLICATIONCONTROLLERS.kind)

    def changed(kind: str, old: core_v1.ReplicationController | None, new: core_v1.ReplicationController | None) -> None:
        before = converted.remove(key_of(old)) if old is not None else None
        after = as_replica_set(new) if new is not None else None
        if after is not None:
            converted.put(after)
        if before is not None or after is not None:
            handlers.owner_changed(kind, before, after)

    controllers.on_change(changed)
    pods.on_change(handlers.pod_changed)
    return controller
