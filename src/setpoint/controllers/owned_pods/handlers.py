"""Which change of a pod, or of its owner, puts which owner's key into the queue, and what is then no longer expected."""

from __future__ import annotations

from typing import Any

from setpoint.api.types import core_v1
from setpoint.client.controller import Controller
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.controllers import claims
from setpoint.controllers.owned_pods.state import is_ready


class Handlers:
    """Changes to keys, and to what is no longer expected; for every kind that owns pods by a selector (`kind` says which)."""

    def __init__(self, controller: Controller[Any, Any], expectations: Expectations, owners: Store[Any], kind: str) -> None:
        self._controller = controller
        self._expectations = expectations
        self._owners = owners
        self._kind = kind

    def owner_changed(self, kind: str, old: Any, new: Any) -> None:
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
        owner = self._owners.get(key(pod.metadata.namespace, ref.name))
        return owner if owner is not None and owner.metadata.uid == ref.uid else None

    def _enqueue_matching(self, pod: core_v1.Pod) -> None:
        if not pod.metadata.labels:
            return
        for owner in self._owners.list(pod.metadata.namespace):
            if claims.matches(claims.selector_of(owner.spec.selector), pod):
                self._controller.enqueue(key_of(owner))


def _controller_uid(pod: core_v1.Pod) -> str:
    ref = controller_of(pod.metadata)
    return ref.uid if ref is not None else ""
