"""The process runtime: `Runtime` with a supervisor per pod."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint import __version__
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.node.runtime import (
    ContainerError,
    ContainerInfo,
    ContainerSpec,
    Description,
    ExecSpec,
    ExitHandler,
    FoundSandbox,
    Image,
    ImageError,
    NotRunning,
    Sandbox,
    SandboxLostHandler,
    SandboxSpec,
    Session,
    Usage,
)
from setpoint.node.runtimes.process import aliases, dialing
from setpoint.node.runtimes.process.isolation import Isolation
from setpoint.node.runtimes.process.rights import Rights, Settings
from setpoint.node.runtimes.process.session import ProcessSession, Streams, pipes, terminal
from setpoint.node.runtimes.process.supervisor_client import SupervisorClient, SupervisorGone, stands
from setpoint.node.runtimes.process.template import Template
from setpoint.node.supervisor import procfs, records

log = logs.get_logger("node.process")
HELP = (
    "this node runs processes of the host and pulls no images: give the container a command (a program that is on the host), "
    "or run the pod on a node with a container runtime"
)


NOTHING_MORE = Settings()


class _Pod(Struct):
    directory: str
    hostname: str
    client: SupervisorClient


class ProcessRuntime:
    """Containers as processes. `cidr` is the node's part of 127.64.0.0/10; `isolation` insists on one mode.

    `template` may have been started before, beside what else a start does.
    """

    def __init__(
        self,
        *,
        host_address: str,
        cidr: str = "127.64.0.0/16",
        isolation: str = "",
        template: Template | None = None,
        settings: Settings = NOTHING_MORE,
    ) -> None:
        self.on_exit: ExitHandler = lambda _: None
        self.on_sandbox_lost: SandboxLostHandler = lambda _: None
        self.isolation = Isolation("none")
        self._wanted_isolation = isolation
        self._template = template or Template()
        self._pods: dict[str, _Pod] = {}
        self._rights = Rights(settings, self._template, host_address, cidr)

    async def start(self) -> Description:
        self.isolation = found = await self._template.isolation(self._wanted_isolation)
        complaints = await self._rights.find()
        return Description("process", __version__, found.mode, found.warning, self._rights.network, complaints)

    async def close(self) -> None:
        for pod in self._pods.values():
            pod.client.close()
        self._pods.clear()
        await self._rights.close()
        await self._template.close()

    async def serve(self, clock: Clock) -> None:
        await self._rights.api.run(clock)

    def user_of(self, pod_uid: str, directory: str) -> int | None:
        return self._rights.user_of(pod_uid, directory, self.isolation.mode)

    # -- sandboxes

    async def find(self, pods: Mapping[str, str]) -> Sequence[FoundSandbox]:
        return [await self._find(uid, directory) for uid, directory in pods.items()]

    async def _find(self, uid: str, directory: str) -> FoundSandbox:
        if (known := self._pods.pop(uid, None)) is not None:
            known.client.close()
        if stands(directory):
            with contextlib.suppress(OSError):
                pod = self._connect(uid, directory, "")
                answer = await pod.client.request("list", subscribe=True)
                self._rights.addresses.adopt(uid, directory)
                return FoundSandbox(uid, alive=True, containers=[_info(uid, record) for record in answer["containers"]])
        ended = [_info(uid, record, gone=True) for record in records.containers(directory)]
        return FoundSandbox(uid, alive=False, containers=ended)

    def _connect(self, uid: str, directory: str, hostname: str) -> _Pod:
        client = SupervisorClient(directory, lambda event: self._event(uid, event), lambda: self._supervisor_gone(uid))
        pod = _Pod(directory, hostname, client)
        self._pods[uid] = pod
        return pod

    def _event(self, uid: str, event: Mapping[str, Any]) -> None:
        if event["event"] == "exited":
            self.on_exit(_info(uid, event["container"]))

    def _supervisor_gone(self, uid: str) -> None:
        if self._pods.pop(uid, None) is not None:
            log.warning("a supervisor is gone", pod=uid)
            self.on_sandbox_lost(uid)

    async def run_sandbox(self, spec: SandboxSpec) -> Sandbox:
        address = self._rights.address(spec)
        if spec.pod_uid not in self._pods:
            os.makedirs(spec.directory, mode=0o700, exist_ok=True)
            # A supervisor that stands but lost its connection runs containers that were given up: they would run twice.
            await self._clear(spec.pod_uid, spec.directory)
            await self._rights.fork(spec, address)
            pod = self._connect(spec.pod_uid, spec.directory, spec.hostname)
            await pod.client.request("list", subscribe=True)
        pod = self._pods[spec.pod_uid]
        pod.hostname = spec.hostname
        await self._rights.show_api(spec, address, pod.client)
        return Sandbox(spec.pod_uid, (address,))

    async def stop_sandbox(self, pod_uid: str, directory: str) -> None:
        self._rights.api.drop(pod_uid)
        pod = self._pods.pop(pod_uid, None)
        if pod is not None:
            with contextlib.suppress(SupervisorGone):
                await pod.client.request("stop")
            pod.client.close()
        if pod is None or stands(directory):
            await self._clear(pod_uid, directory)
        await self._rights.give_back(pod_uid)

    async def _clear(self, pod_uid: str, directory: str) -> None:
        """End what an earlier supervisor left behind, if there was one."""
        if records.read(os.path.join(directory, records.SUPERVISOR)) is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, _end_what_is_left, pod_uid, directory)

    # -- images and containers

    def resolve_image(self, image: str, command: Sequence[str], args: Sequence[str]) -> Image:
        entrypoint, arguments = ((), ()) if command else aliases.lookup(image)
        if not command and not entrypoint and not arguments:
            raise ImageError(f'image "{image}" names no program on this node: {HELP}')
        argv = Image("", entrypoint, arguments).argv(command, args)
        program = aliases.program_of(argv, os.environ.get("PATH", os.defpath))
        if not program and not command:
            raise ImageError(f'image "{image}" stands for {argv[0]}, which is not on this host: {HELP}')
        return Image(f"process://{program or argv[0]}", entrypoint, arguments)

    async def start_container(self, pod_uid: str, spec: ContainerSpec) -> ContainerInfo:
        pod = self._pod(pod_uid)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": os.environ.get("HOME", "/") if not spec.uid else "/",
            "HOSTNAME": pod.hostname,
            **({"TERM": "xterm"} if spec.tty else {}),
            **spec.environment,
            procfs.MARKER: spec.id,
            procfs.POD_MARKER: pod_uid,
        }
        if self.isolation.mode == "none":
            environment |= {f"SETPOINT_VOLUME_{_variable(mount.name)}": mount.source for mount in spec.mounts}
        request = {
            "id": spec.id,
            "name": spec.name,
            "attempt": spec.attempt,
            "image": spec.image,
            "imageID": spec.image_id,
            "argv": list(spec.argv),
            "environment": environment,
            "directory": spec.working_dir,
            "isolation": self.isolation.mode,
            "bubblewrap": self.isolation.program,
            "hostname": pod.hostname,
            "mounts": [(mount.source, mount.target, mount.read_only) for mount in spec.mounts],
            "log": spec.log,
            "stdin": spec.stdin,
            "stdinOnce": spec.stdin_once,
            "tty": spec.tty,
            "uid": spec.uid,
            "gid": spec.gid,
            "groups": list(spec.groups),
            "no_new_privileges": spec.no_new_privileges,
            "cgroups": self._rights.limits(pod_uid, spec.id, spec.limits),
        }
        try:
            answer = await pod.client.request("start", container=request)
        except SupervisorGone as error:
            raise ContainerError("RunContainerError", "the pod's supervisor is gone") from error
        except (OSError, LookupError) as error:
            raise ContainerError("StartError", f"failed to start container process: {error}") from error
        return _info(pod_uid, answer["container"])

    async def signal_container(self, pod_uid: str, container_id: str, number: int) -> None:
        with contextlib.suppress(SupervisorGone, NotRunning):
            await self._pod(pod_uid).client.request("signal", container=container_id, signal=number)

    async def remove_container(self, pod_uid: str, container_id: str) -> None:
        with contextlib.suppress(SupervisorGone, NotRunning):
            await self._pod(pod_uid).client.request("remove", container=container_id)

    def _pod(self, pod_uid: str) -> _Pod:
        try:
            return self._pods[pod_uid]
        except KeyError:
            raise NotRunning(f"pod {pod_uid} has no sandbox") from None

    # -- streams

    async def exec(self, pod_uid: str, container_id: str, spec: ExecSpec) -> Session:
        client = self._pod(pod_uid).client
        name = secrets.token_hex(8)
        streams, inner = terminal() if spec.tty else pipes(stdin=spec.stdin)
        exit_code = client.exit_of(name)
        environment = {"TERM": "xterm"} if spec.tty else {}

        async def kill() -> None:
            with contextlib.suppress(OSError):
                await client.request("kill-exec", exec=name)

        session = ProcessSession(streams, exit_code=exit_code, on_close=lambda: client.forget(name), on_kill=kill)
        try:
            await client.request(
                "exec", inner, container=container_id, exec=name, argv=list(spec.argv), environment=environment, tty=spec.tty
            )
        except BaseException as error:
            await session.close()
            if isinstance(error, LookupError):
                raise NotRunning(str(error)) from error
            if isinstance(error, OSError):
                raise ContainerError("ExecError", str(error)) from error
            raise
        finally:
            for descriptor in set(inner):
                os.close(descriptor)
        return session

    async def attach(self, pod_uid: str, container_id: str, spec: ExecSpec) -> Session:
        client = self._pod(pod_uid).client
        out, out_inner = os.pipe()
        err, err_inner = os.pipe()
        try:
            answer = await client.request("attach", (out_inner, err_inner), container=container_id)
        except BaseException as error:
            os.close(out)
            os.close(err)
            if isinstance(error, (LookupError, OSError)):
                raise NotRunning(str(error)) from error
            raise
        finally:
            os.close(out_inner)
            os.close(err_inner)
        stdin, once = next(iter(answer["descriptors"]), -1), bool(answer.get("stdinOnce"))
        if stdin >= 0 and not (spec.stdin or spec.tty):
            os.close(stdin)
            stdin = -1

        async def stdin_closed() -> None:
            """A container with stdinOnce gets one session's input; that nobody reads its output the supervisor finds out."""
            if once and (spec.stdin or spec.tty):
                with contextlib.suppress(SupervisorGone, OSError, LookupError):
                    await client.request("close-stdin", container=container_id)

        streams = Streams({"stdout": out, "stderr": err}, stdin, terminal=stdin if spec.tty else -1)
        return ProcessSession(streams, on_stdin_closed=stdin_closed)

    async def dial(self, pod_uid: str, port: int) -> socket.socket:
        address = self._rights.addresses.of(pod_uid)
        pids = await self.pids(pod_uid)
        return await dialing.dial(self._pod(pod_uid).client, address, port, pids)

    # -- figures

    async def pids(self, pod_uid: str) -> Sequence[int]:
        with contextlib.suppress(SupervisorGone, NotRunning):
            answer = await self._pod(pod_uid).client.request("pids")
            return tuple(answer["pids"])
        return ()

    async def usage(self, pod_uid: str) -> Mapping[str, Usage]:
        with contextlib.suppress(SupervisorGone, NotRunning):
            answer = await self._pod(pod_uid).client.request("list")
            running = {record["name"]: record["pid"] for record in answer["containers"] if "exitCode" not in record}
            return await asyncio.get_running_loop().run_in_executor(None, _usages, running)
        return {}


def _info(uid: str, record: Mapping[str, Any], *, gone: bool = False) -> ContainerInfo:
    """A record as the agent's value; `gone` when the supervisor is, so that one without an exit is lost."""
    return ContainerInfo(
        id=record["id"],
        pod_uid=uid,
        name=record["name"],
        attempt=record["attempt"],
        pid=record["pid"],
        started_at=record["startedAt"],
        image=record.get("image", ""),
        image_id=record.get("imageID", ""),
        log=record.get("log", ""),
        finished_at=record.get("finishedAt"),
        exit_code=record.get("exitCode"),
        signal=record.get("signal", 0),
        oom_killed=record.get("oomKilled", False),
        lost=gone and "exitCode" not in record,
    )


def _end_what_is_left(pod_uid: str, directory: str) -> None:
    """End a pod that has no connection: its supervisor if one stands, then every process that was the pod's."""
    identity = records.read(os.path.join(directory, records.SUPERVISOR))
    sessions = [record["pid"] for record in records.containers(directory) if procfs.alive(record["pid"], record["startTicks"])]
    if identity is not None and stands(directory):
        procfs.kill([int(identity["pid"])])
    procfs.kill_until_none(lambda: procfs.leftovers(pod_uid, sessions))


def _variable(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name.upper())


def _usages(pids: Mapping[str, int]) -> Mapping[str, Usage]:
    return {name: _usage(pid) for name, pid in pids.items()}


def _usage(pid: int) -> Usage:
    import psutil

    total, memory, count = 0.0, 0, 0
    try:
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
                memory += process.memory_info().rss
                count += 1
    except psutil.Error:
        pass
    return Usage(total, memory, count)
