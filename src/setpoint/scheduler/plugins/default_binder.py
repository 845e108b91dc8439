"""DefaultBinder: POSTs the pod's `binding`. The uid makes sure that it is still the same pod."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.client.transport import TransportError
from setpoint.scheduler.framework import CycleState, Handle
from setpoint.scheduler.status import Status, failed


class DefaultBinder:
    """See the module."""

    name = "DefaultBinder"

    def __init__(self, handle: Handle) -> None:
        self._client = handle.client

    async def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        meta = pod.metadata
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
            "target": {"kind": "Node", "name": node},
        }
        try:
            await self._client.create_subresource(PODS, meta.name, "binding", body, meta.namespace)
        except StatusError as error:
            return failed(error.message)
        except TransportError as error:
            return failed(str(error))
        return None
