"""The way down: preStop hook, stop signal, patience, SIGKILL; containers first, then sidecars from the last to the first.

The hook counts against the grace period, and whoever gets the stop signal keeps at least two seconds (kubelet's
minimumGracePeriodInSeconds).
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.track import Stop, StopStage, Track

if TYPE_CHECKING:
    from setpoint.node.pod_worker.core import PodCore

MINIMUM = 2.0


def begin(core: PodCore, track: Track, now: float, grace: float, message: str) -> None:
    """Start to stop a running container, or give one that is being stopped less time."""
    if not track.running:
        return
    if track.stop is not None:
        least = 0.0 if track.stop.stage is StopStage.PRE_STOP else MINIMUM
        track.stop.kill_at = min(track.stop.kill_at, now + max(grace, least))
        return
    core.out.append(m.Record("Normal", "Killing", message, track.name))
    core.out.append(m.StopProbes(track.name, track.id))
    lifecycle = track.spec.lifecycle
    if lifecycle is not None and lifecycle.pre_stop is not None and grace > 0:
        track.stop = Stop(StopStage.PRE_STOP, now + grace)
        core.out.append(m.RunHook(track.name, track.id, m.PRE_STOP, grace))
        return
    track.stop = Stop(StopStage.PRE_STOP, now + grace)
    _terminate(core, track, now)


def hook_finished(core: PodCore, track: Track, event: m.HookFinished, now: float) -> None:
    if event.error:
        core.out.append(m.Record("Warning", "FailedPreStopHook", f"PreStopHook failed: {event.error}", track.name))
    if track.stop is not None and track.stop.stage is StopStage.PRE_STOP:
        _terminate(core, track, now)


def _terminate(core: PodCore, track: Track, now: float) -> None:
    assert track.stop is not None  # noqa: S101  # only what is being stopped gets the signal
    track.stop.stage = StopStage.TERM
    track.stop.kill_at = max(track.stop.kill_at, now + MINIMUM)
    core.out.append(m.Signal(track.name, track.id, stop_signal(track)))


def stop_signal(track: Track) -> int:
    lifecycle = track.spec.lifecycle
    name = (lifecycle.stop_signal if lifecycle is not None else None) or "SIGTERM"
    return int(getattr(signal, name, signal.SIGTERM))


def continue_all(core: PodCore, now: float) -> None:
    """Where patience ended, go one stage further; otherwise wake when it does."""
    for track in core.tracks:
        if track.stop is None or not track.running:
            continue
        if track.stop.kill_at <= now and track.stop.stage is StopStage.PRE_STOP:
            _terminate(core, track, now)
        if track.stop.stage is StopStage.KILL:
            continue
        if track.stop.kill_at <= now:
            track.stop.stage = StopStage.KILL
            core.out.append(m.Signal(track.name, track.id, int(signal.SIGKILL)))
        else:
            core.out.append(m.WakeAt(track.stop.kill_at))


def stop_in_order(core: PodCore, now: float, grace: float) -> None:
    """Stop every container that is no sidecar; once they are gone, the sidecars in reverse order."""
    plain = [track for track in core.tracks if not track.sidecar]
    for track in plain:
        begin(core, track, now, grace, f"Stopping container {track.name}")
    if any(track.active for track in plain):
        return
    for track in reversed([track for track in core.tracks if track.sidecar]):
        if track.active:
            begin(core, track, now, grace, f"Stopping container {track.name}")
            return


def end_pod(core: PodCore, now: float) -> None:
    """Everything ends; then the sandbox, then (if it was deleted) the API object, then this worker."""
    stop_in_order(core, now, _remaining(core, now))
    continue_all(core, now)
    if not core.stopped:
        return
    if core.sandbox in ("", "asked", "ready"):
        if core.sandbox == "asked":
            return  # it will be stopped once it stands
        core.sandbox = "stopping"
        core.out.append(m.StopSandbox())
        return
    if core.sandbox != "stopped" or core.volumes == "asked":
        return
    if core.gone:
        core.finished = True
        core.out.append(m.Finish())
    elif core.deleting and not core.deleted:
        core.deleted = True
        core.out += [m.Report(), m.DeletePod()]


def _remaining(core: PodCore, now: float) -> float:
    """Seconds of grace that are left; a shorter one that is set later shortens it."""
    if not core.deleting_since:
        core.deleting_since = now
    meta = core.pod.metadata
    if core.verdict is not None and not core.deleting:
        grace = core.grace()
    elif meta.deletion_timestamp:
        grace = float(meta.deletion_grace_period_seconds or 0)
    else:
        grace = core.grace()
    return max(0.0, core.deleting_since + grace - now)
