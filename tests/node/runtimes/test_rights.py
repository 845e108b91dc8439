"""What root on Linux can give a pod: a network, a user and limits of its own — with real namespaces and control groups."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.node.runtime import (
    ContainerInfo,
    ContainerSpec,
    Description,
    ExecSpec,
    Limits,
    NotRunning,
    SandboxSpec,
    own_network,
)
from setpoint.node.runtimes.process.addresses import FIRST_USER
from setpoint.node.runtimes.process.rights import Settings
from setpoint.node.runtimes.process.runtime import ProcessRuntime
from setpoint.node.supervisor import network, procfs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux gives pods networks, users and limits"
)

SERVICE = ("10.96.0.1", 443)
SERVER = ("python3", "-m", "http.server", "8080")
GET = "import sys, urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=5).status)"


class Node:
    """A runtime as the agent of one node has it, and its pods."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.directory = directory
        chosen = {"network": "auto", "users": True, "cgroups": True, "max_pids": 200, "service": SERVICE, **settings}
        self.runtime = ProcessRuntime(host_address="127.0.0.1", settings=Settings(directory=str(directory), **chosen))
        self.exits: asyncio.Queue[ContainerInfo] = asyncio.Queue()
        self.runtime.on_exit = self.exits.put_nowait
        self.description = Description("", "")
        self.pods: list[str] = []

    async def start(self) -> Node:
        self.directory.mkdir(exist_ok=True)
        self.description = await self.runtime.start()
        return self

    def folder(self, uid: str) -> str:
        return str(self.directory / "pods" / uid)

    async def pod(self, uid: str, *, host_network: bool = False) -> str:
        """The address of a pod, new or found again."""
        spec = SandboxSpec(uid, "ns", uid, self.folder(uid), uid, host_network)
        if uid not in self.pods:
            self.pods.append(uid)
        return (await self.runtime.run_sandbox(spec)).addresses[0]

    async def run(self, uid: str, *argv: str, name: str = "c", limits: Limits = Limits()) -> ContainerInfo:  # noqa: B008  frozen
        user = self.runtime.user_of(uid, self.folder(uid))
        log = str(Path(self.folder(uid)) / f"{name}.log")
        spec = ContainerSpec(name, name, 0, "host", "process://x", argv, {}, log, uid=user, gid=user, limits=limits)
        return await self.runtime.start_container(uid, spec)

    async def ended(self) -> ContainerInfo:
        return await asyncio.wait_for(self.exits.get(), 20)

    def log(self, uid: str, name: str = "c") -> str:
        rows = (Path(self.folder(uid)) / f"{name}.log").read_text().splitlines()
        return "\n".join(row.split(" ", 3)[3] for row in rows)

    async def output(self, uid: str, *argv: str) -> str:
        """What a command says that is run in the pod's container."""
        session = await self.runtime.exec(uid, "c", ExecSpec(argv))
        text = b""
        while (piece := await session.read())[0]:
            text += piece[1]
        await session.close()
        return text.decode().strip()

    async def stop(self) -> None:
        for uid in self.pods:
            await self.runtime.stop_sandbox(uid, self.folder(uid))
        await self.runtime.close()


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    made = await Node(tmp_path).start()
    yield made
    await made.stop()
    assert not left(tmp_path)


def left(directory: Path) -> list[str]:
    """Links and control groups of a node."""
    bridge = network.bridge_name(str(directory))
    links = [name for _, name in socket.if_nameindex() if name.startswith(bridge)]
    return [*links, *(str(path) for path in groups(f"setpoint-{bridge[2:]}"))]


def groups(pattern: str) -> Iterator[Path]:
    for depth in ("", "*/"):
        yield from Path("/sys/fs/cgroup").glob(depth + pattern)


def networked(node: Node) -> None:
    if node.description.network != "pod":
        pytest.skip(node.description.complaints["HostNetwork"])


def limited(node: Node, controller: str) -> None:
    if controller in node.description.complaints.get("NoLimits", ""):
        pytest.skip(node.description.complaints["NoLimits"])


def member_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cgroup").read_text()


def inodes(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def make_and_die(directory: Path) -> None:
    """What is left by an agent that was killed before it had pods."""
    script = (
        f"import os, sys; sys.path.insert(0, {str(Path(network.__file__).parents[3])!r})\n"
        "from setpoint.node.supervisor import network\n"
        f"os.getppid = os.getpid\nnetwork.prepare({str(directory)!r}, '')\nos.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", script], check=False)


async def status(address: str) -> int:
    """What a pod's server answers to the host."""

    async def ask() -> int:
        reader, writer = await asyncio.open_connection(address, 8080)
        writer.write(b"HEAD / HTTP/1.0\r\n\r\n")
        line = await reader.readline()
        writer.close()
        return int(line.split()[1])

    until = time.monotonic() + 10
    while True:
        try:
            return await ask()
        except OSError:
            assert time.monotonic() < until
            await asyncio.sleep(0.05)


async def test_two_pods_listen_on_the_same_port_and_reach_each_other(node: Node) -> None:
    networked(node)
    first, second = await node.pod("one"), await node.pod("two")
    assert first != second
    assert own_network(first)
    for uid in ("one", "two"):
        await node.run(uid, *SERVER)
    assert [await status(first), await status(second)] == [200, 200]
    assert await node.output("one", "python3", "-c", GET, f"http://{second}:8080/") == "200"
    assert await node.output("one", "python3", "-c", GET, "http://127.0.0.1:8080/") == "200", "its own loopback"


async def test_pods_of_two_nodes_reach_each_other(tmp_path: Path) -> None:
    nodes = [await Node(tmp_path / name).start() for name in ("a", "b")]
    try:
        for node in nodes:
            networked(node)
        addresses = [await node.pod("one") for node in nodes]
        for node in nodes:
            await node.run("one", *SERVER)
        assert [await status(address) for address in addresses] == [200, 200]
        assert await nodes[0].output("one", "python3", "-c", GET, f"http://{addresses[1]}:8080/") == "200"
    finally:
        for node in nodes:
            await node.stop()


async def test_a_pod_on_the_hosts_network_has_the_nodes_address(node: Node) -> None:
    networked(node)
    assert await node.pod("one", host_network=True) == "127.0.0.1"
    info = await node.run("one", "sleep", "1000")
    assert inodes(info.pid) == inodes(os.getpid())
    await node.pod("two")
    assert inodes((await node.run("two", "sleep", "1000")).pid) != inodes(os.getpid())


async def test_a_pod_finds_the_api_server_at_the_services_address(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    node = await Node(tmp_path, api=("127.0.0.1", port)).start()
    try:
        networked(node)
        async with Tasks("serve") as tasks:
            tasks.start("network", node.runtime.serve(RealClock()))
            await node.pod("one")
            await node.run("one", "sleep", "1000")
            ask = f"import socket; s = socket.create_connection({SERVICE}); s.send(b'x\\n'); print(s.recv(9).decode())"
            assert await node.output("one", "python3", "-c", ask) == "heard x"
            tasks.stop()
    finally:
        await node.stop()
        server.close()
        await server.wait_closed()


async def test_a_pod_has_a_user_of_its_own_and_may_take_any_port(node: Node) -> None:
    users = set()
    for uid in ("one", "two"):
        await node.pod(uid)
        await node.run(uid, "sh", "-c", "id -u; echo named > /dev/stdout")
        await node.ended()
        number, said = node.log(uid).split()
        assert said == "named"
        users.add(int(number))
    assert len(users) == 2
    assert min(users) >= FIRST_USER
    if node.description.network == "pod":
        bind = "import socket; socket.socket().bind(('', 80)); print('bound')"
        await node.run("one", "python3", "-c", bind, name="low")
        await node.ended()
        assert node.log("one", "low") == "bound"


async def test_memory_beyond_the_limit_ends_a_container_and_says_why(node: Node) -> None:
    limited(node, "memory")
    await node.pod("one")
    await node.run("one", "python3", "-c", "x = b'x' * 200_000_000", limits=Limits(memory_bytes=40 << 20))
    info = await node.ended()
    assert (info.exit_code, info.oom_killed) == (137, True)
    await node.run("one", "sh", "-c", "kill -9 $$", name="killed", limits=Limits(memory_bytes=40 << 20))
    assert not (await node.ended()).oom_killed


async def test_limits_are_written_to_the_containers_control_groups(node: Node) -> None:
    limited(node, "cpu")
    await node.pod("one")
    info = await node.run("one", "sleep", "1000", limits=Limits(cpu_millis=500, cpu_request_millis=250))
    assert "podone/c" in member_of(info.pid)
    found = {path.name: path.read_text().strip() for place in groups("setpoint-*/podone/c") for path in place.glob("cpu.*")}
    assert found.get("cpu.cfs_quota_us", found.get("cpu.max")) in {"50000", "50000 100000"}
    assert found.get("cpu.shares", found.get("cpu.weight")) in {"256", "10"}


async def test_a_pod_has_no_more_processes_than_its_limit(tmp_path: Path) -> None:
    node = await Node(tmp_path, max_pids=10).start()
    try:
        limited(node, "pids")
        await node.pod("one")
        await node.run("one", "sh", "-c", "for i in $(seq 20); do sleep 5 & done; wait")
        await node.ended()
        assert "ork" in node.log("one"), "cannot fork"
    finally:
        await node.stop()


async def test_another_agent_finds_a_pod_with_its_address_and_its_user(tmp_path: Path) -> None:
    node = await Node(tmp_path).start()
    address, user = await node.pod("one"), node.runtime.user_of("one", node.folder("one"))
    await node.run("one", *SERVER)
    await node.runtime.close()  # lets go of everything, as a killed agent does
    after = await Node(tmp_path).start()
    try:
        found = await after.runtime.find({"one": after.folder("one")})
        assert [each.alive for each in found] == [True]
        assert await after.pod("one") == address
        assert after.runtime.user_of("one", after.folder("one")) == user
        assert await after.pod("two") != address
        if after.description.network == "pod":
            assert await status(address) == 200
    finally:
        await after.stop()
    assert not left(tmp_path)


async def test_what_a_killed_agent_left_goes_with_the_next_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    await asyncio.to_thread(make_and_die, one)
    if not left(one):
        pytest.skip("no networks for pods here")
    node = await Node(two).start()
    await node.stop()
    assert not left(one)
    assert not left(two)


async def test_a_killed_supervisor_leaves_no_network(node: Node) -> None:
    networked(node)
    address = await node.pod("one")
    info = await node.run("one", "sleep", "1000")
    found = procfs.stat(info.pid)
    assert found is not None
    procfs.kill([found[1]])
    until = time.monotonic() + 10
    while procfs.alive(info.pid, 0):
        assert time.monotonic() < until
        await asyncio.sleep(0.01)
    await asyncio.wait_for(_again(node, address), 10)
    assert await status(address) == 200


async def _again(node: Node, address: str) -> None:
    """Start a server in the pod anew; until the runtime has noticed that the old sandbox is gone, it still gives that one."""
    while True:
        assert await node.pod("one") == address, "the same again, whether or not the kernel has cleared the old one away"
        try:
            await node.run("one", *SERVER, name="again")
        except NotRunning:
            await asyncio.sleep(0.01)
        else:
            return


async def test_a_node_that_is_told_to_stays_on_the_hosts_network(tmp_path: Path) -> None:
    node = await Node(tmp_path, network="host", users=False, cgroups=False).start()
    try:
        assert node.description.network == "host"
        assert not node.description.complaints
        assert (await node.pod("one")).startswith("127.64.")
        assert node.runtime.user_of("one", node.folder("one")) is None
        info = await node.run("one", "sleep", "1000")
        assert inodes(info.pid) == inodes(os.getpid())
    finally:
        await node.stop()
