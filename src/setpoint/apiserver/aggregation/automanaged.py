"""The APIServices of custom kinds: made when a group's version is served, gone with it.

Source: kube-aggregator `pkg/controllers/autoregister`, Kubernetes `pkg/controlplane/controller/crdregistration`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.aggregation.own_requests import OwnRequests
from setpoint.kit import logs

if TYPE_CHECKING:
    from setpoint.apiserver.aggregation.following import APIServices
    from setpoint.apiserver.pipeline import Pipeline

log = logs.get_logger("apiserver.aggregation")

LABEL = "kube-aggregator.kubernetes.io/automanaged"
_PRIORITY = {"groupPriorityMinimum": 1000, "versionPriority": 100}
_RETRY = 1.0  # seconds

Groups = Sequence[tuple[str, Sequence[str]]]


class AutomanagedServices:
    """Keeps them. `groups` gives the groups of custom kinds as they are served now; call `changed` when they change."""

    def __init__(self, pipeline: Pipeline, services: APIServices, groups: Callable[[], Groups]) -> None:
        self._pipeline = pipeline
        self._services = services
        self._groups = groups
        self._own = OwnRequests(pipeline)
        self._wake = asyncio.Event()

    def changed(self) -> None:
        self._wake.set()

    async def load(self) -> None:
        """They are written when the server runs."""

    async def run(self) -> None:
        """Bring them up to date after every change; never ends."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not await self._settle():
                await self._pipeline.clock.sleep(_RETRY)
                self._wake.set()

    async def _settle(self) -> bool:
        """Write what is not as it should be; whether all of that worked."""
        wanted = {f"{version}.{group}": (group, version) for group, versions in self._groups() for version in versions}
        well = True
        for name, (group, version) in wanted.items():
            present = self._services.find(name)
            if present is None:
                well &= await self._try(self._own.create(_api_service(group, version)))
        for obj in list(self._services.objects.values()):
            if _is_ours(obj) and obj["metadata"]["name"] not in wanted:
                well &= await self._try(self._own.delete(obj["metadata"]["name"]))
        return well

    @staticmethod
    async def _try(write: Any) -> bool:
        try:
            await write
        except StatusError as error:
            if error.code not in (404, 409):
                log.warning("an APIService cannot be written", error=error.message)
                return False
        return True


def _is_ours(obj: Mapping[str, Any]) -> bool:
    return (obj["metadata"].get("labels") or {}).get(LABEL) == "true"


def _api_service(group: str, version: str) -> dict[str, Any]:
    metadata = {"name": f"{version}.{group}", "labels": {LABEL: "true"}}
    return {"metadata": metadata, "spec": {"group": group, "version": version, **_PRIORITY}}
