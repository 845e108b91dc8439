"""Which changes of pods concern which Service."""

from __future__ import annotations

from collections.abc import Callable

from setpoint.api.types import core_v1
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.endpoint_slice import selection


class ServicePods:
    """A handler that enqueues the keys of Services."""

    def __init__(self, services: Store[core_v1.Service], enqueue: Callable[[str], None]) -> None:
        self._services = services
        self._enqueue = enqueue

    def pod_changed(self, _: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        """The Services that select it now or selected it before. Most changes of a pod's status are nobody's business."""
        if old is not None and new is not None and not selection.matter(old, new):
            return
        states = [each for each in (old, new) if each is not None]
        for service in self._services.list(states[0].metadata.namespace) if states else ():
            if any(selection.selects(service, each) for each in states):
                self._enqueue(key_of(service))
