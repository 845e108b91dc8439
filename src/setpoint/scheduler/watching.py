"""From informers to queue and snapshot: what each change of a pod or node means to the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.api.types.core_v1 import Node, Pod
from setpoint.client.informer import DELETED
from setpoint.kit.clock import Clock
from setpoint.scheduler.events import ActionType, ClusterEvent, EventResource, node_change, pod_change
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.pods import PodInfo, pod_key
from setpoint.scheduler.queue import SchedulingQueue
from setpoint.scheduler.resources import being_changed
from setpoint.scheduler.snapshot import Snapshot

# Pods that ended hold nothing any more.
UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"


class Watching:
    """Handlers for informers; `wake` is called when there may be something to schedule."""

    def __init__(
        self,
        queue: SchedulingQueue,
        snapshot: Snapshot,
        nominator: Nominator,
        clock: Clock,
        is_ours: Callable[[Pod], bool],
        wake: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._snapshot = snapshot
        self._nominator = nominator
        self._clock = clock
        self._is_ours = is_ours
        self._wake = wake

    def node_changed(self, kind: str, old: Node | None, new: Node | None) -> None:
        if new is None or kind == DELETED:
            if old is not None:
                self._snapshot.remove_node(old.metadata.name)
                self._happened(ClusterEvent(EventResource.NODE, ActionType.DELETE, old, None))
            return
        known = self._snapshot.get(new.metadata.name)
        action = ActionType.ADD if known is None or old is None else node_change(old, new)
        self._snapshot.put_node(new)
        if action:  # more than a heartbeat
            self._happened(ClusterEvent(EventResource.NODE, action, None if known is None else old, new))

    def pod_changed(self, kind: str, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            self._pod_gone(old)  # its end was missed: another pod has its name
            old = None
        if new is None or kind == DELETED or new.status.phase in ("Succeeded", "Failed"):
            gone = new or old
            if gone is not None:
                self._pod_gone(gone if old is None or gone.spec.node_name else old)
        elif new.spec.node_name:
            self._pod_with_node(old, new)
        elif self._is_ours(new):
            self._waiting_pod(old, new)

    def _pod_gone(self, pod: Pod) -> None:
        key = pod_key(pod)
        self._queue.delete(key)
        self._nominator.drop(key)
        if self._snapshot.remove_pod(key):
            self._happened(ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE, pod, None))

    def _pod_with_node(self, old: Pod | None, new: Pod) -> None:
        key = pod_key(new)
        if old is not None and _same_spec(old, new) and self._snapshot.refresh_pod(key, new):
            return
        self._queue.delete(key)
        self._nominator.drop(key)
        self._snapshot.put_pod(new)
        action = ActionType.ADD if old is None or not old.spec.node_name else pod_change(old, new)
        self._happened(ClusterEvent(EventResource.ASSIGNED_POD, action, old, new))

    def _waiting_pod(self, old: Pod | None, pod: Pod) -> None:
        key = pod_key(pod)
        if self._snapshot.is_assumed(key):
            return  # on its way: this is an echo of its time in the queue
        self._queue.add(pod, self._clock.monotonic())
        before, nominated = old.status.nominated_node_name if old is not None else "", pod.status.nominated_node_name
        if nominated and (nominated != before or not self._nominator.node_of(key)):
            self._nominator.nominate(PodInfo(pod), nominated)
        elif before and not nominated:
            self._nominator.drop(key)
        self._wake()

    def other_changed(self, what: EventResource, old: Any, new: Any) -> None:
        """Something that is neither pod nor node: a volume, a claim, a namespace."""
        if new is None:
            action = ActionType.DELETE
        elif old is None:
            action = ActionType.ADD
        else:
            action = ActionType.OTHER if old.metadata.labels == new.metadata.labels else ActionType.LABEL | ActionType.OTHER
        self._happened(ClusterEvent(what, action, old, new))

    def _happened(self, event: ClusterEvent) -> None:
        self._queue.happened(event, self._clock.monotonic())
        self._wake()


def _same_spec(old: Pod, new: Pod) -> bool:
    """Only the status changed of a pod that had its node before, and none of its resources are on the way to others."""
    return (
        bool(old.spec.node_name)
        and old.metadata.generation == new.metadata.generation
        and old.metadata.labels == new.metadata.labels
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        and not being_changed(old)
        and not being_changed(new)
    )
