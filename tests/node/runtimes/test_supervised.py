"""The process runtime under its supervisors: what breaks off, hangs, or comes all at once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.node.conftest import eventually

from setpoint.node.handlers import run_command
from setpoint.node.runtime import ContainerInfo, ContainerSpec, ExecSpec, NotRunning, SandboxSpec, Session
from setpoint.node.runtimes.process.runtime import ProcessRuntime
from setpoint.node.supervisor import records

UID = "uid-1"


class Pod:
    """A pod of one runtime."""

    def __init__(self, directory: Path, isolation: str = "none") -> None:
        self.directory = str(directory)
        self.runtime = ProcessRuntime(host_address="127.0.0.1", isolation=isolation)
        self.exits: asyncio.Queue[ContainerInfo] = asyncio.Queue()
        self.runtime.on_exit = self.exits.put_nowait

    async def sandbox(self) -> None:
        await self.runtime.run_sandbox(SandboxSpec(UID, "ns", "p", self.directory, "pod-name"))

    async def start(self, name: str, *argv: str, **more: Any) -> ContainerInfo:
        log = str(Path(self.directory) / "logs" / f"{name}.log")
        environment = more.pop("environment", {})
        spec = ContainerSpec(name, name, 0, "host", "process://x", argv, environment, log, mounts=[], **more)
        return await self.runtime.start_container(UID, spec)

    def supervisor(self) -> psutil.Process:
        identity = records.read(str(Path(self.directory) / records.SUPERVISOR))
        assert identity is not None
        return psutil.Process(identity["pid"])


def command(process: psutil.Process) -> list[str]:
    """Nothing of one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
async def pod(tmp_path: Path) -> AsyncIterator[Pod]:
    made = Pod(tmp_path)
    await made.runtime.start()
    await made.sandbox()
    yield made
    await made.runtime.stop_sandbox(UID, made.directory)
    await made.runtime.close()


async def test_an_attached_stream_ends_with_its_container_though_others_started_meanwhile(pod: Pod) -> None:
    await pod.start("first", "cat", stdin=True)
    session = await pod.runtime.attach(UID, "first", ExecSpec((), stdin=True))
    await pod.start("second", "sleep", "1000")
    await pod.runtime.signal_container(UID, "first", 9)
    async with asyncio.timeout(5):
        assert await session.read() == ("", b"")
    await session.close()


async def test_a_client_that_leaves_a_silent_container_leaves_no_descriptors(pod: Pod) -> None:
    await pod.start("first", "sleep", "1000")
    before = pod.supervisor().num_fds()
    for _ in range(3):
        session = await pod.runtime.attach(UID, "first", ExecSpec(()))
        await session.close()
        with pytest.raises(NotRunning):
            await pod.runtime.attach(UID, "none", ExecSpec(()))
    await eventually(lambda: pod.supervisor().num_fds() <= before)


async def take(session: Session, count: int) -> int:
    """Read so many bytes, or to the end; how many came."""
    taken = 0
    async with asyncio.timeout(10):
        while taken < count and (data := (await session.read())[1]):
            taken += len(data)
    return taken


async def test_a_slow_client_loses_nothing_and_one_that_leaves_holds_nobody_up(pod: Pod) -> None:
    await pod.start("first", "sh", "-c", "read x; head -c 500000 /dev/zero; read x; head -c 500000 /dev/zero", stdin=True)
    slow = await pod.runtime.attach(UID, "first", ExecSpec((), stdin=True))
    leaves = await pod.runtime.attach(UID, "first", ExecSpec(()))
    await slow.write(b"\n")
    assert await take(leaves, 1) > 0
    await leaves.close()
    taken = await take(slow, 500_000)
    assert taken == 500_000
    await slow.write(b"\n")
    log = Path(pod.directory) / "logs" / "first.log"
    await eventually(lambda: log.stat().st_size > 500_000)
    assert pod.exits.empty(), "it waits for who is slow"
    assert await take(slow, 1_000_000) == 500_000
    assert (await pod.exits.get()).exit_code == 0
    await slow.close()


async def test_a_broken_connection_does_not_double_containers(pod: Pod) -> None:
    lost: list[str] = []
    pod.runtime.on_sandbox_lost = lost.append
    first = await pod.start("first", "sleep", "1000")
    pod.runtime._pods[UID].client._lost()
    assert lost == [UID]
    await pod.sandbox()
    await pod.start("first", "sleep", "1000")
    assert not psutil.pid_exists(first.pid) or psutil.Process(first.pid).status() == psutil.STATUS_ZOMBIE


async def test_a_command_that_hangs_is_ended_with_its_time(pod: Pod) -> None:
    await pod.start("first", "sleep", "1000")
    outcome = await run_command(pod.runtime, UID, "first", ("sh", "-c", "sleep 1001 & wait"), 0.3)
    assert not outcome.ok
    assert "timed out" in outcome.message
    below = pod.supervisor().children
    await eventually(lambda: not any("1001" in command(process) for process in below(recursive=True)))


async def test_requests_larger_than_the_socket_do_not_mix(pod: Pod) -> None:
    large = {f"V{number}": "x" * 100_000 for number in range(8)}
    names = [f"c{number}" for number in range(6)]
    async with asyncio.timeout(20):
        await asyncio.gather(*(pod.start(name, "sleep", "1000", environment=large) for name in names))
    assert len(pod.supervisor().children()) == len(names)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
async def test_a_killed_supervisor_takes_bubblewraps_containers_along(tmp_path: Path) -> None:
    pod = Pod(tmp_path, "bubblewrap")
    if (await pod.runtime.start()).isolation != "bubblewrap":
        pytest.skip("bubblewrap does not work here")
    await pod.sandbox()
    await pod.start("first", "sleep", "1000")
    supervisor = pod.supervisor()
    await eventually(lambda: any(process.name() == "sleep" for process in supervisor.children(recursive=True)))
    below = supervisor.children(recursive=True)
    supervisor.kill()
    await eventually(lambda: not any(process.is_running() and process.status() != "zombie" for process in below))
    await pod.runtime.stop_sandbox(UID, pod.directory)
    await pod.runtime.close()
