"""What happens in the cluster that may make a waiting pod schedulable, and how plugins say which of it could help them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntFlag, auto
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import Node, Pod
from setpoint.scheduler.resources import being_changed, pod_requests


class EventResource(Enum):
    """The kind of thing that changed."""

    POD = auto()  # the waiting pod itself
    ASSIGNED_POD = auto()  # a pod that has a node
    NODE = auto()
    NAMESPACE = auto()
    CLAIM = auto()
    VOLUME = auto()
    STORAGE_CLASS = auto()
    CSI_NODE = auto()
    CSI_DRIVER = auto()
    CSI_STORAGE_CAPACITY = auto()
    VOLUME_ATTACHMENT = auto()
    RESOURCE_CLAIM = auto()
    RESOURCE_SLICE = auto()
    DEVICE_CLASS = auto()


class ActionType(IntFlag):
    """How it changed; an update may be several of these."""

    ADD = auto()
    DELETE = auto()
    ALLOCATABLE = auto()
    LABEL = auto()
    TAINT = auto()
    CONDITION = auto()
    ANNOTATION = auto()
    SCALE_DOWN = auto()
    TOLERATION = auto()
    GATES_GONE = auto()
    FEATURES = auto()
    OTHER = auto()


class ClusterEvent(Struct, frozen=True):
    """One change, with the object before and after it."""

    resource: EventResource
    action: ActionType
    old: Any = None
    new: Any = None


# Whether an event may make `pod` schedulable as far as the plugin that refused it is concerned.
Hint = Callable[[Pod, ClusterEvent], bool]


class ClusterEventWithHint(Struct, frozen=True):
    """What a plugin waits for after it refused a pod; without a hint any such event will do."""

    resource: EventResource
    action: ActionType
    hint: Hint | None = None

    def helps(self, pod: Pod, event: ClusterEvent) -> bool:
        if event.resource is not self.resource or not event.action & self.action:
            return False
        return self.hint is None or self.hint(pod, event)


def node_change(old: Node, new: Node) -> ActionType:
    """Which parts of a node changed that schedulers care about; nothing for a heartbeat."""
    action = ActionType(0)
    if old.status.allocatable != new.status.allocatable:
        action |= ActionType.ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        action |= ActionType.LABEL
    if old.spec.taints != new.spec.taints or old.spec.unschedulable != new.spec.unschedulable:
        action |= ActionType.TAINT
    if [(c.type, c.status) for c in old.status.conditions] != [(c.type, c.status) for c in new.status.conditions]:
        action |= ActionType.CONDITION
    if old.metadata.annotations != new.metadata.annotations:
        action |= ActionType.ANNOTATION
    if old.status.declared_features != new.status.declared_features:
        action |= ActionType.FEATURES
    return action


def pod_change(old: Pod, new: Pod) -> ActionType:
    """Which parts of a pod changed that schedulers care about."""
    action = ActionType(0)
    if old.metadata.labels != new.metadata.labels:
        action |= ActionType.LABEL
    if old.spec.tolerations != new.spec.tolerations:
        action |= ActionType.TOLERATION
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        action |= ActionType.GATES_GONE
    changed = being_changed(old), being_changed(new)
    if any(changed) or old.spec.containers != new.spec.containers or old.spec.resources != new.spec.resources:
        before, after = (pod_requests(pod, None, running) for pod, running in zip((old, new), changed, strict=True))
        if any(after.get(name, 0) < amount for name, amount in before.items()):
            action |= ActionType.SCALE_DOWN
    return action or ActionType.OTHER
