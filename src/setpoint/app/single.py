"""`setpoint up` in one process: API server, controllers, scheduler and node agents on one loop, started and stopped in order.

Start: API server, then the nodes and the loops side by side (each waits for its own informers). Stop: all of them, then the API
server. A loop that fails starts anew (`Tasks.loop`); the API server's failure ends the process.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from setpoint.app import identities, parts
from setpoint.app.api_server import ApiServer
from setpoint.app.options import READY_SECONDS, Options, StartError
from setpoint.app.readiness import until_nodes_ready
from setpoint.app.say import say
from setpoint.client.client import Client
from setpoint.kit import garbage, looplag
from setpoint.kit.clock import Clock, RealClock
from setpoint.kit.tasks import Tasks

if TYPE_CHECKING:
    from setpoint.node.runtimes.process.template import Template

_BEGIN = 0.001  # seconds in which the tasks that were just made begin
_QUIET_AFTER = 3.0  # seconds after the start


async def run_single(options: Options, started_at: float, stop: asyncio.Event) -> None:
    """Run until `stop` is set; raises StartError."""
    clock = RealClock()
    server = ApiServer(options, clock)
    templates = parts.templates(options)
    try:
        async with Tasks("setpoint") as tasks:
            for name, template in templates.items():  # they find out what isolation works here while the rest starts
                tasks.start(f"isolation of {name}", template.isolation(""))
            await asyncio.sleep(_BEGIN)
            await server.start()
            server.follow(tasks)
            if options.only:
                identities.write_component_kubeconfigs(server)
            tasks.start("loop lag", looplag.watch())
            registered = start_nodes(tasks, server, clock, templates)
            start_loops(tasks, server, clock)
            for event in registered:
                await clock.wait(event, READY_SECONDS)
            await _announce(server, options, started_at)
            tasks.start("imports", _import_the_rest(clock))
            await stop.wait()
            tasks.stop()
    finally:
        await server.stop()
        for template in templates.values():
            await template.close()


def start_loops(tasks: Tasks, server: ApiServer, clock: Clock) -> None:
    """Controllers and scheduler, each by its own identity."""
    options = server.options
    if options.controllers:

        def clients(name: str) -> Client:
            return server.client(identities.controller(name), "kube-controller-manager")

        client = server.client(identities.user(identities.CONTROLLER_MANAGER), "kube-controller-manager")
        tasks.loop("controllers", parts.controllers_loop(options, server.authority, client, clock, clients), clock=clock)
    if options.scheduler:
        client = server.client(identities.user(identities.SCHEDULER), "kube-scheduler")
        tasks.loop("scheduler", parts.scheduler_loop(options, client, clock), clock=clock)


def start_nodes(tasks: Tasks, server: ApiServer, clock: Clock, templates: Mapping[str, Template]) -> list[asyncio.Event]:
    """The node agents, each by its own identity; what tells that they have registered, where they tell it."""
    options = server.options

    def client(name: str) -> Client:
        return server.client(identities.user(identities.node_user(name), identities.NODES), "kubelet")

    if options.runtime == "simulated":
        if options.nodes:
            watching = server.client(identities.user("system:simulated-nodes", identities.MASTERS), "simulated-nodes")
            tasks.loop("nodes", parts.simulated_nodes(options, watching, client, clock).run, clock=clock)
        return []
    registered = []
    for name in options.node_names:
        serving = server.certificates.node(name)
        ca, template = server.authority.certificate_file, templates[name]
        agent = parts.node_agent(options, name, serving, ca, server.url, client(name), clock, template=template)
        tasks.start(name, agent.run())
        registered.append(agent.registered)
    return registered


async def _import_the_rest(clock: Clock) -> None:
    """What the first `kubectl logs` or `exec` needs, in a thread, so that it does not hold the loop then."""
    await clock.sleep(_QUIET_AFTER)
    await asyncio.to_thread(import_module, "setpoint.apiserver.aiohttp_carrier")


async def _announce(server: ApiServer, options: Options, started_at: float) -> None:
    client = server.client(identities.user("setpoint", "system:masters"), "setpoint")
    if not await until_nodes_ready(client, options.node_names, started_at, options.ready_seconds):
        raise StartError(f"the nodes do not get ready within {options.ready_seconds:.0f} s")
    say(f"kubeconfig: {options.kubeconfig or server.data.admin_kubeconfig}")
    say(f"ready in {time.time() - started_at:.2f} s  {server.url}")
    garbage.settle()
