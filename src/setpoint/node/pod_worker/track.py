"""What the core remembers of one container."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from setpoint.api.types.core_v1 import Container, EphemeralContainer, Pod
from setpoint.node.pod_worker.backoff import Backoff


class Phase(StrEnum):
    """Waiting: not started, or to be started again. Ended: stays so unless policy restarts it."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    ENDED = "ended"


class End(Struct, frozen=True):
    """How an attempt ended."""

    id: str
    exit_code: int
    reason: str
    message: str
    started_at: float
    finished_at: float
    signal: int = 0


UNKNOWN = "ContainerStatusUnknown"
_LOST = "The container could not be located when the pod was deleted.  The container used to be Running"


def lost(identity: str, started_at: float, now: float) -> End:
    """The end of a container that nobody saw (kubelet's words)."""
    return End(identity, 137, UNKNOWN, _LOST, started_at, now)


class StopStage(StrEnum):
    """Where a container is on its way down."""

    PRE_STOP = "preStop"
    TERM = "term"
    KILL = "kill"


class Stop(Struct):
    """A container that is being stopped: `kill_at` is when patience ends."""

    stage: StopStage
    kill_at: float


class Track(Struct):
    """One container, over all its attempts."""

    spec: Container
    init: bool = False
    ephemeral: bool = False
    target: str = ""  # of an ephemeral container: the one to look at
    phase: Phase = Phase.WAITING
    id: str = ""
    attempt: int = 0  # of the current or next start; the restart count once something ran
    image_id: str = ""
    started_at: float = 0.0
    end: End | None = None  # of the current attempt
    previous: End | None = None  # of the one before
    waiting_reason: str = ""
    waiting_message: str = ""
    post_start: bool = False  # its hook runs
    startup_ok: bool = False
    ready: bool = False
    stop: Stop | None = None
    crash: Backoff = field(default_factory=Backoff)
    image: Backoff = field(default_factory=Backoff)
    image_failed_at: float = 0.0
    image_told: bool = False  # that it waits for its backoff
    retry_at: float = 0.0  # after an error of configuration

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def main(self) -> bool:
        """One of `spec.containers`: these make the pod's phase and its readiness."""
        return not (self.init or self.ephemeral)

    @property
    def sidecar(self) -> bool:
        """A restartable init container (KEP-753)."""
        return self.init and self.spec.restart_policy == "Always"

    @property
    def running(self) -> bool:
        return self.phase is Phase.RUNNING

    @property
    def active(self) -> bool:
        """Starts or runs: something may be there to stop."""
        return self.phase in (Phase.STARTING, Phase.RUNNING)

    @property
    def started(self) -> bool:
        """Runs, and its startup probe (if any) succeeded."""
        return self.running and (self.startup_ok or self.spec.startup_probe is None)

    @property
    def is_ready(self) -> bool:
        return self.started and (self.ready or self.spec.readiness_probe is None)

    @property
    def succeeded(self) -> bool:
        return self.phase is Phase.ENDED and self.end is not None and self.end.exit_code == 0

    def next_id(self, uid: str) -> str:
        """The same for the same attempt whoever asks: a start that is asked for twice is one start."""
        return hashlib.sha256(f"{uid}/{self.name}/{self.attempt}".encode()).hexdigest()

    def snapshot(self) -> dict[str, Any]:
        """What a later agent must know, as JSON."""
        return {
            "phase": str(self.phase),
            "id": self.id,
            "attempt": self.attempt,
            "imageID": self.image_id,
            "startedAt": self.started_at,
            "end": asdict(self.end) if self.end else None,
            "previous": asdict(self.previous) if self.previous else None,
            "startupOk": self.startup_ok,
            "ready": self.ready,
            "crash": asdict(self.crash),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        self.phase = Phase(saved["phase"])
        self.id = saved["id"]
        self.attempt = saved["attempt"]
        self.image_id = saved["imageID"]
        self.started_at = saved["startedAt"]
        self.end = End(**saved["end"]) if saved["end"] else None
        self.previous = End(**saved["previous"]) if saved["previous"] else None
        self.startup_ok = saved["startupOk"]
        self.ready = saved["ready"]
        self.crash = Backoff(**saved["crash"])


def tracks_of(pod: Pod) -> list[Track]:
    """Init containers first, then the others, in the spec's order; ephemeral ones last."""
    return [
        *(Track(container, init=True) for container in pod.spec.init_containers),
        *(Track(container) for container in pod.spec.containers),
        *(track_of_ephemeral(container) for container in pod.spec.ephemeral_containers),
    ]


def track_of_ephemeral(spec: EphemeralContainer) -> Track:
    """A container that was put beside those that run (KEP-277); everything but its target is a container's."""
    container = Container(**{name: getattr(spec, name) for name in Container.__struct_fields__})
    return Track(container, ephemeral=True, target=spec.target_container_name)


def restarts(pod: Pod, track: Track) -> bool:
    """Whether policy runs an ended container again (kubelet's ShouldContainerBeRestarted, KEP-5307 for a container's own
    policy); an ephemeral one never.
    """
    if track.ephemeral:
        return False
    end = track.end
    if end is None:
        return True
    if track.sidecar:
        return True
    policy = track.spec.restart_policy or pod.spec.restart_policy or "Always"
    if track.spec.restart_policy:
        for rule in track.spec.restart_policy_rules:
            if rule.exit_codes is not None and _matches(rule.exit_codes.operator, rule.exit_codes.values, end.exit_code):
                return rule.action == "Restart"
    if track.init and policy == "Always" and not track.spec.restart_policy:
        policy = "OnFailure"
    return policy == "Always" or (policy == "OnFailure" and end.exit_code != 0)


def _matches(operator: str, values: tuple[int, ...], code: int) -> bool:
    return (code in values) if operator == "In" else (code not in values)
