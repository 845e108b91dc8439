"""Which containers to start, and what to do when a start fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.node.pod_worker import messages as m
from setpoint.node.pod_worker.backoff import duration
from setpoint.node.pod_worker.track import End, Phase, Track, restarts

if TYPE_CHECKING:
    from setpoint.node.pod_worker.core import PodCore

IMAGE_REASONS = frozenset({"ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"})
_CONFIG_RETRY = 10.0  # seconds, as often as kubelet looks at a pod again after an error
_TELL_BACKOFF = 1.0


def containers(core: PodCore, now: float) -> None:
    """Init containers one after another, a sidecar counting as done once it started; then all others, in order."""
    for track in core.tracks:
        if track.ephemeral:
            continue
        if track.init and not core.was_initialized:
            if not _init_done(core, track, now):
                return
        elif track.init and not track.sidecar:
            continue
        elif not _main(core, track, now):
            return


def ephemeral(core: PodCore, now: float) -> None:
    """Ephemeral containers, whether or not the pod is initialized (kubelet's computePodActions), each once its target ran."""
    for track in core.tracks:
        if track.ephemeral and track.phase is Phase.WAITING and _target_found(core, track):
            _run(core, track, now)


def _target_found(core: PodCore, track: Track) -> bool:
    """Kubelet's getTargetID: what never ran cannot be looked at. Says so in the status."""
    target = next((each for each in core.tracks if each.name == track.target), None)
    if not track.target or (target is not None and (target.running or target.end is not None)):
        return True
    message = f"unable to find target container {track.target}"
    if track.waiting_message != message:
        track.waiting_reason, track.waiting_message = "CreateContainerConfigError", message
        core.out.append(m.Record("Warning", "Failed", f"Error: {message}", track.name))
    return False


def _init_done(core: PodCore, track: Track, now: float) -> bool:
    _run(core, track, now)
    return (track.started and not track.post_start) if track.sidecar else track.succeeded


def _main(core: PodCore, track: Track, now: float) -> bool:
    """Whether the next one may be looked at: kubelet starts containers one by one, postStart hook included."""
    _run(core, track, now)
    return track.phase is not Phase.STARTING and not track.post_start


def _run(core: PodCore, track: Track, now: float) -> None:
    """Start `track` if it should run, does not, and is not waiting for its time."""
    if track.active:
        return
    if track.phase is Phase.ENDED and (not restarts(core.pod, track) or _backs_off(core, track, now)):
        return
    due = _image_due(core, track, now)
    if due > now or track.retry_at > now:
        core.out.append(m.WakeAt(max(due, track.retry_at)))
        return
    if track.end is not None and track.phase is Phase.ENDED:
        track.crash.next(track.end.finished_at, now)
        track.attempt += 1
        _forget_older(core, track)
    track.phase = Phase.STARTING
    track.id = track.next_id(core.pod.metadata.uid)
    core.out.append(m.StartContainer(track.name, track.id, track.attempt))


def _backs_off(core: PodCore, track: Track, now: float) -> bool:
    """Whether the crash backoff holds the container back; says so in its status."""
    assert track.end is not None  # noqa: S101  # only ended containers back off
    due = track.crash.due(track.end.finished_at)
    if due <= now:
        return False
    meta = core.pod.metadata
    if track.waiting_reason != "CrashLoopBackOff":
        where = f"{meta.name}_{meta.namespace}({meta.uid})"
        track.waiting_reason = "CrashLoopBackOff"
        track.waiting_message = f"back-off {duration(track.crash.seconds)} restarting failed container={track.name} pod={where}"
        text = f"Back-off restarting failed container {track.name} in pod {where}"
        core.out.append(m.Record("Warning", "BackOff", text, track.name))
    core.out.append(m.WakeAt(due))
    return True


def _forget_older(core: PodCore, track: Track) -> None:
    """Keep the last ended attempt, for `logs --previous`; the one before it may go."""
    if track.previous is not None and track.previous.id:
        core.out.append(m.RemoveContainer(track.name, track.previous.id, track.attempt - 2))


def _image_due(core: PodCore, track: Track, now: float) -> float:
    """When the image may be asked for again; tells, a moment after the error, that it waits."""
    if not track.image_failed_at:
        return now
    due = track.image_failed_at + track.image.seconds
    if due <= now:
        track.image_failed_at = 0.0
        return now
    if track.image_told:
        return due
    if now < track.image_failed_at + _TELL_BACKOFF:
        return track.image_failed_at + _TELL_BACKOFF
    track.image_told = True
    text = f'Back-off pulling image "{track.spec.image}"'
    error = track.waiting_message
    track.waiting_reason, track.waiting_message = "ImagePullBackOff", f"{text}: ErrImagePull: {error}"
    core.out += [
        m.Record("Normal", "BackOff", text, track.name),
        m.Record("Warning", "Failed", "Error: ImagePullBackOff", track.name),
    ]
    return due


def failed(core: PodCore, track: Track, event: m.StartFailed, now: float) -> None:
    """A start came to nothing."""
    if track.phase is not Phase.STARTING:
        return
    track.phase = Phase.WAITING
    if event.reason in IMAGE_REASONS:
        _image_failed(core, track, event, now)
    elif event.reason == "StartError":
        core.out.append(m.Record("Warning", "Failed", f"Error: {event.message}", track.name))
        if track.end is not None:
            track.previous = track.end
        track.phase = Phase.ENDED
        track.end = End(track.id, 128, "StartError", event.message, 0.0, now)
        track.waiting_reason = track.waiting_message = ""
    else:
        if (track.waiting_reason, track.waiting_message) != (event.reason, event.message):
            core.out.append(m.Record("Warning", "Failed", f"Error: {event.message}", track.name))
        track.waiting_reason, track.waiting_message = event.reason, event.message
        track.retry_at = now + _CONFIG_RETRY


def _image_failed(core: PodCore, track: Track, event: m.StartFailed, now: float) -> None:
    image = track.spec.image
    track.image.next(now, now)
    track.image_failed_at, track.image_told = now, False
    track.waiting_reason, track.waiting_message = event.reason, event.message
    core.out += [
        m.Record("Normal", "Pulling", f'Pulling image "{image}"', track.name),
        m.Record("Warning", "Failed", f'Failed to pull image "{image}": {event.message}', track.name),
        m.Record("Warning", "Failed", f"Error: {event.reason}", track.name),
    ]
