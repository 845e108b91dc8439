"""Pods that lose the Job's finalizer: taking it off, and knowing of whom it was taken before the cache shows it."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import core_v1
from setpoint.client.client import ClientProtocol
from setpoint.controllers.job.pods import FINALIZER, is_tracked


async def untrack(client: ClientProtocol, pod: core_v1.Pod) -> bool:
    """Take the finalizer off; False if the pod is gone. Raises StatusError for refusals that are to be retried."""
    if not is_tracked(pod):
        return True
    meta = pod.metadata
    patch = {"metadata": {"uid": meta.uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
    try:
        await client.patch(core_v1.PODS, meta.name, patch, meta.namespace, kind="strategic")
    except StatusError as error:
        if error.reason not in {"NotFound", "Conflict"} or (error.reason == "Conflict" and "UID" not in error.message):
            raise
        return False
    return True


class Untracking:
    """By the Job's uid, the pods whose finalizer was taken, until the cache shows them without it."""

    def __init__(self) -> None:
        self._pods: dict[str, set[str]] = {}

    def expect(self, job: str, pods: Collection[str]) -> None:
        if pods:
            self._pods.setdefault(job, set()).update(pods)

    def of(self, job: str) -> AbstractSet[str]:
        return frozenset(self._pods.get(job, ()))

    def seen(self, job: str, pod: str) -> None:
        """The cache shows the pod without the finalizer, or not at all."""
        if (known := self._pods.get(job)) is not None:
            known.discard(pod)
            if not known:
                del self._pods[job]

    def forget(self, job: str) -> None:
        self._pods.pop(job, None)
