"""Service account tokens: asked from the API server, kept until they are old, asked anew.

Source: kubelet's token manager: refreshed at 80 % of its life or after a day; an old token serves until it expires while the
API server is away.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import SERVICEACCOUNTS, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit.clock import Clock, parse_rfc3339
from setpoint.node.sources import SourceUnavailable
from setpoint.node.volumes.payload import VolumeError

_DAY = 86_400.0


class _Token(Struct, frozen=True):
    text: str
    issued: float
    expires: float

    def refresh_at(self) -> float:
        return self.issued + min(_DAY, 0.8 * (self.expires - self.issued))


class Tokens:
    """One cache for all pods of the node."""

    def __init__(self, client: ClientProtocol, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._cache: dict[tuple[str, str, int], _Token] = {}

    async def get(self, pod: Pod, audience: str, seconds: int) -> str:
        """A token bound to the pod; raises VolumeError, SourceUnavailable."""
        key = (pod.metadata.uid, audience, seconds)
        known = self._cache.get(key)
        now = self._clock.now()
        if known is not None and now < known.refresh_at():
            return known.text
        try:
            token = await self._request(pod, audience, seconds)
        except (StatusError, TransportError) as error:
            if known is not None and now < known.expires:
                return known.text
            kind = SourceUnavailable if isinstance(error, TransportError) else VolumeError
            raise kind(f"failed to fetch token: {error}") from error
        self._cache[key] = token
        return token.text

    async def _request(self, pod: Pod, audience: str, seconds: int) -> _Token:
        meta = pod.metadata
        spec: dict[str, Any] = {
            "expirationSeconds": seconds,
            "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": meta.name, "uid": meta.uid},
            "audiences": [audience] if audience else [],
        }
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        account = pod.spec.service_account_name or "default"
        answer = await self._client.create_subresource(SERVICEACCOUNTS, account, "token", body, meta.namespace)
        status = answer["status"]
        return _Token(status["token"], self._clock.now(), parse_rfc3339(status["expirationTimestamp"]))

    def next_refresh(self, pod_uid: str) -> float | None:
        """When the pod's oldest token wants to be asked for anew."""
        times = [token.refresh_at() for (uid, _, _), token in self._cache.items() if uid == pod_uid]
        return min(times, default=None)

    def forget(self, pod_uid: str) -> None:
        for key in [key for key in self._cache if key[0] == pod_uid]:
            del self._cache[key]
