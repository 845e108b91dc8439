"""Pods as Structs, and a pretend shell that answers the core's commands."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Pod
from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.core import PodCore
from setpoint.node.pod_worker.status import Place
from setpoint.node.runtime import ContainerInfo

START = 1_900_000_000.0


def container(name: str = "c", **more: Any) -> dict[str, Any]:
    return {"name": name, "image": f"{name}:1", "command": ["run"], **more}


def pod(*containers: dict[str, Any], init: Sequence[dict[str, Any]] = (), meta: dict[str, Any] | None = None, **spec: Any) -> Pod:
    body = {
        "metadata": {"name": "p", "namespace": "ns", "uid": "u-1", "generation": 1, **(meta or {})},
        "spec": {
            "nodeName": "node-1",
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "containers": list(containers) or [container()],
            "initContainers": list(init),
            **spec,
        },
    }
    return convert(body, Pod)


class Shell:
    """Drives a core over virtual time. Starts succeed at once unless `refuse` says otherwise; stop signals end containers if
    `obedient`."""

    def __init__(self, wanted: Pod, snapshot: dict[str, Any] | None = None) -> None:
        self.now = START
        self.core = PodCore(wanted, Place("10.0.0.1"), self.now, snapshot)
        self.commands: list[m.Command] = []
        self.refuse: dict[str, tuple[str, str]] = {}
        self.obedient = True
        self.wake: float | None = None
        self.starts: list[tuple[float, str, int]] = []

    def post(self, event: m.Event) -> None:
        waiting = [event]
        while waiting:
            commands = self.core.handle(waiting.pop(0), self.now)
            self.commands += commands
            self.wake = min((c.when for c in commands if isinstance(c, m.WakeAt)), default=None)
            for command in commands:
                waiting += self._answer(command)

    def _answer(self, command: m.Command) -> list[m.Event]:
        if isinstance(command, m.PrepareVolumes):
            return [m.VolumesReady()]
        if isinstance(command, m.RunSandbox):
            return [m.SandboxReady(["127.64.0.2"])]
        if isinstance(command, m.StopSandbox):
            return [m.SandboxStopped()]
        if isinstance(command, m.StartContainer):
            self.starts.append((self.now - START, command.name, command.attempt))
            if command.name in self.refuse:
                return [m.StartFailed(command.name, *self.refuse[command.name])]
            return [m.Started(self.info(command.name, command.id, command.attempt))]
        if isinstance(command, m.Signal) and (self.obedient or command.number == signal.SIGKILL):
            return [m.Exited(self.info(command.name, command.id, code=128 + command.number))]
        return []

    def info(self, name: str, identity: str = "", attempt: int = 0, code: int | None = None) -> ContainerInfo:
        track = self.core.track(name)
        finished = self.now if code is not None else None
        started = self.now if code is None else track.started_at
        return ContainerInfo(
            identity or track.id, "u-1", name, attempt or track.attempt, 1, started, finished_at=finished, exit_code=code
        )

    def exit(self, name: str, code: int, message: str = "") -> None:
        self.post(m.Exited(self.info(name, code=code), message))

    def advance(self, seconds: float) -> None:
        """Let time pass, waking the core when it asked for it."""
        until = self.now + seconds
        while self.wake is not None and self.wake <= until:
            self.now = max(self.now, self.wake)
            self.wake = None
            self.post(m.Tick())
        self.now = until

    def change(self, wanted: Pod) -> None:
        self.post(m.PodChanged(wanted))

    @property
    def status(self) -> dict[str, Any]:
        return self.core.status()

    def container(self, name: str = "c") -> dict[str, Any]:
        kinds = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
        lists = [self.status[kind] or [] for kind in kinds]
        found: dict[str, Any] = next(entry for entries in lists for entry in entries if entry["name"] == name)
        return found

    def condition(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = next(entry for entry in self.status["conditions"] if entry["type"] == kind)
        return found

    def events(self, reason: str = "") -> list[str]:
        found = [command for command in self.commands if isinstance(command, m.Record)]
        return [event.message for event in found if not reason or event.reason == reason]

    def did(self, kind: type) -> list[Any]:
        return [command for command in self.commands if isinstance(command, kind)]


def begin(wanted: Pod) -> Shell:
    shell = Shell(wanted)
    shell.change(wanted)
    return shell


def deleted(wanted: Pod, grace: int) -> Pod:
    """The pod as the API server marks it."""
    import msgspec

    meta = msgspec.structs.replace(
        wanted.metadata, deletion_timestamp="2030-03-17T17:46:40Z", deletion_grace_period_seconds=grace
    )
    return msgspec.structs.replace(wanted, metadata=meta)
