"""The certificates of a joined node: had once, renewed before they end, by a token and then by themselves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.api.types.core_v1 import NODES
from setpoint.apiserver.pki import Authority, Subject
from setpoint.apiserver.request import Request
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.app.node_certificates import CLIENT, SERVING, NodeCertificate
from setpoint.app.options import StartError
from setpoint.app.parts import signer
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.controllers.certificates.requests import REQUESTS
from setpoint.controllers.component import Settings
from setpoint.controllers.manager import ControllerManager
from setpoint.controllers.table import CONTROLLERS
from setpoint.kit.clock import VirtualClock
from setpoint.storage.backends.memory import memory_store

NODE = UserInfo("system:node:n1", groups=("system:nodes", "system:authenticated"))
JOINING = UserInfo("system:bootstrap:abcdef", groups=("system:bootstrappers", "system:authenticated"))
STRANGER = UserInfo("jane", groups=("system:authenticated",))
MASTER = UserInfo("admin", groups=("system:masters", "system:authenticated"))
WANTED = ("certificatesigningrequest-approving-controller", "certificatesigningrequest-signing-controller")


class Rig:
    """A server whose controllers sign; certificates begin and end on the virtual clock."""

    def __init__(self, directory: Path) -> None:
        self.clock = VirtualClock()
        self.store = memory_store(self.clock)
        self.pipeline = make_pipeline(self.store, self.clock, address=lambda: "127.0.0.1:6443")
        self.authority = Authority(directory / "pki")
        self.signer = signer(self.authority)
        self.directory = directory

    def client(self, user: UserInfo) -> Client:
        return Client(InProcessTransport(self.pipeline, Request, user), user_agent="kubelet", clock=self.clock)

    async def start(self) -> asyncio.Future[Any]:
        await self.store.open()
        for follower in self.pipeline.followers:
            await follower.load()
        await bootstrap.ensure(self.client(MASTER), service_address="10.96.0.1", port=6443)
        await bootstrap.default_roles(self.client(MASTER))
        settings = Settings(signer=replace(self.signer))
        without = {name for name in CONTROLLERS if name not in WANTED}
        manager = ControllerManager(self.client(MASTER), self.clock, settings, without=without)
        return asyncio.gather(manager.run(), *(follower.run() for follower in self.pipeline.followers))

    async def register(self, name: str, address: str) -> None:
        """Make a Node that says where it is."""
        told = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
        user = UserInfo(f"system:node:{name}", groups=NODE.groups)
        await self.client(user).create(NODES, {"metadata": {"name": name}, "status": {"addresses": told}})

    def certificate(self, kind: Any, *names: str) -> NodeCertificate:
        made = NodeCertificate(
            self.directory / "node" / ("serving" if names else "client"),
            kind,
            Subject("system:node:n1", ("system:nodes",), names),
            self.clock,
            random.Random(1),  # noqa: S311  the same chance at every run
        )
        begun = self.clock.now()
        made._life = lambda: (begun, begun + 1000.0) if made.pair.certificate.exists() else None  # type: ignore[method-assign]  # a double
        return made


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    running = await made.start()
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await made.store.close()


async def having(rig: Rig, certificate: NodeCertificate, user: UserInfo) -> None:
    """Obtain it while time goes on."""
    task = asyncio.ensure_future(certificate.obtain(rig.client(user)))
    for _ in range(80):
        if task.done():
            break
        await rig.clock.advance(0.5)
    await task


async def test_a_joining_machine_becomes_its_node_and_serves_as_it(rig: Rig) -> None:
    identity, serving = rig.certificate(CLIENT), rig.certificate(SERVING, "n1", "127.0.0.1")
    assert not identity.usable
    await having(rig, identity, JOINING)
    assert identity.usable
    assert identity.pair.key.stat().st_mode & 0o77 == 0
    await rig.register("n1", "127.0.0.1")
    await having(rig, serving, NODE)
    assert serving.usable
    rig.clock.jump(1001)
    assert not identity.usable


async def test_a_serving_certificate_waits_for_the_nodes_addresses(rig: Rig) -> None:
    serving = rig.certificate(SERVING, "n1", "192.0.2.7")
    asking = asyncio.ensure_future(serving.obtain(rig.client(NODE)))
    for _ in range(10):
        await rig.clock.advance(0.5)
    assert not asking.done()
    await rig.register("n1", "192.0.2.7")
    for _ in range(10):
        await rig.clock.advance(0.5)
    await asking
    assert serving.usable


async def test_a_person_may_approve_or_the_machine_be_told_to_stop(rig: Rig) -> None:
    serving, stop = rig.certificate(SERVING, "n1", "192.0.2.7"), asyncio.Event()
    asking = asyncio.ensure_future(serving.obtain(rig.client(NODE), stop))
    for _ in range(120):
        await rig.clock.advance(0.5)
    assert not asking.done()
    master = rig.client(MASTER)
    request = (await master.list(REQUESTS)).items[0]
    request["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "Mine"}]
    await master.update(REQUESTS, request, subresource="approval")
    for _ in range(10):
        await rig.clock.advance(0.5)
    await asking
    assert serving.usable
    asking = asyncio.ensure_future(serving.obtain(rig.client(NODE), stop))
    await rig.clock.advance(1)
    stop.set()
    await rig.clock.advance(1)
    with pytest.raises(StartError):
        await asking


async def test_what_is_another_nodes_or_the_api_servers_is_left_to_a_person(rig: Rig) -> None:
    await rig.register("n2", "192.0.2.7")
    await rig.register("n1", "192.0.2.7")
    with pytest.raises(StartError):
        await having(rig, rig.certificate(replace(SERVING, patience=30.0), "n1", "192.0.2.7"), NODE)
    rig.authority.issue("apiserver", Subject("kube-apiserver", (), ("api.example.org", "192.0.2.1")))
    assert rig.signer.servers() == {"api.example.org", "192.0.2.1"}
    name = "api.example.org"
    await rig.register(name, "192.0.2.8")
    user = UserInfo(f"system:node:{name}", groups=NODE.groups)
    serving = rig.certificate(replace(SERVING, patience=30.0), name, "192.0.2.8")
    serving._subject = Subject(user.name, ("system:nodes",), (name, "192.0.2.8"))
    with pytest.raises(StartError):
        await having(rig, serving, user)


@pytest.mark.parametrize("user", [STRANGER, UserInfo("system:node:n2", groups=("system:nodes", "system:authenticated"))])
async def test_nobody_else_becomes_a_node(rig: Rig, user: UserInfo) -> None:
    with pytest.raises((StartError, StatusError)):  # left unsigned, or refused by rights
        await having(rig, rig.certificate(CLIENT), user)
    assert not rig.certificate(CLIENT).usable


async def test_a_certificate_is_renewed_by_itself_before_it_ends(rig: Rig) -> None:
    identity = rig.certificate(CLIENT)
    await having(rig, identity, JOINING)
    first = identity.pair.certificate.read_bytes()
    renewed = asyncio.Event()

    async def done() -> None:
        renewed.set()
        await asyncio.Event().wait()

    task = asyncio.ensure_future(identity.rotate(lambda: rig.client(NODE), done))
    await asyncio.sleep(0.05)
    await rig.clock.advance(600)
    assert identity.pair.certificate.read_bytes() == first
    for _ in range(60):
        await rig.clock.advance(5)
        await asyncio.sleep(0)
    assert renewed.is_set()
    assert identity.pair.certificate.read_bytes() != first
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
