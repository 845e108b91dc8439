"""The end of a definition: its objects are deleted, then its finalizer goes.

Source: apiextensions-apiserver `pkg/controller/finalizer/crd_finalizer.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import Any, Protocol

import orjson

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.custom_resources import precedence
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit import logs
from setpoint.registry.apiextensions.conditions import with_condition
from setpoint.registry.apiextensions.removal import FINALIZER
from setpoint.storage.protocol import NotFound, StoreError

log = logs.get_logger("apiserver.custom_resources.cleanup")

_PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class Ask(Protocol):
    """A request of the server to itself."""

    def __call__(
        self, method: str, path: str, body: Any = None, query: Mapping[str, list[str]] | None = None
    ) -> Awaitable[Any]: ...


def is_due(definition: Mapping[str, Any]) -> bool:
    """Whether a definition that is being deleted waits for its objects' end."""
    return FINALIZER in (definition["metadata"].get("finalizers") or ())


class Cleanup:
    """Deletes the objects of one definition, waits until their own finalizers let them go, and lets the definition go."""

    def __init__(self, pipeline: Pipeline, request: Ask, key: str) -> None:
        self._pipeline = pipeline
        self._request = request
        self._key = key
        self._name = key.rpartition("/")[2]

    async def run(self) -> None:
        pause = _PAUSE
        while True:
            try:
                if await self._step():
                    return
            except (StatusError, StoreError) as error:
                log.debug("a definition's objects cannot be deleted yet", name=self._name, error=str(error))
            await self._pipeline.clock.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)

    async def _now(self) -> dict[str, Any] | None:
        record = await self._pipeline.store.head(self._key)
        found: dict[str, Any] | None = orjson.loads(record.value) if record is not None else None
        return found

    async def _step(self) -> bool:
        """One round; whether the definition is done with."""
        definition = await self._now()
        if definition is None or FINALIZER not in (definition["metadata"].get("finalizers") or ()):
            return True
        if await self._count():
            await self._say(definition, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
            await self._delete_all(definition)
            return False
        definition = await self._say(definition, "False", "InstanceDeletionCompleted", "removed all instances")
        left = [word for word in definition["metadata"]["finalizers"] if word != FINALIZER]
        definition["metadata"]["finalizers"] = left
        await self._request("PUT", self._path(), definition)
        if not left:  # without a grace period it does not go by itself
            await self._request("DELETE", self._path())
        return True

    def _path(self) -> str:
        return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{self._name}"

    async def _say(self, definition: dict[str, Any], status: str, reason: str, message: str) -> dict[str, Any]:
        condition = {"type": "Terminating", "status": status, "reason": reason, "message": message}
        before = definition.get("status") or {}
        conditions = with_condition(before.get("conditions"), condition, self._pipeline.clock.now())
        if conditions == before.get("conditions"):
            return definition
        body = {**definition, "status": {**before, "conditions": conditions}}
        answer: dict[str, Any] = await self._request("PUT", f"{self._path()}/status", body)
        return answer

    async def _count(self) -> int:
        """How many objects there are; none of one of the server's own resources is the definition's."""
        if precedence.holds(self._pipeline.stores.values(), self._name):
            return 0
        return await self._pipeline.store.count(f"{self._name}/")

    def _version(self, spec: Mapping[str, Any]) -> str | None:
        """The version to ask through: the stored one, else any that needs no webhook; none goes to the store itself."""
        ranked = sorted(spec["versions"], key=lambda each: not each.get("storage"))
        by_webhook = (spec.get("conversion") or {}).get("strategy") == "Webhook"
        for version in ranked[:1] if by_webhook else ranked:
            served = self._pipeline.router.find(spec["group"], version["name"], spec["names"]["plural"])
            if served is not None and served.resource.custom:
                return str(version["name"])
        return None

    async def _delete_all(self, definition: Mapping[str, Any]) -> None:
        """Ask every object to go; raises StatusError where one cannot be asked."""
        spec = definition["spec"]
        group, plural = spec["group"], spec["names"]["plural"]
        version = self._version(spec)
        page = await self._pipeline.store.list(f"{self._name}/")
        for record in page.records:
            if orjson.loads(record.value)["metadata"].get("deletionTimestamp"):
                continue
            if version is None:
                with suppress(NotFound):
                    await self._pipeline.store.delete(record.key)
                continue
            parts = record.key.split("/")[1:]
            where = f"namespaces/{parts[0]}/{plural}/{parts[1]}" if len(parts) == 2 else f"{plural}/{parts[0]}"
            try:
                await self._request("DELETE", f"/apis/{group}/{version}/{where}")
            except StatusError as error:
                if error.code not in (404, 409):
                    raise
