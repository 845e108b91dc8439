"""The scheduler: informers fill the queue, cycles take from it, bindings and refusals are written beside them.

One loop runs the cycles, each a synchronous slice; what has to be written goes through a bounded number of tasks (`writes`). A
pod that was given a node is assumed to be there until the server says otherwise. Nothing is kept that a restart would miss: the
queue is whatever pods have no node.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from functools import partial
from time import perf_counter

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NODES, PODS, Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.events import EventRecorder, Recorder
from setpoint.client.factory import InformerFactory
from setpoint.client.settled import Activity, combined
from setpoint.client.transport import TransportError
from setpoint.kit import logs, metrics
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.scheduler import conditions
from setpoint.scheduler.board import Budget, Unfinished
from setpoint.scheduler.config import DEFAULT_CONFIG, SchedulerConfig
from setpoint.scheduler.cycle import MOST_SLICES, Cycle, CycleError, NoFit, Placement
from setpoint.scheduler.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from setpoint.scheduler.eviction import Evictor
from setpoint.scheduler.extender import Extender, ExtenderError, run_extended
from setpoint.scheduler.framework import Handle, Victims
from setpoint.scheduler.listers import InformerListers
from setpoint.scheduler.nominator import Nominator
from setpoint.scheduler.pods import PodInfo, pod_key, priority
from setpoint.scheduler.profile import Profile
from setpoint.scheduler.queue import Place, QueuedPod, SchedulingQueue
from setpoint.scheduler.registry import PLUGINS, Registry
from setpoint.scheduler.snapshot import Snapshot
from setpoint.scheduler.status import Status, failed, refused_by_the_chosen
from setpoint.scheduler.waiting_pods import WaitingPods
from setpoint.scheduler.watching import UNFINISHED, Watching
from setpoint.scheduler.writes import Writes

log = logs.get_logger("scheduler")
ATTEMPTS = metrics.counter("scheduler_schedule_attempts", "Attempts to schedule pods, by the result.", ("result", "profile"))

IDLE_SECONDS = 3600.0
SLICE_SECONDS = 0.002  # of cycles, before others have their turn


class _Framework(Struct, frozen=True):
    """One profile at work."""

    profile: Profile
    cycle: Cycle
    recorder: EventRecorder


class Scheduler:
    """Wired in the constructor; `run()` starts it and ends when cancelled: pods whose binding is under way may get it or not."""

    name = "kube-scheduler"

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        config: SchedulerConfig = DEFAULT_CONFIG,
        *,
        plugins: Registry = PLUGINS,
        recorder: EventRecorder | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._recorders = [] if recorder else [Recorder(client, name, clock, series=True) for name in config.names]
        recorders = [recorder] * len(config.profiles) if recorder else self._recorders
        self.informers = InformerFactory(client, clock)
        self.snapshot = Snapshot()
        self.nominator = Nominator(self.snapshot.touch)
        self.waiting_pods = WaitingPods(clock)
        self._evictor = Evictor(client, clock)
        rng = rng or random.Random()  # noqa: S311 - a lot among equals
        listers = InformerListers(self.informers)
        self._wake = asyncio.Event()
        self._writes = Writes(self._wake.set)
        self._schedulers: dict[str, _Framework] = {}
        for profile, events in zip(config.profiles, recorders, strict=True):
            handle = Handle(
                client, clock, self.snapshot, self.nominator, events, rng, listers, self.waiting_pods, self._writes.later
            )
            made = Profile(handle, profile, plugins)
            cycle = Cycle(made, self.snapshot, self.nominator, rng)
            self._schedulers[profile.scheduler_name] = _Framework(made, cycle, events)
        self.profile = self._schedulers[config.profiles[0].scheduler_name].profile
        self.queue = SchedulingQueue(self._pre_enqueue, self.profile.sort_key, self._registered(), config.backoff, self._awaits)
        self._extenders = [Extender(each) for each in config.extenders]
        watching = Watching(self.queue, self.snapshot, self.nominator, clock, self._is_ours, self._wake.set)
        self.informers.of(NODES).on_change(watching.node_changed)
        self.informers.of(PODS, field_selector=UNFINISHED).on_change(watching.pod_changed)
        listers.report(watching.other_changed)

    def _registered(self) -> dict[str, Sequence[ClusterEventWithHint]]:
        return {name: found for each in self._schedulers.values() for name, found in each.profile.events_to_register.items()}

    def _pre_enqueue(self, pod: Pod) -> Status | None:
        return self._schedulers[pod.spec.scheduler_name].profile.pre_enqueue(pod)

    def _awaits(self, queued: QueuedPod) -> bool:
        """Whether any of the pod's victims is neither gone nor on its way out yet."""
        victims = queued.victims
        if victims is None:
            return False
        node = self.snapshot.get(victims.node)
        there = node.pods if node is not None else {}
        if any(_stands(victim, there.get(pod_key(victim))) for victim in victims.pods):
            return True
        queued.victims = None
        return False

    def _is_ours(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self._schedulers

    def _framework(self, pod: Pod) -> _Framework:
        return self._schedulers[pod.spec.scheduler_name]

    async def run(self) -> None:
        """Schedule until cancelled."""
        async with Tasks("scheduler") as tasks:
            await self.informers.run(tasks)
            for recorder in self._recorders:
                tasks.loop("events", recorder.run, clock=self._clock)
            await self.informers.wait_synced()
            tasks.loop("cycles", lambda: self.cycles(tasks), clock=self._clock)

    async def wait_synced(self) -> None:
        await self.informers.wait_synced()

    def activity(self) -> Activity:
        """Waiting (refused) pods hold nothing up; those that back off do."""
        counts = self.queue.counts()
        mine = Activity(counts[Place.ACTIVE], self._writes.under_way + counts[Place.IN_FLIGHT], counts[Place.BACKOFF], None)
        return combined((self.informers.activity(), *(each.activity() for each in self._recorders), mine))

    # ---- cycles

    async def cycles(self, tasks: Tasks) -> None:
        """Pods of the queue one after the other, for ever; whatever the pods, no slice of work is long."""
        until = perf_counter() + SLICE_SECONDS
        while True:
            queued = self.queue.pop(self._clock.monotonic()) if not self._writes.full else None
            if queued is None:
                await self._until_woken()
            else:
                await self._attempt(tasks, queued)
                if perf_counter() < until:
                    continue
                await asyncio.sleep(0)
            until = perf_counter() + SLICE_SECONDS

    async def _until_woken(self) -> None:
        self._wake.clear()
        due = self.queue.due()
        # With all writes under way, only the end of one matters.
        full = due is None or self._writes.full
        seconds = IDLE_SECONDS if full or due is None else due - self._clock.monotonic()
        await self._clock.wait(self._wake, max(seconds, 0.001))

    async def _attempt(self, tasks: Tasks, queued: QueuedPod) -> None:
        """One cycle for one pod, in as many slices as it takes; what is to be written about it becomes a task.

        A pod that went between two slices is not in flight any more: for it nobody is evicted, and it is promised nothing.
        """
        pod = queued.pod
        if pod.metadata.deletion_timestamp is not None:
            self.queue.done(queued.key)
            message = f"skip schedule deleting pod: {pod.metadata.namespace}/{pod.metadata.name}"
            self._framework(pod).recorder.event(pod, "Warning", "FailedScheduling", message, action="Scheduling")
            return
        try:
            placement = await self._cycle(queued)
        except NoFit as refusal:
            if queued.place is Place.IN_FLIGHT:
                self._refused(tasks, queued, refusal)
        except (CycleError, ExtenderError) as error:
            self._broken(tasks, queued, str(error))
        except Exception as error:  # a plugin's fault: it costs its pod this attempt, and no other pod anything
            log.exception("a plugin failed", pod=queued.key)
            self._broken(tasks, queued, _words(error))
        else:
            if queued.place is Place.IN_FLIGHT:
                self._place(tasks, queued, placement)

    async def _cycle(self, queued: QueuedPod) -> Placement:
        """Raises what the cycle raises, but for Unfinished. The last slice decides, by what is known then."""
        cycle = self._framework(queued.pod).cycle
        extenders = [each for each in self._extenders if each.wants(queued.pod)]
        for number in range(MOST_SLICES + 1):
            budget = Budget(again=number > 0) if number < MOST_SLICES else Budget(1 << 60, again=True)
            self.queue.looking(queued)
            try:
                if extenders:
                    return await run_extended(cycle, queued.info, extenders, budget)
                return cycle.run(queued.info, budget)
            except Unfinished:
                await asyncio.sleep(0)
        raise CycleError("the nodes change too fast")

    def _place(self, tasks: Tasks, queued: QueuedPod, placement: Placement) -> None:
        """Assume the pod on its node and start the binding cycle."""
        self.snapshot.assume(queued.info, placement.node)
        status, held = self._reserve(queued, placement)
        if status is not None:
            self._give_back(queued, placement)
            self._not_bound(tasks, queued, status, placement.node)
            self._writes.start_later(tasks)
            return
        self._writes.start(tasks, f"bind {queued.key}", lambda: self._bind(tasks, queued, placement, held))

    def _reserve(self, queued: QueuedPod, placement: Placement) -> tuple[Status | None, float]:
        """A refusal, or for how many seconds the pod is held."""
        try:
            profile = self._framework(queued.pod).profile
            status = profile.reserve(placement.state, queued.pod, placement.node)
            return (status, 0.0) if status is not None else profile.permit(placement.state, queued.pod, placement.node)
        except Exception as error:  # as in `_attempt`
            log.exception("a plugin failed", pod=queued.key)
            return failed(_words(error)), 0.0

    # ---- the binding cycle

    async def _bind(self, tasks: Tasks, queued: QueuedPod, placement: Placement, held: float) -> None:
        pod, node = queued.pod, placement.node
        framework = self._framework(pod)
        chosen = ""  # while the node may still refuse
        try:
            if held or framework.profile.pre_flight(placement.state, pod, node):
                await self._announce(queued, node)
            status = await self._held(queued, held) if held else None
            chosen = node if status is not None else ""
            if status is None and _waits_before_binding(queued):
                status = await self._writes.without_place(framework.profile.pre_bind(placement.state, pod, node))
            status = status or await self._bind_by(queued, placement)
        except Exception as error:  # as in `_attempt`; a pod that stayed assumed would take room for ever
            log.exception("a plugin failed", pod=queued.key)
            status = failed(_words(error))
        if status is not None:
            self._give_back(queued, placement)
            await self._writes.do_later()
            self._not_bound(tasks, queued, status, chosen)
            return
        ATTEMPTS.labels("scheduled", framework.profile.name).inc()
        self.nominator.drop(queued.key)
        self.queue.done(queued.key)
        framework.profile.post_bind(placement.state, pod, node)
        message = f"Successfully assigned {pod.metadata.namespace}/{pod.metadata.name} to {node}"
        framework.recorder.event(pod, "Normal", "Scheduled", message, action="Binding")

    async def _announce(self, queued: QueuedPod, node: str) -> None:
        """Others shall know of the pod's node when it takes a while to get there; the binding takes the note away (KEP-5278)."""
        pod, queued.promised = queued.pod, node
        if node != pod.status.nominated_node_name:
            try:
                await self._evictor.patch_status(pod, conditions.nominated(pod, node))
            except (StatusError, TransportError) as error:
                log.info("not written", what=f"node of {queued.key}", error=str(error))

    async def _held(self, queued: QueuedPod, held: float) -> Status | None:
        return await self._writes.without_place(self.waiting_pods.hold(queued.key, held))

    async def _bind_by(self, queued: QueuedPod, placement: Placement) -> Status | None:
        pod, node, profile = queued.pod, placement.node, self._framework(queued.pod).profile
        if not _waits_before_binding(queued):
            status = await profile.pre_bind(placement.state, pod, node)
            if status is not None:
                return status
        for extender in self._extenders:
            if extender.binds and extender.wants(pod):
                return await extender.bind(pod, node)
        return await profile.bind(placement.state, pod, node)

    def _give_back(self, queued: QueuedPod, placement: Placement) -> None:
        """The pod does not get to its node: what it took there is free for others."""
        self._framework(queued.pod).profile.unreserve(placement.state, queued.pod, placement.node)
        self.snapshot.forget(queued.info)
        freed = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE, queued.pod, None)
        self.queue.happened(freed, self._clock.monotonic())

    def _not_bound(self, tasks: Tasks, queued: QueuedPod, status: Status, node: str = "") -> None:
        """`node` is the one that refused the pod, if it was not the binding itself that failed."""
        if not status.rejected:
            self._broken(tasks, queued, status.message)
            return
        self.queue.fail(queued, self._clock.monotonic(), [status.plugin])
        self._tell(tasks, queued, conditions.UNSCHEDULABLE, refused_by_the_chosen(node, status) if node else status.message)

    # ---- refusals

    def _refused(self, tasks: Tasks, queued: QueuedPod, refusal: NoFit) -> None:
        ATTEMPTS.labels("unschedulable", queued.pod.spec.scheduler_name).inc()
        diagnosis, queued.victims = refusal.diagnosis, refusal.victims
        self.queue.fail(queued, self._clock.monotonic(), diagnosis.plugins, diagnosis.pending_plugins)
        self._tell(tasks, queued, conditions.UNSCHEDULABLE, str(refusal), refusal.nominated)
        self._writes.start_later(tasks)
        if refusal.victims is not None:
            victims = refusal.victims
            self._take_promises_back(tasks, queued, victims.node)
            self._writes.start(tasks, f"preempt for {queued.key}", lambda: self._make_room(queued, victims))

    def _take_promises_back(self, tasks: Tasks, queued: QueuedPod, node: str) -> None:
        """Less important pods that were promised the node have to look again."""
        mine = priority(queued.pod)
        for info in self.nominator.on(node):
            if priority(info.pod) < mine and info.key != queued.key:
                self.nominator.drop(info.key)
                patch = conditions.not_nominated(info.pod)
                self._writes.start(tasks, f"promise of {info.key}", partial(self._evictor.patch_status, info.pod, patch))

    def _broken(self, tasks: Tasks, queued: QueuedPod, message: str) -> None:
        """Nobody refused the pod: try again after a while."""
        ATTEMPTS.labels("error", queued.pod.spec.scheduler_name).inc()
        log.warning("scheduling failed", pod=f"{queued.pod.metadata.namespace}/{queued.pod.metadata.name}", error=message)
        if queued.place is Place.IN_FLIGHT:
            self.queue.fail(queued, self._clock.monotonic())
            self._tell(tasks, queued, conditions.SCHEDULER_ERROR, message)

    def _tell(self, tasks: Tasks, queued: QueuedPod, reason: str, message: str, promise: str | None = "") -> None:
        """The user learns of it by an event and by the pod's condition. `promise` is as in NoFit."""
        pod = queued.pod
        self._framework(pod).recorder.event(
            pod, "Warning", "FailedScheduling", conditions.shortened(message), action="Scheduling"
        )
        if promise is not None and not self._promise(queued, promise):
            promise = None
        patch = conditions.not_scheduled(pod, reason, message, promise, self._clock.now())
        if patch is not None:
            self._writes.start(tasks, f"status of {queued.key}", lambda: self._evictor.patch_status(pod, patch))

    def _promise(self, queued: QueuedPod, node: str) -> bool:
        """Promise the pod `node`, or nothing. Whether its status has to say so."""
        known, written = queued.pod.status.nominated_node_name, queued.promised
        queued.promised = node
        if node:
            self.nominator.nominate(queued.info, node)
            return node != known
        self.nominator.drop(queued.key)
        return bool(known or written)

    async def _make_room(self, queued: QueuedPod, victims: Victims) -> None:
        """What goes wrong with one victim lets the pod look again."""
        try:
            await self._evictor.make_room(queued.pod, victims, self._framework(queued.pod).recorder)
        except (StatusError, TransportError):
            self.queue.again(queued, self._clock.monotonic())
            raise


def _waits_before_binding(queued: QueuedPod) -> bool:
    """It may take long until its volumes or devices are there."""
    return bool(queued.info.claims or queued.pod.spec.resource_claims)


def _stands(victim: Pod, known: PodInfo | None) -> bool:
    """Whether a victim is where it was, as far as is known."""
    return known is not None and known.pod.metadata.uid == victim.metadata.uid and not known.pod.metadata.deletion_timestamp


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
