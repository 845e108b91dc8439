"""ControllerRevisions written on behalf of an owner.

As `realHistory` in `pkg/controller/history/controller_history.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1
from setpoint.client.client import ClientProtocol
from setpoint.controllers.history import Revision, same_data

RESOURCE = apps_v1.CONTROLLERREVISIONS


class CreateRevision(Struct, frozen=True):
    """Write a new version of the template down."""

    body: Mapping[str, Any]


class Renumber(Struct, frozen=True):
    """A former version is the newest again."""

    revision: Revision
    number: int


Step = CreateRevision | Renumber


class RevisionControl:
    """Cancelled, it leaves a call of unknown outcome: the next cycle finds the revision there or not."""

    def __init__(self, client: ClientProtocol) -> None:
        self._client = client

    async def write(self, namespace: str, step: Step, is_ours: Callable[[Revision], bool] = lambda _: True) -> bool:
        """False if the name was taken by another version, or by one that `is_ours` denies: count the collision in, try again."""
        if isinstance(step, Renumber):
            meta = step.revision.metadata
            patch = {"metadata": {"resourceVersion": meta.resource_version}, "revision": step.number}
            await self._client.patch(RESOURCE, meta.name, patch, meta.namespace)
            return True
        try:
            await self._client.create(RESOURCE, step.body, namespace)
        except StatusError as error:
            if error.reason != "AlreadyExists":
                raise
            there = await self._client.get(RESOURCE, step.body["metadata"]["name"], namespace)
            return same_data(there.data, step.body["data"]) and is_ours(there)
        return True

    async def forget(self, revision: Revision) -> None:
        meta = revision.metadata
        try:
            await self._client.delete(RESOURCE, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.reason != "NotFound":
                raise
