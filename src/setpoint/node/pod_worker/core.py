"""The core of a pod's worker: what to do next, from everything that happened so far.

After each event `_advance` looks at the whole state and decides; no step remembers where an earlier one stopped. What is in
flight (a start, a hook, a volume being prepared) is a mark in the state, so that it is asked for once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from setpoint.api.types.core_v1 import Pod
from setpoint.node.pod_worker import memory, starting, status, stopping
from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.status import Verdict
from setpoint.node.pod_worker.track import UNKNOWN, End, Phase, Track, lost, restarts, track_of_ephemeral, tracks_of
from setpoint.node.runtime import ContainerInfo

TERMINAL = ("Succeeded", "Failed")
_VOLUME_RETRY = 2.0
_SANDBOX_RETRY = 5.0


class PodCore:
    """One pod. `snapshot` is what an earlier agent saved of it."""

    def __init__(self, pod: Pod, place: status.Place, now: float, snapshot: Mapping[str, Any] | None = None) -> None:
        self.pod = pod
        self.place = place
        self.tracks = tracks_of(pod)
        self.start_time = now
        self.addresses: Sequence[str] = ()
        self.volumes = ""  # "", asked, ready
        self.volumes_retry = 0.0
        self.sandbox = ""  # "", asked, ready, stopping, stopped
        self.sandbox_retry = 0.0
        self.verdict: status.Verdict | None = None
        self.conditions: status.Conditions = {}
        self.was_initialized = False
        self.gone = False
        self.deleting_since = 0.0
        self.deleted = False  # DeletePod was asked for
        self.finished = False
        self.held = snapshot is not None  # nothing is decided before it is known what still runs
        self.out: list[m.Command] = []
        if snapshot is not None:
            memory.restore(self, snapshot)
        else:
            memory.inherit(self, now)

    # -- what the shell asks

    def handle(self, event: m.Event, now: float) -> list[m.Command]:
        """Take note of `event`; what to do about it, in order."""
        self.out = []
        self._take(event, now)
        if not self.finished and not self.held:
            self._advance(now)
            self._observe(now)
            self.out.append(m.Report())
        return self.out

    @property
    def phase(self) -> str:
        if self.verdict is not None:
            return "Failed"
        if self.pod.status.phase in TERMINAL:
            return self.pod.status.phase
        stopped = self.stopped and self.ending
        return status.phase_of(self.pod, self.tracks, was_initialized=self.was_initialized, stopped=stopped)

    @property
    def deleting(self) -> bool:
        return self.gone or bool(self.pod.metadata.deletion_timestamp)

    @property
    def ending(self) -> bool:
        """Nothing will be started any more."""
        return self.deleting or self.verdict is not None or self.pod.status.phase in TERMINAL

    @property
    def stopped(self) -> bool:
        return not any(track.active for track in self.tracks)

    def status(self) -> dict[str, Any]:
        """The pod's status as of the last event."""
        return status.pod_status(
            self.pod,
            self.tracks,
            self.place,
            phase=self.phase,
            addresses=self.addresses,
            conditions=self.conditions,
            start_time=self.start_time,
            verdict=self.verdict or self._told(),
        )

    def _told(self) -> Verdict | None:
        """The reason that whoever else ended the pod gave (an eviction, say)."""
        known = self.pod.status
        return Verdict(known.reason, known.message) if known.phase in TERMINAL and known.reason else None

    def track(self, name: str) -> Track:
        return next(track for track in self.tracks if track.name == name)

    def snapshot(self) -> dict[str, Any]:
        """What a later agent must know, as JSON."""
        return memory.snapshot(self)

    # -- events

    def _take(self, event: m.Event, now: float) -> None:
        handler = self._HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event, now)

    def _pod_changed(self, event: m.PodChanged, now: float) -> None:
        old, self.pod = self.pod, event.pod
        if event.pod.spec is not old.spec:
            specs = {container.name: container for container in (*event.pod.spec.init_containers, *event.pod.spec.containers)}
            for track in self.tracks:
                fresh = specs.get(track.name, track.spec)
                if fresh.image != track.spec.image and track.active:
                    message = f"Container {track.name} definition changed, will be restarted"
                    stopping.begin(self, track, now, self.grace(), message)
                track.spec = fresh
            known = {track.name for track in self.tracks}
            added = (each for each in event.pod.spec.ephemeral_containers if each.name not in known)
            self.tracks += [track_of_ephemeral(each) for each in added]

    def _pod_gone(self, event: m.PodGone, now: float) -> None:
        self.gone = True

    def _adopted(self, event: m.Adopted, now: float) -> None:
        self.held = False
        newest: dict[str, ContainerInfo] = {}
        for info in event.containers:
            if info.name not in newest or info.attempt >= newest[info.name].attempt:
                newest[info.name] = info
        self.sandbox = "ready" if event.alive else ""
        if event.alive and event.addresses:
            self.addresses = tuple(event.addresses)
        if event.alive:
            self.volumes = "ready" if newest else ""
        for track in self.tracks:
            self._adopt(track, newest.get(track.name), now)
        if not event.alive and any(track.end and track.end.reason == UNKNOWN for track in self.tracks):
            self._restart_init()

    def _adopt(self, track: Track, info: ContainerInfo | None, now: float) -> None:
        if info is None or info.attempt < track.attempt or (track.end is not None and track.end.id == info.id):
            if track.phase is Phase.STARTING:
                track.phase = Phase.WAITING  # it was asked for and never came to be
            elif track.active:
                self._lost(track, now)
            return
        known = track.id == info.id
        if not known and track.end is not None:
            track.previous, track.end = track.end, None
        track.id, track.attempt, track.image_id, track.started_at = info.id, info.attempt, info.image_id, info.started_at
        track.phase = Phase.RUNNING
        if not known:
            track.startup_ok = track.ready = False
        if info.running:
            self.out.append(m.StartProbes(track.name, track.id, started=track.started))
        elif info.lost:
            self._lost(track, now)
        else:
            self._exited(m.Exited(info), now)

    def _volumes_ready(self, event: m.VolumesReady, now: float) -> None:
        self.volumes = "ready"

    def _volumes_failed(self, event: m.VolumesFailed, now: float) -> None:
        self.volumes = ""
        self.volumes_retry = now + _VOLUME_RETRY
        self.out.append(m.Record("Warning", "FailedMount", event.message))

    def _sandbox_ready(self, event: m.SandboxReady, now: float) -> None:
        self.sandbox = "ready"
        self.addresses = tuple(event.addresses)

    def _sandbox_failed(self, event: m.SandboxFailed, now: float) -> None:
        self.sandbox = ""
        self.sandbox_retry = now + _SANDBOX_RETRY
        self.out.append(m.Record("Warning", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {event.message}"))

    def _sandbox_lost(self, event: m.SandboxLost, now: float) -> None:
        if self.sandbox in ("stopping", "stopped"):
            return
        self.sandbox = ""
        for track in self.tracks:
            if track.active:
                self._lost(track, now)
        if not self.ending:
            self.out.append(m.Record("Normal", "SandboxChanged", "Pod sandbox changed, it will be killed and re-created."))
            self._restart_init()

    def _restart_init(self) -> None:
        """A new sandbox begins with the init containers again."""
        self.was_initialized = False
        for track in self.tracks:
            if track.init and not track.sidecar and track.phase is Phase.ENDED and track.succeeded:
                self._again(track)

    def _sandbox_stopped(self, event: m.SandboxStopped, now: float) -> None:
        self.sandbox = "stopped"

    def _started(self, event: m.Started, now: float) -> None:
        track = self.track(event.info.name)
        if track.phase is not Phase.STARTING or track.id != event.info.id:
            return
        track.phase = Phase.RUNNING
        track.id, track.image_id, track.started_at = event.info.id, event.info.image_id, event.info.started_at
        if track.end is not None:
            track.previous, track.end = track.end, None
        track.waiting_reason = track.waiting_message = ""
        track.startup_ok = track.ready = False
        track.image.seconds = 0.0
        image = f'Container image "{track.spec.image}" already present on machine and can be accessed by the pod'
        self.out += [
            m.Record("Normal", "Pulled", image, track.name),
            m.Record("Normal", "Created", "Container created", track.name),
            m.Record("Normal", "Started", "Container started", track.name),
        ]
        lifecycle = track.spec.lifecycle
        if lifecycle is not None and lifecycle.post_start is not None:
            track.post_start = True
            self.out.append(m.RunHook(track.name, track.id, m.POST_START, float("inf")))
        self.out.append(m.StartProbes(track.name, track.id))

    def _start_failed(self, event: m.StartFailed, now: float) -> None:
        starting.failed(self, self.track(event.name), event, now)

    def _exited(self, event: m.Exited, now: float) -> None:
        info = event.info
        track = self.track(info.name)
        if track.id != info.id or not track.active:
            return
        if track.phase is Phase.STARTING:  # it ended so fast that its end came before the answer to its start
            self._started(m.Started(info), now)
        code = info.exit_code if info.exit_code is not None else 137
        reason = "OOMKilled" if info.oom_killed else "Completed" if code == 0 else "Error"
        end = End(info.id, code, reason, event.message, info.started_at, info.finished_at or now, info.signal)
        self._end(track, end)

    def _lost(self, track: Track, now: float) -> None:
        self._end(track, lost(track.id, track.started_at, now))

    def _end(self, track: Track, end: End) -> None:
        track.phase = Phase.ENDED
        track.end = end
        track.stop = None
        track.post_start = track.startup_ok = track.ready = False
        track.waiting_reason = track.waiting_message = ""
        self.out.append(m.StopProbes(track.name, track.id))

    def _again(self, track: Track) -> None:
        """An ended container will run once more."""
        track.phase = Phase.WAITING
        track.attempt += 1

    def _hook_finished(self, event: m.HookFinished, now: float) -> None:
        track = self.track(event.name)
        if track.id != event.id or not track.active:
            return
        if event.hook == m.PRE_STOP:
            stopping.hook_finished(self, track, event, now)
            return
        track.post_start = False
        if event.error:
            self.out.append(m.Record("Warning", "FailedPostStartHook", f"PostStartHook failed: {event.error}", track.name))
            stopping.begin(self, track, now, self.grace(), "FailedPostStartHook")

    def _probed(self, event: m.Probed, now: float) -> None:
        track = self.track(event.name)
        if track.id != event.id or not track.running:
            return
        if event.probe == m.READINESS:
            track.ready = event.ok
        elif event.probe == m.STARTUP and event.ok:
            track.startup_ok = True
        elif not event.ok and track.stop is None:
            probe = track.spec.startup_probe if event.probe == m.STARTUP else track.spec.liveness_probe
            own = probe.termination_grace_period_seconds if probe is not None else None
            grace = float(own) if own is not None else self.grace()
            stopping.begin(self, track, now, grace, f"Container {track.name} failed {event.probe} probe, will be restarted")

    _HANDLERS: Mapping[type, Callable[[Any, Any, float], None]] = {
        m.PodChanged: _pod_changed,
        m.PodGone: _pod_gone,
        m.Adopted: _adopted,
        m.VolumesReady: _volumes_ready,
        m.VolumesFailed: _volumes_failed,
        m.SandboxReady: _sandbox_ready,
        m.SandboxFailed: _sandbox_failed,
        m.SandboxLost: _sandbox_lost,
        m.SandboxStopped: _sandbox_stopped,
        m.Started: _started,
        m.StartFailed: _start_failed,
        m.Exited: _exited,
        m.HookFinished: _hook_finished,
        m.Probed: _probed,
    }

    # -- decisions

    def grace(self) -> float:
        """Seconds that a container gets to end by itself."""
        wanted = self.pod.spec.termination_grace_period_seconds
        return float(wanted) if wanted is not None else 30.0

    def _advance(self, now: float) -> None:
        self._deadline(now)
        stopping.continue_all(self, now)
        if self.ending:
            stopping.end_pod(self, now)
        elif self._done():
            self._complete(now)
        else:
            self._prepare(now)
            if self.volumes == "ready" and self.sandbox == "ready":
                starting.ephemeral(self, now)
                starting.containers(self, now)

    def _deadline(self, now: float) -> None:
        seconds = self.pod.spec.active_deadline_seconds
        if seconds is None or self.ending:
            return
        due = self.start_time + seconds
        if now < due:
            self.out.append(m.WakeAt(due))
            return
        message = "Pod was active on the node longer than the specified deadline"
        self.verdict = status.Verdict("DeadlineExceeded", message)
        self.out.append(m.Record("Normal", "DeadlineExceeded", message))

    def _prepare(self, now: float) -> None:
        """Volumes and sandbox, side by side, each until it is there."""
        if not self.volumes:
            if now >= self.volumes_retry:
                self.volumes = "asked"
                self.out.append(m.PrepareVolumes())
            else:
                self.out.append(m.WakeAt(self.volumes_retry))
        if not self.sandbox:
            if now >= self.sandbox_retry:
                self.sandbox = "asked"
                self.out.append(m.RunSandbox())
            else:
                self.out.append(m.WakeAt(self.sandbox_retry))

    def _done(self) -> bool:
        """Whether every container ended for good, or an init container failed for good."""
        if any(status.failed_for_good(self.pod, track) for track in self.tracks if track.init and not track.sidecar):
            return True
        return all(track.phase is Phase.ENDED and not restarts(self.pod, track) for track in self.tracks if track.main)

    def _complete(self, now: float) -> None:
        """Sidecars end, then the sandbox."""
        stopping.stop_in_order(self, now, self.grace())
        stopping.continue_all(self, now)
        if self.stopped and self.sandbox == "ready":
            self.sandbox = "stopping"
            self.out.append(m.StopSandbox())

    def _observe(self, now: float) -> None:
        """Bring the conditions up to date."""
        if not self.was_initialized and status.initialized(self.tracks):
            self.was_initialized = True
        sandbox = self.sandbox == "ready"
        wanted = status.conditions_of(
            self.pod, self.tracks, phase=self.phase, was_initialized=self.was_initialized, sandbox=sandbox
        )
        for kind, (value, reason, message) in wanted.items():
            old = self.conditions.get(kind)
            since = old[3] if old is not None and old[0] == value else now
            self.conditions[kind] = (value, reason, message, since)
