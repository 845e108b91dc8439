"""What goes into the core (events) and what comes out (commands). Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setpoint.api.types.core_v1 import Pod
from setpoint.node.runtime import ContainerInfo

POST_START, PRE_STOP = "postStart", "preStop"
STARTUP, READINESS, LIVENESS = "startup", "readiness", "liveness"


# -- events


@dataclass(frozen=True, slots=True)
class PodChanged:
    """A newer state of the pod; also the first event of all."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class PodGone:
    """The pod is no longer in the API, or another one has its name."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """What the runtime found of the pod when the agent started."""

    alive: bool
    containers: Sequence[ContainerInfo]
    addresses: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class VolumesReady:
    """Every volume is at its place."""


@dataclass(frozen=True, slots=True)
class VolumesFailed:
    """A volume cannot be made yet; it is tried again."""

    message: str


@dataclass(frozen=True, slots=True)
class SandboxReady:
    """The pod has its place, and its addresses."""

    addresses: Sequence[str]


@dataclass(frozen=True, slots=True)
class SandboxFailed:
    """There is no place for the pod yet; it is tried again."""

    message: str


@dataclass(frozen=True, slots=True)
class SandboxLost:
    """The supervisor is gone, and every container with it."""


@dataclass(frozen=True, slots=True)
class SandboxStopped:
    """Nothing of the pod is left on the host."""


@dataclass(frozen=True, slots=True)
class Started:
    """A container came to run."""

    info: ContainerInfo


@dataclass(frozen=True, slots=True)
class StartFailed:
    """`reason` is the error's: ErrImagePull and its like, CreateContainerConfigError, StartError and others."""

    name: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Exited:
    """`message` is the termination message."""

    info: ContainerInfo
    message: str = ""


@dataclass(frozen=True, slots=True)
class HookFinished:
    """`error` is empty when the hook did its work."""

    name: str
    id: str
    hook: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Probed:
    """A probe crossed a threshold: `ok` is its new result."""

    name: str
    id: str
    probe: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """The time of a WakeAt has come."""


Event = (
    PodChanged
    | PodGone
    | Adopted
    | VolumesReady
    | VolumesFailed
    | SandboxReady
    | SandboxFailed
    | SandboxLost
    | SandboxStopped
    | Started
    | StartFailed
    | Exited
    | HookFinished
    | Probed
    | Tick
)


# -- commands


@dataclass(frozen=True, slots=True)
class PrepareVolumes:
    """Make the volumes."""


@dataclass(frozen=True, slots=True)
class RunSandbox:
    """Make the place for the containers."""


@dataclass(frozen=True, slots=True)
class StartContainer:
    """Start an attempt; the same id whoever asks."""

    name: str
    id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Signal:
    """`number` is SIGTERM's or the container's own stop signal, or SIGKILL's."""

    name: str
    id: str
    number: int


@dataclass(frozen=True, slots=True)
class RunHook:
    """`seconds` is how long it may take."""

    name: str
    id: str
    hook: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StartProbes:
    """Ask the container how it is; `started` when its startup probe succeeded before."""

    name: str
    id: str
    started: bool = False


@dataclass(frozen=True, slots=True)
class StopProbes:
    """Ask no more."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class RemoveContainer:
    """An attempt before the last: its record and log are no longer needed."""

    name: str
    id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Record:
    """An Event for people; `container` is the name for its `fieldPath`, empty for the pod itself."""

    kind: str
    reason: str
    message: str
    container: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The status may have changed."""


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Post a Tick at this time, unless something else happens before."""

    when: float


@dataclass(frozen=True, slots=True)
class StopSandbox:
    """End whatever is left of the pod."""


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Everything ended and was told: the API object may go (grace 0, by uid)."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Remove the pod's directory; this worker is done."""


Command = (
    PrepareVolumes
    | RunSandbox
    | StartContainer
    | Signal
    | RunHook
    | StartProbes
    | StopProbes
    | RemoveContainer
    | Record
    | Report
    | WakeAt
    | StopSandbox
    | DeletePod
    | Finish
)
