"""Makes room for a pod: the victims that DefaultPreemption chose are told why they have to go, and deleted."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.events import EventRecorder
from setpoint.kit.clock import Clock
from setpoint.scheduler import conditions
from setpoint.scheduler.framework import Victims


class Evictor:
    """See the module. Cancelled, it leaves evicted whom it has evicted."""

    def __init__(self, client: ClientProtocol, clock: Clock) -> None:
        self._client = client
        self._clock = clock

    async def patch_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        """Raises StatusError, TransportError."""
        meta = pod.metadata
        await self._client.patch(PODS, meta.name, patch, meta.namespace, kind="strategic", subresource="status")

    async def make_room(self, pod: Pod, victims: Victims, recorder: EventRecorder) -> None:
        """One victim after the other; one that is leaving already is left alone. Raises StatusError, TransportError."""
        for victim in victims.pods:
            if victim.metadata.deletion_timestamp is None and await self._evict(pod, victim):
                message = f"Preempted by pod {pod.metadata.uid} on node {victims.node}"
                recorder.event(victim, "Normal", "Preempted", message, action="Preempting")

    async def _evict(self, pod: Pod, victim: Pod) -> bool:
        """Whether it had to be: a victim that is gone by itself is as good."""
        try:
            patch = conditions.preempted(victim, pod.spec.scheduler_name, self._clock.now())
            if patch is not None:
                await self.patch_status(victim, patch)
            meta = victim.metadata
            await self._client.delete(PODS, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True
