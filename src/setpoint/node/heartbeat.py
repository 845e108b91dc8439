"""Signs of life: a Lease renewed every few seconds, and the node's status every few minutes.

Source: KEP-589. The node life cycle controller counts a node as lost when the lease is older than its duration.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.coordination_v1 import LEASES
from setpoint.client.client import ClientProtocol
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock, every, rfc3339_micro
from setpoint.node.options import AgentOptions
from setpoint.node.registration import Registration

NAMESPACE = "kube-node-lease"
log = logs.get_logger("node.heartbeat")


class Heartbeat:
    """Never fails: what does not arrive is said again at the next beat."""

    def __init__(self, client: ClientProtocol, options: AgentOptions, clock: Clock, node_uid: str) -> None:
        self._client = client
        self._options = options
        self._clock = clock
        self._node_uid = node_uid

    async def beat_for_ever(self) -> None:
        async with every(self._clock, self._options.heartbeat_period) as ticks:
            async for _ in ticks:
                try:
                    await self.beat()
                except (StatusError, TransportError) as error:
                    log.debug("lease not renewed", error=str(error))

    async def beat(self) -> None:
        """Renew the lease, make it if there is none; raises StatusError, TransportError."""
        name = self._options.name
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": max(1, round(self._options.lease_seconds)),
            "renewTime": rfc3339_micro(self._clock.now()),
        }
        try:
            await self._client.patch(LEASES, name, {"spec": spec}, NAMESPACE)
        except StatusError as error:
            if error.code != 404:
                raise
            await self._client.create(LEASES, {"metadata": self._metadata(), "spec": spec}, NAMESPACE)

    def _metadata(self) -> dict[str, Any]:
        owner = {"apiVersion": "v1", "kind": "Node", "name": self._options.name, "uid": self._node_uid}
        return {"name": self._options.name, "namespace": NAMESPACE, "ownerReferences": [owner]}


async def report_for_ever(registration: Registration, options: AgentOptions, clock: Clock) -> None:
    """The node's status every `status_report_period` seconds, and with the next beat when the API says otherwise: after an outage
    the node life cycle controller has called the node Unknown (kubelet looks every `nodeStatusUpdateFrequency`). The first one
    was sent at registration.
    """
    due = clock.monotonic() + options.status_report_period
    while True:
        await clock.sleep(min(options.heartbeat_period, options.status_report_period))
        try:
            if clock.monotonic() >= due or await registration.contradicted():
                await registration.report()
                due = clock.monotonic() + options.status_report_period
        except (StatusError, TransportError) as error:
            log.debug("node status not sent", error=str(error))
