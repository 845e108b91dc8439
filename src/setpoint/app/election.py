"""Parts of which one at a time may work: each server has a controller manager and a scheduler, and the lease says whose works."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Awaitable, Callable

from setpoint.app.options import Election
from setpoint.app.parts import Runnable
from setpoint.client.client import ClientProtocol
from setpoint.client.leader import LeaderElection, LeadershipLost, Timing
from setpoint.kit import logs
from setpoint.kit.clock import Clock

log = logs.get_logger("app.election")

CONTROLLER_MANAGER, SCHEDULER = "kube-controller-manager", "kube-scheduler"


def elected(
    lease: str, make: Callable[[], Runnable], client: ClientProtocol, clock: Clock, election: Election
) -> Callable[[], Awaitable[None]]:
    """A loop that makes a part and runs it whenever it holds the lease `lease`, anew each time: what it knew may be old."""
    timing = Timing(election.lease_seconds, election.renew_seconds, election.retry_seconds)
    identity = f"{socket.gethostname()}_{uuid.uuid4()}"

    async def run() -> None:
        while True:
            try:
                await LeaderElection(client, lease, identity, clock, timing=timing).run(lambda: make().run())
            except LeadershipLost:
                log.warning("leads no more", lease=lease, identity=identity)

    return run
