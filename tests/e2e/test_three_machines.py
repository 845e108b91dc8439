"""Three members of etcd, two API servers, two controller managers; one of each dies while clients write."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.app.remote import connect
from setpoint.client.client import Client
from setpoint.client.leader import LEASES
from setpoint.client.transport import TransportError
from setpoint.client.transports.http import HttpTransport
from setpoint.testing import etcd as real
from setpoint.testing.etcd import Etcd
from setpoint.testing.real import Cluster

LEASE = 3.0
ELECTION = (
    "--leader-elect-lease-duration",
    str(LEASE),
    "--leader-elect-renew-deadline",
    "2",
    "--leader-elect-retry-period",
    "0.5",
)

MAPS: Resource[dict[str, Any]] = Resource("", "v1", "configmaps", "ConfigMap", namespaced=True, type=dict)
NODES: Resource[dict[str, Any]] = Resource("", "v1", "nodes", "Node", namespaced=False, type=dict)
PODS: Resource[dict[str, Any]] = Resource("", "v1", "pods", "Pod", namespaced=True, type=dict)
DEPLOYMENTS: Resource[dict[str, Any]] = Resource("apps", "v1", "deployments", "Deployment", namespaced=True, type=dict)


@dataclass
class Machine:
    """An API server and, as a process of its own, controllers and scheduler."""

    server: Cluster
    controllers: subprocess.Popen[bytes] | None = None

    @property
    def directory(self) -> Path:
        return self.server.data_dir

    def start_controllers(self) -> None:
        command = [sys.executable, "-m", "setpoint", "up", "--only", "controllers", "--data-dir", str(self.directory), *ELECTION]
        with (self.directory / "controllers.log").open("ab") as log:
            self.controllers = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end_controllers(self, *, kill: bool) -> None:
        assert self.controllers is not None
        if kill:
            self.controllers.kill()
        else:
            self.controllers.terminate()
        self.controllers.wait(20)
        self.controllers = None


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    if not real.ETCD:
        pytest.skip("etcd is not installed (scripts/debian_packages.sh test)")
    with real.running(tmp_path / "etcd", 3) as etcd:
        yield etcd


@pytest.fixture
def machines(etcd: Etcd, tmp_path: Path) -> Iterator[list[Machine]]:
    made: list[Machine] = []
    try:
        for name in ("one", "two"):
            data = tmp_path / name
            if made:  # what kubeadm copies, too
                for file in ("ca.crt", "ca.key", "sa.key", "sa.pub", "front-proxy/ca.crt", "front-proxy/ca.key"):
                    (data / "pki" / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(made[0].directory / "pki" / file, data / "pki" / file)
            server = Cluster(data, ["--port", "0", "--only", "apiserver", "--store", etcd.store])
            made.append(Machine(server))
            server.start()
        yield made
    finally:
        for machine in made:
            if machine.controllers is not None:
                machine.end_controllers(kill=True)
            machine.server.stop()


@dataclass
class Clients:
    """A client of each API server, made anew when a server was; what the old ones were doing ends by itself."""

    machines: list[Machine]
    all: list[Client] = field(default_factory=list)
    transports: list[HttpTransport] = field(default_factory=list)

    def open(self) -> None:
        connected = [connect(machine.server.kubeconfig, "test") for machine in self.machines]
        self.all = [client for client, _ in connected]
        self.transports += [transport for _, transport in connected]

    async def close(self) -> None:
        for transport in self.transports:
            await transport.close()


@dataclass
class Writers:
    """Create ConfigMaps at one server, read each at the other, and keep what was acknowledged."""

    clients: Clients
    made: dict[str, str] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    stop: bool = False

    async def write(self, here: int, writer: str) -> None:
        n = 0
        while not self.stop:
            n += 1
            name = f"{writer}-{n}"
            with suppress(StatusError, TransportError, IndexError, RuntimeError):
                made = await self.clients.all[here].create(MAPS, {"metadata": {"name": name}, "data": {"n": str(n)}}, "default")
                self.made[name] = made["metadata"]["resourceVersion"]
                await self._read_there(1 - here, name)
                continue
            await asyncio.sleep(0.05)

    async def _read_there(self, there: int, name: str) -> None:
        try:
            found = await self.clients.all[there].get(MAPS, name, "default")
        except StatusError as error:
            if error.code == 404:
                self.stale.append(name)
            return
        if found["metadata"]["resourceVersion"] != self.made[name]:
            self.stale.append(name)


async def until(check: Any, seconds: float = 25) -> None:
    deadline = time.monotonic() + seconds
    while True:
        with suppress(StatusError, TransportError):
            if await check():
                return
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        await asyncio.sleep(0.05)


async def holder(client: Client, lease: str) -> str:
    return str((await client.get(LEASES, lease, "kube-system"))["spec"].get("holderIdentity") or "")


async def add_nodes(client: Client) -> None:
    for name in ("n1", "n2"):
        await client.create(NODES, {"metadata": {"name": name}})
        ready = {"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": "2099-01-01T00:00:00Z"}
        amounts = {"cpu": "8", "memory": "8Gi", "pods": "100"}
        body = {"status": {"conditions": [ready], "capacity": amounts, "allocatable": amounts}}
        await client.patch(NODES, name, body, subresource="status")


def deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "web"}
    container = {"name": "main", "image": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


async def scale(client: Client, replicas: int) -> None:
    async def done() -> bool:
        await client.patch(DEPLOYMENTS, "web", {"spec": {"replicas": replicas}}, "default")
        return True

    await until(done)


async def bound(client: Client, replicas: int) -> None:
    """Until so many pods exist, no more, and all have a node."""

    async def done() -> bool:
        pods = (await client.list(PODS, "default")).items
        return len(pods) == replicas and all(pod["spec"].get("nodeName") for pod in pods)

    await until(done)


@contextmanager
def timed(figures: dict[str, float], name: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    figures[name] = round(time.monotonic() - began, 2)


async def taken_over(client: Client, before: dict[str, str], seconds: float) -> None:
    async def done() -> bool:
        now = await holders(client)
        return all(now.values()) and not set(now.items()) & set(before.items())

    await until(done, seconds)


async def lead(client: Client) -> bool:
    return all((await holders(client)).values())


async def holders(client: Client) -> dict[str, str]:
    return {lease: await holder(client, lease) for lease in ("kube-controller-manager", "kube-scheduler")}


@pytest.fixture
async def clients(machines: list[Machine]) -> AsyncIterator[Clients]:
    clients = Clients(machines)
    clients.open()
    yield clients
    await clients.close()


async def test_any_one_of_them_may_die(etcd: Etcd, machines: list[Machine], clients: Clients, record_property: Any) -> None:
    one, two = machines
    figures: dict[str, float] = {}
    one.start_controllers()
    await add_nodes(clients.all[0])
    await until(lambda: lead(clients.all[0]))
    two.start_controllers()
    await clients.all[1].create(DEPLOYMENTS, deployment(3), "default")
    writers = Writers(clients)
    async with asyncio.TaskGroup() as tasks:
        for n in range(4):
            tasks.create_task(writers.write(n % 2, f"w{n}"))
        await bound(clients.all[1], 3)

        killed = await asyncio.to_thread(etcd.leader)
        etcd.kill(killed)
        await scale(clients.all[0], 4)
        with timed(figures, "etcd leader killed, converged"):
            await bound(clients.all[1], 4)
        etcd.begin(killed)

        one.end_controllers(kill=True)  # led, unless a lease changed hands with etcd's leader
        one.server.kill()
        await scale(clients.all[1], 5)
        with timed(figures, "API server and controllers killed, converged"):
            await bound(clients.all[1], 5)

        await asyncio.to_thread(one.server.start)
        clients.open()
        one.start_controllers()
        await asyncio.sleep(3)
        leads = await holders(clients.all[1])
        two.end_controllers(kill=False)
        with timed(figures, "controllers stopped, taken over"):
            await taken_over(clients.all[0], leads, LEASE)
        await scale(clients.all[0], 6)
        await bound(clients.all[0], 6)
        writers.stop = True
    assert not writers.stale
    for client in clients.all:
        found = {
            item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in (await client.list(MAPS, "default")).items
        }
        assert {name: found.get(name) for name in writers.made} == writers.made
    figures["acknowledged writes"] = len(writers.made)
    for name, figure in figures.items():
        record_property(name, figure)
    print(figures)  # noqa: T201  for whoever runs it with -s
