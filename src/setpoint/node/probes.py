"""Probes of one container: startup first, then readiness and liveness, each in its rhythm, reported when a threshold is crossed.

Source: kubelet's prober worker. Readiness and liveness wait until the startup probe succeeded; a failed liveness or startup
probe is reported once and not asked again (the container is about to end).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from setpoint.api.types.core_v1 import Container, Probe
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.node import grpc_health
from setpoint.node.handlers import Http, Outcome, connect, port_of, run_command
from setpoint.node.pod_worker.messages import LIVENESS, READINESS, STARTUP
from setpoint.node.runtime import Runtime
from setpoint.node.sockets import holder_outside

AGENT = "kube-probe/1.36"


class Target(Struct, frozen=True):
    """The container that is probed; `address` is its pod's. `shares_ports` when all pods are on the host's network."""

    pod_uid: str
    container: Container
    container_id: str
    address: str
    started_at: float
    shares_ports: bool = True


class Judge:
    """Counts results; tells when a threshold is crossed. Pure."""

    def __init__(self, probe: Probe, *, initially: bool | None) -> None:
        self._probe = probe
        self.result = initially
        self._last: bool | None = None
        self._run = 0

    def take(self, ok: bool) -> bool:
        """Whether the result changed, or was confirmed for the first time."""
        self._run = self._run + 1 if ok == self._last else 1
        self._last = ok
        needed = (self._probe.success_threshold or 1) if ok else (self._probe.failure_threshold or 3)
        if self._run < needed or ok == self.result:
            return False
        self.result = ok
        return True


class Prober:
    """Runs the probes of one container until its tasks are cancelled.

    `report(kind, ok)` gets crossed thresholds, `unhealthy(text)` the words for an event.
    """

    def __init__(
        self,
        target: Target,
        runtime: Runtime,
        http: Http,
        clock: Clock,
        report: Callable[[str, bool], None],
        unhealthy: Callable[[str], None],
    ) -> None:
        self._target = target
        self._runtime = runtime
        self._http = http
        self._clock = clock
        self._report = report
        self._unhealthy = unhealthy
        self._started = asyncio.Event()

    def run(self, tasks: Tasks, *, started: bool) -> list[asyncio.Task[None]]:
        """Start a task per probe; `started` when the startup probe succeeded before (an adopted container)."""
        container = self._target.container
        if started or container.startup_probe is None:
            self._started.set()
        probes = {READINESS: container.readiness_probe, LIVENESS: container.liveness_probe}
        if not self._started.is_set():
            probes[STARTUP] = container.startup_probe
        return [
            tasks.start(f"{kind} probe {container.name}", self._loop(kind, probe))
            for kind, probe in probes.items()
            if probe is not None
        ]

    async def _loop(self, kind: str, probe: Probe) -> None:
        if kind != STARTUP:
            await self._started.wait()
        delay = self._target.started_at + probe.initial_delay_seconds - self._clock.now()
        await self._clock.sleep(max(0.0, delay))
        judge = Judge(probe, initially=None if kind != LIVENESS else True)
        while True:
            outcome = await self._ask(probe)
            if not outcome.ok:
                verb = "errored" if outcome.errored else "failed"
                self._unhealthy(f"{kind.capitalize()} probe {verb}: {outcome.message}")
            if not outcome.errored and judge.take(outcome.ok):
                self._report(kind, outcome.ok)
                if kind == STARTUP and outcome.ok:
                    self._started.set()
                if kind == STARTUP or (kind == LIVENESS and not outcome.ok):
                    return
            await self._clock.sleep(float(probe.period_seconds or 10))

    async def _ask(self, probe: Probe) -> Outcome:
        target = self._target
        seconds = float(probe.timeout_seconds or 1)
        if probe.exec is not None:
            return await run_command(self._runtime, target.pod_uid, target.container_id, probe.exec.command, seconds)
        if probe.http_get is not None:
            outcome = await self._http.get(target.container, probe.http_get, target.address, seconds, AGENT)
            return await self._own(outcome, probe.http_get.port, probe.http_get.host)
        if probe.tcp_socket is not None:
            port = port_of(target.container, probe.tcp_socket.port)
            if port is None:
                return Outcome(ok=False, message=f"couldn't find port: {probe.tcp_socket.port}", errored=True)
            outcome = await connect(probe.tcp_socket.host or target.address, port, seconds)
            return await self._own(outcome, port, probe.tcp_socket.host)
        if probe.grpc is not None:
            outcome = await grpc_health.check(target.address, probe.grpc.port, probe.grpc.service or "", seconds)
            return await self._own(outcome, probe.grpc.port, "")
        return Outcome(ok=False, message="missing probe handler", errored=True)

    async def _own(self, outcome: Outcome, port: int | str, host: str) -> Outcome:
        """On shared ports an answer counts only if it comes from the pod's own socket (decision 19)."""
        target = self._target
        number = port_of(target.container, port)
        if not outcome.ok or host or number is None or not target.shares_ports:
            return outcome
        pids = await self._runtime.pids(target.pod_uid)
        if not pids:
            return outcome
        holder = await asyncio.get_running_loop().run_in_executor(None, holder_outside, target.address, number, tuple(pids))
        if holder:
            return Outcome(ok=False, message=f"port {number} is held by {holder}, which is not of this pod")
        return outcome
