"""`setpoint up` in one process: API server, controllers, scheduler and node agents on one loop, started and stopped in order.

Start: API server, then the nodes and the loops side by side (each waits for its own informers). Stop: all of them, then the API
server. A loop that
fails starts anew (`Tasks.loop`); the API server's failure ends the process.
"""

from __future__ import annotations

import asyncio
import time

from setpoint.app import identities, parts
from setpoint.app.api_server import ApiServer
from setpoint.app.options import Options, StartError
from setpoint.app.readiness import until_nodes_ready
from setpoint.app.say import say
from setpoint.client.client import Client
from setpoint.kit import garbage, looplag
from setpoint.kit.clock import Clock, RealClock
from setpoint.kit.tasks import Tasks

_READY_SECONDS = 30.0


async def run_single(options: Options, started_at: float, stop: asyncio.Event) -> None:
    """Run until `stop` is set; raises StartError."""
    clock = RealClock()
    server = ApiServer(options, clock)
    try:
        await server.start()
        async with Tasks("setpoint") as tasks:
            tasks.start("loop lag", looplag.watch())
            start_nodes(tasks, server, clock)
            await asyncio.sleep(0)  # the nodes begin to ask what isolation works here, beside the imports of the loops
            start_loops(tasks, server, clock)
            await _announce(server, options, started_at)
            await stop.wait()
            tasks.stop()
    finally:
        await server.stop()


def start_loops(tasks: Tasks, server: ApiServer, clock: Clock) -> None:
    """Controllers and scheduler, each by its own identity."""
    options = server.options
    if options.controllers:
        client = server.client(identities.user(identities.CONTROLLER_MANAGER), "kube-controller-manager")
        manager = parts.controller_manager(options, server.authority, client, clock)
        tasks.loop("controllers", manager.run, clock=clock)
    if options.scheduler:
        client = server.client(identities.user(identities.SCHEDULER), "kube-scheduler")
        tasks.loop("scheduler", parts.scheduler(client, clock).run, clock=clock)


def start_nodes(tasks: Tasks, server: ApiServer, clock: Clock) -> None:
    """The node agents, each by its own identity."""
    options = server.options

    def client(name: str) -> Client:
        return server.client(identities.user(identities.node_user(name), identities.NODES), "kubelet")

    if options.runtime == "simulated":
        if options.nodes:
            watching = server.client(identities.user("system:simulated-nodes", identities.NODES), "simulated-nodes")
            tasks.loop("nodes", parts.simulated_nodes(options, watching, client, clock).run, clock=clock)
        return
    for name in options.node_names:
        serving = identities.node_serving(server, name)
        agent = parts.node_agent(options, name, serving, server.authority.certificate_file, server.url, client(name), clock)
        tasks.start(name, agent.run())


async def _announce(server: ApiServer, options: Options, started_at: float) -> None:
    client = server.client(identities.user("setpoint", "system:masters"), "setpoint")
    if not await until_nodes_ready(client, options.node_names, started_at, _READY_SECONDS):
        raise StartError(f"the nodes do not get ready within {_READY_SECONDS:.0f} s")
    say(f"kubeconfig: {options.kubeconfig or server.data.admin_kubeconfig}")
    say(f"ready in {time.time() - started_at:.2f} s  {server.url}")
    garbage.settle()
