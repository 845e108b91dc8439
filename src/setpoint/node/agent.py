"""The node agent: the loop of one node.

It watches the pods bound to its node, keeps a worker for each, and tells the API server of the node and its pods. What runs
here does not depend on the API server: workers begin from the checkpoint.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, SERVICES, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.events import Recorder
from setpoint.client.informer import Informer
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.node.checkpoint import Checkpoints
from setpoint.node.environment import api_server_environment, service_environment
from setpoint.node.handlers import Http
from setpoint.node.heartbeat import Heartbeat, report_for_ever
from setpoint.node.options import AgentOptions
from setpoint.node.pod_worker import messages as m
from setpoint.node.registration import Registration, allocatable, capacity
from setpoint.node.runtime import ContainerInfo, Description, FoundSandbox, Runtime
from setpoint.node.services import EventSink, Services
from setpoint.node.sources import Sources, SourceUnavailable
from setpoint.node.status_manager import StatusManager
from setpoint.node.volumes.manager import Volumes
from setpoint.node.volumes.tokens import Tokens
from setpoint.node.worker import PodWorker

if TYPE_CHECKING:
    from setpoint.node.runtimes.process.template import Template

log = logs.get_logger("node.agent")
_STATUS_SENDERS = 4
_REGISTER_RETRY = 0.5
_WORKER_RETRY = 1.0
_REFRESH = 60.0
_PATIENCE = 5.0  # seconds for the API server to say what became of pods while this agent was away


class Agent:
    """One node. `run()` until cancelled; what cancellation leaves behind is in AgentOptions.

    Without a `runtime` containers are processes; without a `recorder` the agent has one of its own.
    """

    def __init__(
        self,
        options: AgentOptions,
        client: ClientProtocol,
        clock: Clock,
        runtime: Runtime | None = None,
        recorder: EventSink | None = None,
    ) -> None:
        self.name = f"node {options.name}"
        self.options = options
        self.registered = asyncio.Event()
        self._client = client
        self._clock = clock
        self._runtime = runtime or process_runtime(options)
        self._own_recorder = Recorder(client, "kubelet", clock, host=options.name) if recorder is None else None
        self._recorder: EventSink = recorder or self._own_recorder  # type: ignore[assignment]  # one of them is there
        self._tasks = Tasks(self.name)
        self._workers: dict[str, PodWorker] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._early: list[ContainerInfo] = []  # ends that were told before their pod had a worker
        self._by_name: dict[str, str] = {}
        self._allocatable: Mapping[str, str] = {}
        self._isolation = Description("", "")
        self._informer: Informer[Pod] = Informer(client, PODS, clock, field_selector=f"spec.nodeName={options.name}")
        self._service_informer = Informer(client, SERVICES, clock)
        self._statuses = StatusManager(client, clock)
        self._http = Http()
        self.services: Services
        self.port = 0

    # -- life

    async def run(self) -> None:
        """Adopt what runs, register, work. Raises only at the start (a directory that cannot be written, a port in use)."""
        self.options.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._isolation, self._allocatable = await asyncio.gather(self._start_runtime(), self._figures())
        try:
            async with self._tasks:
                try:
                    await self._work()
                finally:
                    await self._stop_pods()
                    self._tasks.stop()
        finally:
            await self._http.close()
            await self._runtime.close()

    async def _start_runtime(self) -> Description:
        self._runtime.on_exit = self._exited
        self._runtime.on_sandbox_lost = self._sandbox_lost
        return await self._runtime.start()

    async def _figures(self) -> Mapping[str, str]:
        return allocatable(capacity(self.options))

    async def _work(self) -> None:
        tasks, clock = self._tasks, self._clock
        sources = Sources(self._client, clock, tasks)
        sources.on_change = self._source_changed
        self.services = Services(
            options=self.options,
            clock=clock,
            runtime=self._runtime,
            recorder=self._recorder,
            checkpoints=Checkpoints(self.options.directory),
            sources=sources,
            volumes=Volumes(sources, Tokens(self._client, clock)),
            statuses=self._statuses,
            http=self._http,
            service_environment=self._service_environment,
            allocatable=lambda: self._allocatable,
            warning=lambda: self._isolation.warning,
        )
        self._statuses.on_gone = self._gone
        if self._own_recorder is not None:
            tasks.loop("events", self._own_recorder.run, clock=clock)
        await self._adopt()
        await self._serve()
        self._informer.on_change(self._pod_changed)
        tasks.loop("services", self._service_informer.run, clock=clock)
        tasks.loop("pods", self._informer.run, clock=clock)
        tasks.start("compare", self._compare_with_api())
        for number in range(_STATUS_SENDERS):
            tasks.loop(f"status {number}", self._statuses.run, clock=clock)
        tasks.loop("refresh", self._refresh_volumes, clock=clock)
        tasks.loop("pods' network", functools.partial(self._runtime.serve, clock), clock=clock)
        await self._register()
        await asyncio.Event().wait()

    async def _serve(self) -> None:
        """Open the kubelet-shaped port, where the options give it a certificate."""
        if self.options.serving_certificate is None:
            return
        from setpoint.node.server.port import NodeServer

        server = NodeServer(self, self.options)
        self.port = await server.start()
        self._tasks.start("server", server.run())

    async def _register(self) -> None:
        registration = Registration(self._client, self.options, self._clock, self._isolation, self.port)
        while True:
            try:
                node = await registration.register()
                break
            except (StatusError, TransportError) as error:
                log.debug("not registered yet", error=str(error))
                await self._clock.sleep(_REGISTER_RETRY)
        heartbeat = Heartbeat(self._client, self.options, self._clock, node.metadata.uid)
        self._tasks.loop("lease", heartbeat.beat_for_ever, clock=self._clock)
        self._tasks.loop("node status", lambda: report_for_ever(registration, self.options, self._clock), clock=self._clock)
        self._recorder.event(node, "Normal", "Starting", "Starting kubelet.")
        if self._isolation.warning:
            self._recorder.event(node, "Warning", "NoIsolation", self._isolation.warning)
        for reason, message in self._isolation.complaints.items():
            self._recorder.event(node, "Warning", reason, message)
        self.registered.set()

    async def _stop_pods(self) -> None:
        """An orderly end: containers get the stop signal, then SIGKILL; the checkpoint remembers that they were meant to run."""
        workers, running = [*self._workers.values()], [*self._running.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self.options.stop_pods and workers:
            from setpoint.node.shutdown import stop_containers

            await stop_containers(self._runtime, workers, self._clock, self.options.stop_seconds)

    # -- pods

    async def _adopt(self) -> None:
        """Make workers for the pods of the checkpoint, and tell each what of it still runs."""
        checkpoints = self.services.checkpoints
        checkpoints.sweep()
        known = {uid: loaded for uid in checkpoints.uids() if (loaded := checkpoints.load(uid)) is not None}
        for sandbox in await self._runtime.find({uid: checkpoints.directory(uid) for uid in known}):
            await self._resume(self._worker(*known[sandbox.pod_uid]), sandbox)

    async def _resume(self, worker: PodWorker, sandbox: FoundSandbox) -> None:
        if sandbox.alive:
            running = await self._runtime.run_sandbox(worker.sandbox_spec())
            worker.post(m.Adopted(alive=True, containers=sandbox.containers, addresses=running.addresses))
        else:
            self._tasks.start(f"revive {worker.uid}", self._revive(worker, sandbox))
        early, self._early = self._early, []
        for info in early:
            self._exited(info)

    async def _revive(self, worker: PodWorker, sandbox: FoundSandbox) -> None:
        """A pod of which nothing runs begins again, unless the API says first that it was deleted meanwhile."""
        await self._clock.wait(self._informer.synced, _PATIENCE)
        worker.post(m.Adopted(alive=False, containers=sandbox.containers))

    def _worker(self, pod: Pod, state: Mapping[str, object] | None) -> PodWorker:
        worker = PodWorker(pod, self.services, state, self._finished)
        self._workers[worker.uid] = worker
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        self._by_name[name] = worker.uid
        self._running[worker.uid] = self._tasks.start(f"pod {name}", self._keep(worker))
        return worker

    async def _keep(self, worker: PodWorker) -> None:
        """Run a worker; one that fails is replaced, as a new agent would do, and the node's other pods do not notice."""
        try:
            await worker.run()
        except Exception:  # the one place where a worker's errors end
            log.exception("a pod's worker failed, a new one takes over", pod=worker.uid)
            await self._clock.sleep(_WORKER_RETRY)
            await self._replace(worker.uid)

    async def _replace(self, uid: str) -> None:
        self._finished(uid)
        checkpoints = self.services.checkpoints
        loaded = checkpoints.load(uid)
        if loaded is None:
            return
        pod, state = loaded
        fresh = self._worker(pod, state)
        if (current := self._informer.store.get(f"{pod.metadata.namespace}/{pod.metadata.name}")) is not None:
            fresh.post(m.PodChanged(current) if current.metadata.uid == uid else m.PodGone())
        for sandbox in await self._runtime.find({uid: checkpoints.directory(uid)}):
            await self._resume(fresh, sandbox)

    def _pod_changed(self, kind: str, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None  # noqa: S101  # a change has at least one state
            self._gone(old.metadata.uid)
            return
        if old is not None and old.metadata.uid != new.metadata.uid:
            self._gone(old.metadata.uid)
        worker = self._workers.get(new.metadata.uid)
        if worker is None:
            worker = self._worker(new, None)
        worker.post(m.PodChanged(new))
        if old is not None and (old.metadata.labels, old.metadata.annotations) != (new.metadata.labels, new.metadata.annotations):
            worker.refresh_volumes()

    async def _compare_with_api(self) -> None:
        """After the first list: what the checkpoint has and the API has not is gone."""
        await self._informer.synced.wait()
        present = {pod.metadata.uid for pod in self._informer.store.list()}
        for uid in [uid for uid in self._workers if uid not in present]:
            self._gone(uid)

    def _gone(self, uid: str) -> None:
        worker = self._workers.get(uid)
        if worker is not None:
            worker.post(m.PodGone())

    def _finished(self, uid: str) -> None:
        self._workers.pop(uid, None)
        self._running.pop(uid, None)
        for name in [name for name, holder in self._by_name.items() if holder == uid]:
            del self._by_name[name]

    # -- what the runtime and the sources tell

    def _exited(self, info: ContainerInfo) -> None:
        worker = self._workers.get(info.pod_uid)
        if worker is not None:
            worker.exited(info)
        else:
            self._early.append(info)

    def _sandbox_lost(self, pod_uid: str) -> None:
        worker = self._workers.get(pod_uid)
        if worker is not None:
            worker.post(m.SandboxLost())

    def _source_changed(self, pod_uid: str) -> None:
        worker = self._workers.get(pod_uid)
        if worker is not None:
            worker.refresh_volumes()

    async def _refresh_volumes(self) -> None:
        """Tokens grow old without telling."""
        while True:
            await self._clock.sleep(_REFRESH)
            for uid, worker in list(self._workers.items()):
                due = self.services.volumes.next_refresh(uid)
                if due is not None and due <= self._clock.now():
                    worker.refresh_volumes()

    async def _service_environment(self, pod: Pod) -> Mapping[str, str]:
        """What tells containers of Services; raises SourceUnavailable before they were read once: a container that was started
        without would never learn of them.
        """
        if not await self._clock.wait(self._service_informer.synced, _PATIENCE):
            raise SourceUnavailable("services have not yet been read at least once, cannot construct envs")
        links = pod.spec.enable_service_links is not False
        values = service_environment(self._service_informer.store.list(), pod.metadata.namespace, links=links)
        worker = self._workers.get(pod.metadata.uid)
        if worker is not None and worker.has_own_network:
            values |= api_server_environment(self.options.service_host, self.options.service_port)
        elif self.options.api_host:
            values |= api_server_environment(self.options.api_host, self.options.api_port)
        return values

    # -- what the server asks

    def pods(self) -> list[PodWorker]:
        return [*self._workers.values()]

    def find_pod(self, namespace: str, name: str, uid: str = "") -> PodWorker | None:
        """The worker of a pod by name (and uid)."""
        found = self._workers.get(uid or self._by_name.get(f"{namespace}/{name}", ""))
        if found is None or (found.core.pod.metadata.namespace, found.core.pod.metadata.name) != (namespace, name):
            return None
        return found

    @property
    def runtime(self) -> Runtime:
        return self._runtime

    @property
    def clock(self) -> Clock:
        return self._clock


def process_runtime(options: AgentOptions, template: Template | None = None) -> Runtime:
    """Containers as processes of this host."""
    from setpoint.node.runtimes.process.rights import Settings
    from setpoint.node.runtimes.process.runtime import ProcessRuntime

    settings = Settings(
        directory=str(options.directory),
        network=options.pod_network,
        users=options.pod_users,
        cgroups=options.cgroups,
        max_pids=options.max_pids,
        api=(options.api_host, options.api_port),
        service=(options.service_host, options.service_port),
    )
    return ProcessRuntime(
        host_address=options.address,
        cidr=options.pod_cidr,
        isolation=options.isolation,
        template=template,
        settings=settings,
    )
