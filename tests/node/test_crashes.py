"""Who may die, and what then: `docs/designs/node.md`. The agent that dies here is a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.node.conftest import NODE, Rig, eventually, of_pod, restarted, sh

from setpoint.api.types.core_v1 import PODS
from setpoint.apiserver.pki import Subject
from setpoint.app import identities

SCRIPT = """
import asyncio, sys
from pathlib import Path
from setpoint.client.client import Client
from setpoint.client.events import Recorder
from setpoint.client.kubeconfig import load
from setpoint.client.transports.http import HttpTransport
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.node.agent import Agent
from setpoint.node.options import AgentOptions
from setpoint.node.runtimes.process.runtime import ProcessRuntime

async def main():
    clock = RealClock()
    client = Client(HttpTransport(load(Path(sys.argv[1]))), user_agent="kubelet", clock=clock)
    options = AgentOptions(name="node-1", directory=Path(sys.argv[2]))
    recorder = Recorder(client, "kubelet", clock, host="node-1")
    agent = Agent(options, client, clock, ProcessRuntime(host_address="127.0.0.1"), recorder)
    async with Tasks("agent") as tasks:
        tasks.start("recorder", recorder.run())
        tasks.start("agent", agent.run())

asyncio.run(main())
"""


class AgentProcess:
    """An agent that can be killed."""

    def __init__(self, rig: Rig) -> None:
        self._kubeconfig = rig.server.component_kubeconfig(NODE, Subject(identities.node_user(NODE), (identities.NODES,)))
        self.directory = rig.directory / "nodes" / NODE
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        path = self._kubeconfig
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            SCRIPT,
            str(path),
            str(self.directory),
            env=environment,
        )

    async def kill(self) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()

    def folder(self, uid: str) -> Path:
        return self.directory / "pods" / uid

    def pid(self, uid: str) -> int:
        """The pid of the pod's only container, 0 while none runs."""
        for path in (self.folder(uid) / "containers").glob("*.json"):
            record = json.loads(path.read_text())
            if "exitCode" not in record:
                return int(record["pid"])
        return 0

    def supervisor(self, uid: str) -> int:
        return int(json.loads((self.folder(uid) / "supervisor.json").read_text())["pid"])


@pytest.fixture
async def agent(rig: Rig) -> AsyncIterator[AgentProcess]:
    made = AgentProcess(rig)
    await made.start()
    yield made
    await made.kill()


def alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def test_a_killed_agent_leaves_everything_running_and_the_next_one_adopts(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("echo before; while :; do sleep 0.1; done"))
    running = await rig.running()
    uid = pod.metadata.uid
    pid = agent.pid(uid)
    await agent.kill()
    assert alive(pid)
    await agent.start()
    await asyncio.sleep(1.0)
    found = await rig.pod()
    assert agent.pid(uid) == pid
    assert found.status.container_statuses == running.status.container_statuses
    assert found.metadata.resource_version == running.metadata.resource_version, "an adopted pod has nothing new to tell"
    assert len([p for p in of_pod(uid) if p.pid == pid]) == 1
    os.kill(pid, signal.SIGKILL)
    await rig.until(restarted)


async def test_what_ended_while_the_agent_was_away_is_restarted_once(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("exec sleep 1000"))
    await rig.running()
    uid = pod.metadata.uid
    await agent.kill()
    os.kill(agent.pid(uid), signal.SIGKILL)
    await eventually(lambda: agent.pid(uid) == 0)
    await agent.start()
    await rig.until(restarted)
    assert len(of_pod(uid)) == 1


async def test_a_killed_supervisor_takes_its_containers_along(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("setsid sleep 1000 & exec sleep 1000"))
    await rig.running()
    uid = pod.metadata.uid
    await eventually(lambda: len(of_pod(uid)) == 2)
    before = {process.pid for process in of_pod(uid)}
    os.kill(agent.supervisor(uid), signal.SIGKILL)
    found = await rig.until(restarted)
    ended = found.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert (ended.reason, ended.exit_code) == ("ContainerStatusUnknown", 137)
    await eventually(lambda: not any(alive(pid) for pid in before))


async def test_agent_and_supervisor_killed_and_the_pod_deleted_meanwhile(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("setsid sleep 1000 & exec sleep 1000"))
    await rig.running()
    uid = pod.metadata.uid
    await agent.kill()
    os.kill(agent.supervisor(uid), signal.SIGKILL)
    await rig.admin.delete(PODS, "p", "default", grace_seconds=0)
    await agent.start()
    await eventually(lambda: not of_pod(uid), 10)
    await eventually(lambda: not agent.folder(uid).exists(), 10)


async def test_a_pod_whose_directory_is_thrown_away_ends(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("exec sleep 1000"))
    await rig.running()
    uid = pod.metadata.uid
    supervisor = agent.supervisor(uid)
    await agent.kill()
    shutil.rmtree(agent.directory)
    await eventually(lambda: not alive(supervisor) and not of_pod(uid), 15)


async def test_a_deleted_pod_ends_with_whatever_fled(rig: Rig, agent: AgentProcess) -> None:
    pod = await rig.create(sh("setsid env -i setsid sleep 1234 & exec sleep 1000"))
    await rig.running()
    uid = pod.metadata.uid
    below = [child.pid for child in psutil.Process(agent.supervisor(uid)).children(recursive=True)]
    await rig.admin.delete(PODS, "p", "default", grace_seconds=1)
    await rig.gone()
    assert not any(alive(pid) for pid in below)
    await eventually(lambda: not alive(agent.supervisor(uid)) if (agent.folder(uid) / "supervisor.json").exists() else True)
