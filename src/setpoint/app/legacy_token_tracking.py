"""When tokens of Secrets were last used: a label on each Secret, and a ConfigMap that says since when that is noted.

The cleaner of such tokens goes by both. Source: Kubernetes `pkg/controlplane/controller/legacytokentracking`,
`pkg/serviceaccount/legacy.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.kit import logs
from setpoint.kit.clock import Clock, rfc3339

log = logs.get_logger("app.legacy_tokens")

NAMESPACE, NAME = "kube-system", "kube-apiserver-legacy-service-account-token-tracking"
LAST_USED = "kubernetes.io/legacy-token-last-used"
_CONFIG_MAPS: Resource[Any] = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True, type=dict)
_SECRETS: Resource[Any] = Resource("", "v1", "secrets", "Secret", namespaced=True, type=dict)


class LegacyTokenTracking:
    """`used` is told of every use; `run` writes what is new about it, once a day for each Secret."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[tuple[str, str], str] = {}
        self._wake = asyncio.Event()

    def used(self, secret: Mapping[str, Any]) -> None:
        """The token of this Secret has been used."""
        meta = secret["metadata"]
        if (meta.get("labels") or {}).get(LAST_USED) != self._today():
            self._waiting[meta["namespace"], meta["name"]] = meta["uid"]
            self._wake.set()

    def _today(self) -> str:
        return rfc3339(self._clock.now())[:10]

    async def run(self, client: ClientProtocol) -> None:
        """Make the ConfigMap, then write labels; never ends."""
        await self._ensure(client)
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                (namespace, name), uid = self._waiting.popitem()
                body = {"metadata": {"uid": uid, "labels": {LAST_USED: self._today()}}}
                try:
                    await client.patch(_SECRETS, name, body, namespace)
                except StatusError as error:  # the next use tries again
                    log.debug("a token's use is not noted", secret=f"{namespace}/{name}", error=error.message)

    async def _ensure(self, client: ClientProtocol) -> None:
        try:
            held = await client.get(_CONFIG_MAPS, NAME, NAMESPACE)
        except StatusError as error:
            if error.code != 404:
                raise
            await client.create(_CONFIG_MAPS, {"metadata": {"name": NAME}, "data": {"since": self._today()}}, NAMESPACE)
            return
        if not (held.get("data") or {}).get("since"):
            await client.patch(_CONFIG_MAPS, NAME, {"data": {"since": self._today()}}, NAMESPACE)
