"""Pods made and deleted on behalf of an owner, with the events that tell of it and what is then expected of the caches.

As `RealPodControl` in `pkg/controller/controller_utils.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.controllers.owned_pods.slow_start import slow_start
from setpoint.controllers.refusals import is_namespace_terminating


class PodControl:
    """Cancelled, it leaves calls of unknown outcome; what all of them were expected to do stays expected."""

    def __init__(self, client: ClientProtocol, recorder: EventRecorder, expectations: Expectations) -> None:
        self._client = client
        self._recorder = recorder
        self._expectations = expectations

    async def create(self, owner: Any, bodies: Sequence[Mapping[str, Any]]) -> Exception | None:
        """One pod per body, in a slow start; the first error, None also if the namespace goes away."""
        return (await self.create_counted(owner, bodies))[1]

    async def create_counted(self, owner: Any, bodies: Sequence[Mapping[str, Any]]) -> tuple[int, Exception | None]:
        """The same; how many were made, too."""
        if not bodies:
            return 0, None
        key = key_of(owner)
        self._expectations.expect_creations(key, len(bodies))
        left = iter(bodies)

        async def create_next() -> None:
            await self._create(owner, next(left))

        created, failure = await slow_start(len(bodies), create_next)
        self._expectations.creation_observed(key, len(bodies) - created)
        return created, None if is_namespace_terminating(failure) else failure

    async def _create(self, owner: Any, body: Mapping[str, Any]) -> None:
        try:
            pod = await self._client.create(core_v1.PODS, body, owner.metadata.namespace)
        except StatusError as error:
            if not is_namespace_terminating(error):
                self._recorder.event(owner, "Warning", "FailedCreate", f"Error creating: {error.message}")
            raise
        self._recorder.event(owner, "Normal", "SuccessfulCreate", f"Created pod: {pod.metadata.name}")

    async def delete(self, owner: Any, pods: Sequence[core_v1.Pod]) -> Exception | None:
        """All at once; the first error."""
        if not pods:
            return None
        key = key_of(owner)
        self._expectations.expect_deletions(key, [pod.metadata.uid for pod in pods])
        outcomes = await asyncio.gather(*(self._delete(key, owner, pod) for pod in pods), return_exceptions=True)
        return next((outcome for outcome in outcomes if isinstance(outcome, Exception)), None)

    async def _delete(self, key: str, owner: Any, pod: core_v1.Pod) -> None:
        meta = pod.metadata
        try:
            await self._client.delete(core_v1.PODS, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            self._expectations.deletion_observed(key, meta.uid)
            if error.reason == "NotFound":
                return
            self._recorder.event(owner, "Warning", "FailedDelete", f"Error deleting: {error.message}")
            raise
        except Exception:
            self._expectations.deletion_observed(key, meta.uid)
            raise
        self._recorder.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {meta.name}")
