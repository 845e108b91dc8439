"""A real API server in this process, and real agents with real processes on it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from setpoint.api.types.core_v1 import CONFIGMAPS, EVENTS, PODS, SERVICEACCOUNTS, Pod
from setpoint.app import identities
from setpoint.app.api_server import ApiServer
from setpoint.app.data_dir import DataDir
from setpoint.app.options import Options
from setpoint.client.client import Client
from setpoint.client.events import Recorder
from setpoint.client.transport import Request, Response, Stream, Transport, TransportError
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.node.agent import Agent, process_runtime
from setpoint.node.options import AgentOptions
from setpoint.node.runtime import Runtime
from setpoint.node.runtimes.process.runtime import ProcessRuntime
from setpoint.node.supervisor import procfs

CLOCK = RealClock()
NODE = "node-1"


class Wire:
    """A transport that can be cut."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.cut = asyncio.Event()

    async def call(self, request: Request) -> Response:
        if self.cut.is_set():
            raise TransportError("cut")
        return await self._inner.call(request)

    async def stream(self, request: Request) -> Stream:
        if self.cut.is_set():
            raise TransportError("cut")
        return _Cuttable(await self._inner.stream(request), self.cut)

    async def close(self) -> None:
        await self._inner.close()


class _Cuttable:
    def __init__(self, inner: Stream, cut: asyncio.Event) -> None:
        self._inner = inner
        self._cut = cut
        self.status = inner.status
        self.headers: Mapping[str, str] = inner.headers

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._inner.__aexit__(*error)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._inner)
        cut: asyncio.Future[Any] = asyncio.ensure_future(self._cut.wait())
        following: asyncio.Future[Any] = asyncio.ensure_future(anext(chunks))
        try:
            while True:
                await asyncio.wait({cut, following}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    raise TransportError("cut")
                try:
                    yield following.result()
                except StopAsyncIteration:
                    return
                following = asyncio.ensure_future(anext(chunks))
        finally:
            for future in (cut, following):
                future.cancel()
                await asyncio.wait({future})

    async def read(self) -> bytes:
        return await self._inner.read()


class Rig:
    """One API server, one node."""

    def __init__(self, directory: Path, server: ApiServer, tasks: Tasks) -> None:
        self.directory = directory
        self.server = server
        self.tasks = tasks
        self.admin = server.client(identities.user("admin", "system:masters"), "tests")
        self.wire = Wire(self.admin_transport())
        self.agent: Agent
        self._agent_task: asyncio.Task[None] | None = None

    def admin_transport(self) -> Transport:
        transport: Transport = self.server.client(
            identities.user(identities.node_user(NODE), identities.NODES), "kubelet"
        )._transport
        return transport

    def options(self, **more: Any) -> AgentOptions:
        pair = self.server.certificates.node(NODE)
        return AgentOptions(
            name=NODE,
            directory=self.directory / "nodes" / NODE,
            serving_certificate=pair.certificate,
            serving_key=pair.key,
            ca=self.server.authority.certificate_file,
            **more,
        )

    async def start_agent(self, *, wait: bool = True, rights: bool = False, **more: Any) -> Agent:
        """`rights` gives pods what root can give; else they are on the host's network."""
        client = Client(self.wire, user_agent="kubelet", clock=CLOCK)
        recorder = Recorder(client, "kubelet", CLOCK, host=NODE)
        options = self.options(**more)
        runtime: Runtime = ProcessRuntime(host_address=options.address, cidr=options.pod_cidr, isolation=options.isolation)
        if rights:
            runtime = process_runtime(options)
        self.agent = Agent(options, client, CLOCK, runtime, recorder)
        self.tasks.start("recorder", recorder.run())
        self._agent_task = self.tasks.start("agent", self.agent.run())
        if not wait:
            return self.agent
        await asyncio.wait({self._agent_task, asyncio.ensure_future(self.agent.registered.wait())}, return_when="FIRST_COMPLETED")
        if self._agent_task.done():
            self._agent_task.result()
        return self.agent

    async def stop_agent(self) -> None:
        if self._agent_task is not None:
            self._agent_task.cancel()
            await asyncio.wait({self._agent_task})
            self._agent_task = None

    # -- pods

    async def create(self, *containers: dict[str, Any], name: str = "p", **spec: Any) -> Pod:
        body = {
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"nodeName": NODE, "terminationGracePeriodSeconds": 2, "containers": list(containers), **spec},
        }
        return await self.admin.create(PODS, body, "default")

    async def pod(self, name: str = "p") -> Pod:
        return await self.admin.get(PODS, name, "default")

    async def until(self, check: Callable[[Pod], object], name: str = "p", seconds: float = 30.0) -> Pod:
        """The pod once `check` is true of it."""
        until = time.monotonic() + seconds
        while True:
            pod = await self.pod(name)
            if check(pod):
                return pod
            assert time.monotonic() < until, pod.status
            await asyncio.sleep(0.01)

    async def running(self, name: str = "p") -> Pod:
        return await self.until(
            lambda pod: pod.status.phase == "Running" and all(c.ready for c in pod.status.container_statuses), name
        )

    async def gone(self, name: str = "p", seconds: float = 30.0) -> None:
        until = time.monotonic() + seconds
        while any(pod.metadata.name == name for pod in (await self.admin.list(PODS, "default")).items):
            assert time.monotonic() < until
            await asyncio.sleep(0.01)

    async def log_has(self, text: str, name: str = "p", *arguments: str, seconds: float = 20.0) -> str:
        until = time.monotonic() + seconds
        while text not in (found := await self.kubectl("logs", name, *arguments)):
            assert time.monotonic() < until, found
            await asyncio.sleep(0.05)
        return found

    async def kubectl(self, *arguments: str, stdin: bytes | None = None, ok: bool = True) -> str:
        process = await asyncio.create_subprocess_exec(
            "kubectl",
            "--kubeconfig",
            str(self.server.data.admin_kubeconfig),
            *arguments,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = await process.communicate(stdin)
        assert not ok or process.returncode == 0, output.decode()
        return output.decode()

    async def events(self, reason: str) -> list[str]:
        found = (await self.admin.list(EVENTS, "default")).items
        return [event.message for event in found if event.reason == reason]

    def pid(self, container: str = "c", name: str = "p") -> int:
        """The pid of a container's process, 0 while there is none."""
        worker = self.agent.find_pod("default", name)
        assert worker is not None
        record = Path(worker.directory) / "containers" / f"{worker.core.track(container).id}.json"
        return int(json.loads(record.read_text())["pid"]) if record.exists() else 0


def restarted(pod: Pod) -> bool:
    """Whether the pod's container runs in its second attempt."""
    status = pod.status.container_statuses[0]
    return status.restart_count == 1 and status.ready


def waits_for(pod: Pod) -> str:
    """Why the pod's container waits."""
    waiting = pod.status.container_statuses[0].state.waiting if pod.status.container_statuses else None
    return waiting.reason if waiting else ""


def of_pod(uid: str) -> list[psutil.Process]:
    """Processes that carry the pod's marker."""
    return [psutil.Process(pid) for pid in procfs.processes() if procfs.marked(pid, procfs.POD_MARKER, uid)]


async def eventually(check: Callable[[], object], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


def sh(script: str, name: str = "c", **more: Any) -> dict[str, Any]:
    """A container that runs a shell script."""
    return {"name": name, "image": "host", "command": ["sh", "-c", script], **more}


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """An API server without an agent yet; in the end everything that runs is stopped."""
    DataDir(tmp_path).prepare()
    server = ApiServer(Options(data_dir=tmp_path, port=0, store="memory"), CLOCK)
    await server.start()
    try:
        async with Tasks("rig") as tasks:
            server.follow(tasks)  # what a node may read follows from its pods
            rig = Rig(tmp_path, server, tasks)
            await rig.admin.create(SERVICEACCOUNTS, {"metadata": {"name": "default"}}, "default")
            await rig.admin.create(CONFIGMAPS, {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "CA"}}, "default")
            try:
                yield rig
            finally:
                await rig.stop_agent()
                tasks.stop()
    finally:
        await server.stop()
        _end_leftovers(tmp_path)


def _end_leftovers(directory: Path) -> None:
    """A failed test must not leave processes behind."""
    for folder in (directory / "nodes").glob("*/pods/*"):
        procfs.kill_until_none(lambda uid=folder.name: procfs.leftovers(uid, ()))  # type: ignore[misc]  # this round's
        record = folder / "supervisor.json"
        if record.exists():
            identity = json.loads(record.read_text())
            if procfs.alive(identity["pid"], identity["startTicks"]):
                procfs.kill([identity["pid"]])
