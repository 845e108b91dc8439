"""The narrow protocol between the agent and what runs containers (decision 18): sandbox, container, image, exec, attach, ports,
stats.

A runtime decides nothing: it starts, stops and tells. Restarts, order, probes and backoff are the pod worker's. Ids are the
runtime's own and unique for ever on a node. Every method may be called again after an error or a lost answer: `start_container`
with an id that already runs answers with that container, `stop_…` and `remove_…` of what is gone do nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from setpoint.kit.clock import Clock


class ContainerError(Exception):
    """A container could not be made or started; `reason` is what the waiting state shows (`CreateContainerError`, `StartError`
    …).
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class ImageError(Exception):
    """An image cannot be had; the message says what to do. `reason` is ErrImagePull, InvalidImageName or ErrImageNeverPull."""

    def __init__(self, message: str, reason: str = "ErrImagePull") -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class NotRunning(LookupError):
    """No such container, or it does not run."""


class SandboxSpec(Struct, frozen=True):
    """The place for a pod's containers. `directory` is the pod's own, made by the agent; `address` is wanted again after a
    restart.
    """

    pod_uid: str
    namespace: str
    name: str
    directory: str
    hostname: str
    host_network: bool = False
    address: str = ""


class Sandbox(Struct, frozen=True):
    """`addresses` are the pod's, the first one `status.podIP`."""

    pod_uid: str
    addresses: Sequence[str]


class Image(Struct, frozen=True):
    """A resolved image: `id` for `imageID`; `entrypoint` and `arguments` are what a container's command and args replace."""

    id: str
    entrypoint: Sequence[str] = ()
    arguments: Sequence[str] = ()

    def argv(self, command: Sequence[str], args: Sequence[str]) -> Sequence[str]:
        """What runs: a command of the container's own also sets the image's arguments aside (the OCI rule)."""
        return (*command, *args) if command else (*self.entrypoint, *(args or self.arguments))


class VolumeMount(Struct, frozen=True):
    """The host's file or directory `source` appears at `target`; `name` is the volume's."""

    name: str
    source: str
    target: str
    read_only: bool = False


class Limits(Struct, frozen=True):
    """What a container may use: bytes and millicores, 0 where it says nothing."""

    memory_bytes: int = 0
    cpu_millis: int = 0
    cpu_request_millis: int = 0


class ContainerSpec(Struct, frozen=True):
    """One attempt at one container, with everything resolved. `log` is the file that gets its output in CRI's format."""

    id: str
    name: str
    attempt: int
    image: str
    image_id: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    log: str
    working_dir: str = ""
    mounts: Sequence[VolumeMount] = ()
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    uid: int | None = None
    gid: int | None = None
    groups: Sequence[int] = ()
    no_new_privileges: bool = False
    limits: Limits = Limits()


class ContainerInfo(Struct, frozen=True):
    """A container as the runtime knows it; times are seconds since the epoch. `lost` means that nobody saw how it ended."""

    id: str
    pod_uid: str
    name: str
    attempt: int
    pid: int
    started_at: float
    image: str = ""
    image_id: str = ""
    log: str = ""
    finished_at: float | None = None
    exit_code: int | None = None
    signal: int = 0
    oom_killed: bool = False
    lost: bool = False

    @property
    def running(self) -> bool:
        return self.exit_code is None and not self.lost


class FoundSandbox(Struct, frozen=True):
    """What a runtime finds of a pod after the agent started. `alive` is whether its sandbox still stands."""

    pod_uid: str
    alive: bool
    containers: Sequence[ContainerInfo] = ()


class ExecSpec(Struct, frozen=True):
    """A command to run in a container."""

    argv: Sequence[str]
    stdin: bool = False
    stdout: bool = True
    stderr: bool = True
    tty: bool = False


class Session(Protocol):
    """The streams of an exec or attach. Reading ends with b""; `close` ends no process: it takes its streams away."""

    async def read(self) -> tuple[str, bytes]:
        """("stdout" | "stderr", data) as it comes; ("", b"") at the end of both."""

    async def write(self, data: bytes) -> None: ...
    async def close_stdin(self) -> None: ...
    def resize(self, width: int, height: int) -> None: ...
    async def wait(self) -> int:
        """The exit code (0 for an attach that ended)."""

    async def kill(self) -> None:
        """End the process of an exec; an attached container is left alone."""

    async def close(self) -> None: ...


class Usage(Struct, frozen=True):
    """What a container or pod uses: seconds of CPU since it started, bytes of resident memory, processes."""

    cpu_seconds: float
    memory_bytes: int
    processes: int


class Description(Struct, frozen=True):
    """For `nodeInfo.containerRuntimeVersion` and the node's events; `warning` says what isolation is missing, `network` whether
    pods have networks of their own (`pod`) or the host's, `complaints` what else this host could not give (for events).
    """

    name: str
    version: str
    isolation: str = ""
    warning: str = ""
    network: str = "host"
    complaints: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)


def own_network(address: str) -> bool:
    """Whether a pod with this address (and without hostNetwork) has a network of its own: one on the host's has a loopback
    address.
    """
    return bool(address) and not address.startswith("127.")


ExitHandler = Callable[[ContainerInfo], None]
SandboxLostHandler = Callable[[str], None]


class Runtime(Protocol):
    """What the worker and the server use. `on_exit` and `on_sandbox_lost` handlers are called on the loop and only enqueue."""

    on_exit: ExitHandler
    on_sandbox_lost: SandboxLostHandler

    async def start(self) -> Description: ...
    async def close(self) -> None:
        """Let go of everything without ending a container."""

    async def find(self, pods: Mapping[str, str]) -> Sequence[FoundSandbox]:
        """What runs (or ran) of the pods whose directories (by uid) are given, and adopt it."""

    async def serve(self, clock: Clock) -> None:
        """Do what pods need for as long as the agent runs; until cancelled."""

    def user_of(self, pod_uid: str, directory: str) -> int | None:
        """The user and group of the pod's containers that choose none; None is the agent's own."""

    async def run_sandbox(self, spec: SandboxSpec) -> Sandbox: ...
    async def stop_sandbox(self, pod_uid: str, directory: str) -> None:
        """End whatever is left of the pod and give its address back."""

    def resolve_image(self, image: str, command: Sequence[str], args: Sequence[str]) -> Image:
        """Raises ImageError."""

    async def start_container(self, pod_uid: str, spec: ContainerSpec) -> ContainerInfo:
        """Raises ContainerError."""

    async def signal_container(self, pod_uid: str, container_id: str, number: int) -> None: ...
    async def remove_container(self, pod_uid: str, container_id: str) -> None: ...
    async def exec(self, pod_uid: str, container_id: str, spec: ExecSpec) -> Session:
        """Raises NotRunning, ContainerError."""

    async def attach(self, pod_uid: str, container_id: str, spec: ExecSpec) -> Session: ...
    async def dial(self, pod_uid: str, port: int) -> socket.socket:
        """A connection to what listens on a port of the pod's localhost; raises NotRunning, OSError."""

    async def pids(self, pod_uid: str) -> Sequence[int]:
        """The processes of a pod on this host, () where the runtime cannot say."""

    async def usage(self, pod_uid: str) -> Mapping[str, Usage]:
        """By container name."""
