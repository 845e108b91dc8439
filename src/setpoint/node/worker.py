"""A pod's worker: the shell around the core. It feeds events in, carries commands out, and brings back what came of them.

One command of a kind is in flight at a time, as the core asks for each once. Cancelled, it leaves containers running and the
checkpoint up to date: the next agent adopts them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import shutil
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from setpoint.api.types.core_v1 import Pod
from setpoint.kit import logs
from setpoint.kit.tasks import Tasks
from setpoint.node import hooks
from setpoint.node.downward import Surroundings
from setpoint.node.launching import Launcher, hostname, log_path, termination_message, termination_path
from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.core import PodCore
from setpoint.node.pod_worker.inbox import Inbox
from setpoint.node.pod_worker.status import Place
from setpoint.node.probes import Prober, Target
from setpoint.node.runtime import ContainerError, ContainerInfo, ImageError, SandboxSpec, own_network
from setpoint.node.services import Services
from setpoint.node.volumes.payload import VolumeError

log = logs.get_logger("node.worker")


class PodWorker:
    """`post(event)` from anywhere on the loop; `run()` until the pod is gone."""

    def __init__(
        self, pod: Pod, services: Services, snapshot: Mapping[str, Any] | None, on_finish: Callable[[str], None]
    ) -> None:
        self.uid = pod.metadata.uid
        self.directory = services.checkpoints.directory(self.uid)
        self._services = services
        self._on_finish = on_finish
        place = Place(services.options.address)
        self.core = PodCore(pod, place, services.clock.now(), snapshot)
        self._inbox = Inbox()
        self._launcher = Launcher(services, self.directory)
        self._tasks = Tasks(f"pod {pod.metadata.namespace}/{pod.metadata.name}")
        self._probes: dict[str, list[asyncio.Task[None]]] = {}
        self._wake: asyncio.Task[None] | None = None
        self._refreshing = False

    def post(self, event: m.Event) -> None:
        """Tell the worker; after its end nothing happens."""
        self._inbox.post(event)

    async def run(self) -> None:
        services = self._services
        services.checkpoints.save_pod(self.core.pod)
        async with self._tasks:
            try:
                while not self.core.finished:
                    self._handle(await self._inbox.receive())
            finally:
                self._inbox.close()
                self._tasks.stop()
        # beside the loop: an emptyDir may hold any number of files
        remove = functools.partial(shutil.rmtree, self.directory, ignore_errors=True)
        await asyncio.get_running_loop().run_in_executor(None, remove)
        self._on_finish(self.uid)

    # -- the loop

    def _handle(self, event: m.Event) -> None:
        if isinstance(event, m.PodChanged) and _differs(self._pod, event.pod):
            self._services.checkpoints.save_pod(event.pod)
        now = self._services.clock.now()
        commands = self.core.handle(event, now)
        if not self.core.finished:
            # written before anything is done: an attempt that was started is never forgotten
            self._services.checkpoints.save_state(self.uid, self.core.snapshot())
        wake: float | None = None
        for command in commands:
            if isinstance(command, m.WakeAt):
                wake = command.when if wake is None else min(wake, command.when)
            else:
                self._DO[type(command)](self, command)
        self._wake_at(wake)
        if isinstance(event, m.PodChanged):
            self._services.statuses.seen(event.pod)
        if isinstance(event, m.Adopted):
            self.refresh_volumes()  # its sources are watched again from here on

    def _wake_at(self, when: float | None) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if when is None or self._inbox.closed:
            return

        async def wake() -> None:
            await self._services.clock.sleep(max(0.0, when - self._services.clock.now()))
            self.post(m.Tick())

        self._wake = self._tasks.start("wake", wake())

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.start(name, work)

    @property
    def _pod(self) -> Pod:
        return self.core.pod

    @property
    def has_own_network(self) -> bool:
        """Whether its ports and its loopback are its own; known once it has an address."""
        return not self._pod.spec.host_network and any(own_network(address) for address in self.core.addresses[:1])

    def _around(self) -> Surroundings:
        services = self._services
        user = services.runtime.user_of(self.uid, self.directory)
        return Surroundings(services.options.address, self.core.addresses, services.allocatable(), user)

    # -- commands

    def _report(self, _: m.Report) -> None:
        meta = self._pod.metadata
        if not self.core.gone:
            self._services.statuses.set(self.uid, meta.namespace, meta.name, self.core.status())

    def _record(self, command: m.Record) -> None:
        path = ""
        if command.container:
            track = self.core.track(command.container)
            kind = "initContainers" if track.init else "ephemeralContainers" if track.ephemeral else "containers"
            path = f"spec.{kind}{{{command.container}}}"
        self._services.recorder.event(self._pod, command.kind, command.reason, command.message, field_path=path)

    def _prepare_volumes(self, _: m.PrepareVolumes) -> None:
        async def prepare() -> None:
            try:
                self._launcher.volumes = await self._services.volumes.prepare(self._pod, self.directory, self._around())
            except VolumeError as error:
                self.post(m.VolumesFailed(str(error)))
            else:
                self.post(m.VolumesReady())

        self._start("volumes", prepare())

    def refresh_volumes(self) -> None:
        """Something that the volumes show has changed; files are brought up to date behind the containers' backs."""
        if self._refreshing or self.core.volumes != "ready" or self._inbox.closed:
            return
        self._refreshing = True

        async def refresh() -> None:
            try:
                self._launcher.volumes = await self._services.volumes.prepare(self._pod, self.directory, self._around())
            except VolumeError as error:
                self._services.recorder.event(self._pod, "Warning", "FailedMount", str(error))
            finally:
                self._refreshing = False

        self._start("refresh volumes", refresh())

    def _run_sandbox(self, _: m.RunSandbox) -> None:
        spec = self.sandbox_spec()

        async def run() -> None:
            try:
                sandbox = await self._services.runtime.run_sandbox(spec)
            except (OSError, RuntimeError) as error:
                self.post(m.SandboxFailed(str(error)))
            else:
                self.post(m.SandboxReady(sandbox.addresses))
                if (warning := self._services.warning()) and self._pod.spec.volumes:
                    self._record(m.Record("Warning", "NoIsolation", warning))

        self._start("sandbox", run())

    def sandbox_spec(self) -> SandboxSpec:
        pod = self._pod
        return SandboxSpec(
            pod_uid=self.uid,
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            directory=self.directory,
            hostname=hostname(pod),
            host_network=pod.spec.host_network,
            address=self.core.addresses[0] if self.core.addresses else pod.status.pod_ip,
        )

    def _start_container(self, command: m.StartContainer) -> None:
        self._start(f"start {command.name}", self._launch(command))

    async def _launch(self, command: m.StartContainer) -> None:
        services, container = self._services, self.core.track(command.name).spec
        try:
            image = services.runtime.resolve_image(container.image, container.command, container.args)
            around = self._around()
            if not self._launcher.volumes and self._pod.spec.volumes:
                self._launcher.volumes = await services.volumes.prepare(self._pod, self.directory, around)
            spec, complaints = await self._launcher.spec(self._pod, container, command.id, command.attempt, image, around)
            for complaint in complaints:
                services.recorder.event(self._pod, "Warning", "InvalidEnvironmentVariableNames", complaint)
            info = await services.runtime.start_container(self.uid, spec)
        except (ImageError, ContainerError) as error:
            self.post(m.StartFailed(command.name, error.reason, error.message))
        except (VolumeError, OSError, LookupError) as error:
            self.post(m.StartFailed(command.name, "CreateContainerError", str(error)))
        else:
            self.post(m.Started(info))

    def _signal(self, command: m.Signal) -> None:
        self._start(f"signal {command.name}", self._services.runtime.signal_container(self.uid, command.id, command.number))

    def _run_hook(self, command: m.RunHook) -> None:
        async def hook() -> None:
            services, container = self._services, self.core.track(command.name).spec
            error = await hooks.run(
                command,
                container,
                pod_uid=self.uid,
                address=self.core.addresses[0] if self.core.addresses else services.options.address,
                runtime=services.runtime,
                http=services.http,
                clock=services.clock,
            )
            self.post(m.HookFinished(command.name, command.id, command.hook, error))

        self._start(f"{command.hook} {command.name}", hook())

    def _start_probes(self, command: m.StartProbes) -> None:
        services, track = self._services, self.core.track(command.name)
        address = self.core.addresses[0] if self.core.addresses else services.options.address
        target = Target(self.uid, track.spec, command.id, address, track.started_at, not self.has_own_network)
        prober = Prober(
            target,
            services.runtime,
            services.http,
            services.clock,
            lambda kind, ok: self.post(m.Probed(command.name, command.id, kind, ok)),
            lambda text: self._record(m.Record("Warning", "Unhealthy", text, command.name)),
        )
        self._probes[command.id] = prober.run(self._tasks, started=command.started)

    def _stop_probes(self, command: m.StopProbes) -> None:
        for task in self._probes.pop(command.id, ()):
            task.cancel()

    def _remove_container(self, command: m.RemoveContainer) -> None:
        async def remove() -> None:
            await self._services.runtime.remove_container(self.uid, command.id)
            path = log_path(self.directory, command.name, command.attempt)
            rotated = [f"{path}.{number}" for number in range(1, 5)]
            for file in (path, *rotated, termination_path(self.directory, command.name, command.attempt)):
                with contextlib.suppress(OSError):
                    os.unlink(file)

        self._start(f"remove {command.name}", remove())

    def _stop_sandbox(self, _: m.StopSandbox) -> None:
        async def stop() -> None:
            await self._services.runtime.stop_sandbox(self.uid, self.directory)
            self.post(m.SandboxStopped())

        self._start("stop sandbox", stop())

    def _delete_pod(self, _: m.DeletePod) -> None:
        meta = self._pod.metadata
        self._services.statuses.delete(self.uid, meta.namespace, meta.name)

    def _finish(self, _: m.Finish) -> None:
        self._services.statuses.forget(self.uid)
        self._services.volumes.forget(self.uid)
        self._services.checkpoints.remove(self.uid)

    _DO: Mapping[type, Callable[[Any, Any], None]] = {
        m.Report: _report,
        m.Record: _record,
        m.PrepareVolumes: _prepare_volumes,
        m.RunSandbox: _run_sandbox,
        m.StartContainer: _start_container,
        m.Signal: _signal,
        m.RunHook: _run_hook,
        m.StartProbes: _start_probes,
        m.StopProbes: _stop_probes,
        m.RemoveContainer: _remove_container,
        m.StopSandbox: _stop_sandbox,
        m.DeletePod: _delete_pod,
        m.Finish: _finish,
    }

    # -- what the runtime tells

    def exited(self, info: ContainerInfo) -> None:
        """A container ended; its termination message is read here, once."""
        try:
            container = self.core.track(info.name).spec
        except StopIteration:
            return
        message = termination_message(self.directory, container, info.attempt, info.exit_code or 0, info.log)
        self.post(m.Exited(info, message))


def _differs(old: Pod, new: Pod) -> bool:
    """Whether a change is worth writing down: the status is not, it is the node's own."""
    before, after = old.metadata, new.metadata
    return (
        old.spec != new.spec
        or (before.labels, before.annotations) != (after.labels, after.annotations)
        or (before.deletion_timestamp, before.deletion_grace_period_seconds)
        != (after.deletion_timestamp, after.deletion_grace_period_seconds)
    )
