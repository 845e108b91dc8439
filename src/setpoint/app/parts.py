"""The parts besides the API server, each from a client of its own identity; the same in one process and in several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from setpoint.app.options import Options
from setpoint.client.client import Client
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.apiserver.pki import Authority
    from setpoint.controllers.certificates.reconciler import Requested, Signer
    from setpoint.controllers.manager import ControllerManager
    from setpoint.node.simulated.fleet import SimulatedNodes


def controller_manager(options: Options, authority: Authority, client: Client, clock: Clock) -> ControllerManager:
    """Every controller of the table."""
    from setpoint.controllers.component import NodeTimings, Settings
    from setpoint.controllers.manager import ControllerManager

    timings = options.timings
    nodes = NodeTimings(monitor_period=timings.node_monitor_period, monitor_grace=timings.node_monitor_grace)
    settings = Settings(cluster_ca=authority.pem, signer=signer(authority), nodes=nodes)
    return ControllerManager(client, clock, settings)


def signer(authority: Authority) -> Signer:
    """What signs nodes' certificates: the cluster's CA."""
    from setpoint.apiserver.pki import requested_subject
    from setpoint.controllers.certificates.reconciler import Requested, Signer

    def subject(pem: bytes) -> Requested:
        found = requested_subject(pem)
        return Requested(found.name, found.groups)

    def sign(pem: bytes, serving: bool, seconds: int) -> bytes:
        return authority.sign_request(pem, serving=serving, seconds=seconds)

    return Signer(subject, sign)


def simulated_nodes(options: Options, client: Client, clients: Callable[[str], Client], clock: Clock) -> SimulatedNodes:
    """All nodes of the cluster in one part, without processes."""
    from setpoint.node.simulated.fleet import SimulatedNodes
    from setpoint.node.simulated.node_objects import NodeSpec

    return SimulatedNodes(client, clock, [NodeSpec(name) for name in options.node_names], clients=clients)
