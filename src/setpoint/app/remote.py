"""Parts that reach the API server over HTTP: processes of `--split`, and tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.app import identities, parts
from setpoint.app.data_dir import DataDir
from setpoint.app.options import Options, StartError
from setpoint.client.client import Client
from setpoint.client.kubeconfig import Access, KubeconfigError, load
from setpoint.client.transports.acting import ActingTransport
from setpoint.client.transports.http import HttpTransport
from setpoint.kit import garbage, looplag
from setpoint.kit.clock import Clock, RealClock
from setpoint.kit.tasks import Tasks

if TYPE_CHECKING:
    from setpoint.apiserver.pki import Authority

_CALLS = 4  # connections of one controller


def connect(kubeconfig: Path, agent: str) -> tuple[Client, HttpTransport]:
    """A client for the server and identity of a kubeconfig; close the transport in the end. Raises StartError."""
    try:
        transport = HttpTransport(load(kubeconfig))
    except KubeconfigError as error:
        raise StartError(str(error)) from error
    return Client(transport, user_agent=agent, clock=RealClock()), transport


async def run_controllers(options: Options, stop: asyncio.Event) -> None:
    """Controllers and scheduler until `stop` is set."""
    from setpoint.apiserver.pki import Authority

    data, clock = DataDir(options.data_dir), RealClock()
    managing, manager_transport = connect(data.component_kubeconfig("controller-manager"), "kube-controller-manager")
    authority = Authority(data.pki)
    own = OwnClients(authority, manager_transport.access, clock)
    scheduling, scheduler_transport = connect(data.component_kubeconfig("scheduler"), "kube-scheduler")
    loops = {
        "controllers": parts.controllers_loop(options, authority, managing, clock, own.client),
        "scheduler": parts.scheduler_loop(options, scheduling, clock),
    }
    try:
        await until_stopped(stop, loops)
    finally:
        await own.close()
        await manager_transport.close()
        await scheduler_transport.close()


class OwnClients:
    """A client for each controller, by a certificate of its own; connections are made when a controller first has to do."""

    def __init__(self, authority: Authority, access: Access, clock: Clock) -> None:
        self._authority = authority
        self._access = access
        self._clock = clock
        self._transports: dict[str, HttpTransport] = {}

    def client(self, controller: str) -> Client:
        """The client of a controller, by Kubernetes' name for it."""
        from setpoint.apiserver.pki import Subject

        user = identities.controller(controller)
        transport = self._transports.get(user.name)
        if transport is None:
            groups = tuple(group for group in user.groups if group != identities.AUTHENTICATED)
            certificate, key = self._authority.sign(Subject(user.name, groups))
            access = Access(
                self._access.server,
                ca_data=self._access.ca_data,
                ca_file=self._access.ca_file,
                certificate_data=certificate.decode(),
                key_data=key.decode(),
            )
            transport = self._transports[user.name] = HttpTransport(access, calls=_CALLS)
        return Client(transport, user_agent="kube-controller-manager", clock=self._clock)

    async def close(self) -> None:
        for transport in self._transports.values():
            await transport.close()


async def run_controllers_alone(options: Options, stop: asyncio.Event) -> None:
    """Controllers and scheduler for an API server that is there or comes; raises StartError where nothing says which."""
    from setpoint.apiserver.pki import Authority
    from setpoint.app.identities import controllers_kubeconfigs
    from setpoint.app.say import say

    data = DataDir(options.data_dir)
    if options.server:
        if not (data.pki / "ca.key").exists():
            raise StartError(f"{data.pki} holds no CA: copy ca.crt and ca.key there from the API server's machine")
        controllers_kubeconfigs(data, Authority(data.pki), options.server)
    elif not data.component_kubeconfig("scheduler").exists():
        raise StartError(f"no API server has run on {data.root}: give --server, or start one there with --only apiserver")
    say("controllers and scheduler: each works while it holds its lease" if options.elects else "controllers and scheduler")
    await run_controllers(options, stop)


async def run_node(name: str, options: Options, stop: asyncio.Event) -> None:
    """One node agent (or all simulated nodes) until `stop` is set."""
    from setpoint.apiserver.pki import KeyPair

    data, clock = DataDir(options.data_dir), RealClock()
    client, transport = connect(data.component_kubeconfig(name), "kubelet")
    serving = KeyPair(data.pki / f"node-{name}.crt", data.pki / f"node-{name}.key")
    agent = parts.node_agent(options, name, serving, data.pki / "ca.crt", transport.access.server, client, clock)
    try:
        await until_stopped(stop, {name: agent.run})
    finally:
        await transport.close()


async def run_simulated(options: Options, stop: asyncio.Event) -> None:
    """All simulated nodes until `stop` is set; they share the administrator's connections, and each writes as itself."""
    clock = RealClock()
    client, transport = connect(DataDir(options.data_dir).admin_kubeconfig, "kubelet")

    @cache
    def of_node(name: str) -> Client:
        acting = ActingTransport(transport, identities.node_user(name), identities.NODES)
        return Client(acting, user_agent="kubelet", clock=clock)

    fleet = parts.simulated_nodes(options, client, of_node, clock)
    try:
        await until_stopped(stop, {"nodes": fleet.run})
    finally:
        await transport.close()


async def until_stopped(stop: asyncio.Event, loops: dict[str, Callable[[], Awaitable[None]]]) -> None:
    """Run loops, each anew after an error, until `stop` is set."""
    clock = RealClock()
    async with Tasks("setpoint") as tasks:
        tasks.start("loop lag", looplag.watch())
        for name, run in loops.items():
            tasks.loop(name, run, clock=clock)
        garbage.settle()
        await stop.wait()
        tasks.stop()
