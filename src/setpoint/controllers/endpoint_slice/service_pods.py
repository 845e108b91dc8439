"""Which changes of Services and pods concern which Service."""

from __future__ import annotations

from collections.abc import Callable

from setpoint.api.types import core_v1
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.endpoint_slice import selection


class ServicePods:
    """Handlers that enqueue the keys of Services."""

    def __init__(self, services: Store[core_v1.Service], enqueue: Callable[[str], None]) -> None:
        self._services = services
        self._enqueue = enqueue

    def service_changed(self, _: str, old: core_v1.Service | None, new: core_v1.Service | None) -> None:
        changed = new if new is not None else old
        if changed is not None:
            self._enqueue(key_of(changed))

    def pod_changed(self, _: str, old: core_v1.Pod | None, new: core_v1.Pod | None) -> None:
        """The Services that select it now or selected it before."""
        pod = new if new is not None else old
        if pod is None:
            return
        behind = [
            service
            for service in self._services.list(pod.metadata.namespace)
            if any(each is not None and selection.selects(service, each) for each in (old, new))
        ]
        if behind and (old is None or new is None or selection.matter(old, new)):
            for service in behind:
                self._enqueue(key_of(service))
