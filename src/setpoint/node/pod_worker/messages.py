"""What goes into the core (events) and what comes out (commands). Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.node.runtime import ContainerInfo

POST_START, PRE_STOP = "postStart", "preStop"
STARTUP, READINESS, LIVENESS = "startup", "readiness", "liveness"


# -- events


class PodChanged(Struct, frozen=True):
    """A newer state of the pod; also the first event of all."""

    pod: Pod


class PodGone(Struct, frozen=True):
    """The pod is no longer in the API, or another one has its name."""


class Adopted(Struct, frozen=True):
    """What the runtime found of the pod when the agent started."""

    alive: bool
    containers: Sequence[ContainerInfo]
    addresses: Sequence[str] = ()


class VolumesReady(Struct, frozen=True):
    """Every volume is at its place."""


class VolumesFailed(Struct, frozen=True):
    """A volume cannot be made yet; it is tried again."""

    message: str


class SandboxReady(Struct, frozen=True):
    """The pod has its place, and its addresses."""

    addresses: Sequence[str]


class SandboxFailed(Struct, frozen=True):
    """There is no place for the pod yet; it is tried again."""

    message: str


class SandboxLost(Struct, frozen=True):
    """The supervisor is gone, and every container with it."""


class SandboxStopped(Struct, frozen=True):
    """Nothing of the pod is left on the host."""


class Started(Struct, frozen=True):
    """A container came to run."""

    info: ContainerInfo


class StartFailed(Struct, frozen=True):
    """`reason` is the error's: ErrImagePull and its like, CreateContainerConfigError, StartError and others."""

    name: str
    reason: str
    message: str


class Exited(Struct, frozen=True):
    """`message` is the termination message."""

    info: ContainerInfo
    message: str = ""


class HookFinished(Struct, frozen=True):
    """`error` is empty when the hook did its work."""

    name: str
    id: str
    hook: str
    error: str = ""


class Probed(Struct, frozen=True):
    """A probe crossed a threshold: `ok` is its new result."""

    name: str
    id: str
    probe: str
    ok: bool


class Tick(Struct, frozen=True):
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


class PrepareVolumes(Struct, frozen=True):
    """Make the volumes."""


class RunSandbox(Struct, frozen=True):
    """Make the place for the containers."""


class StartContainer(Struct, frozen=True):
    """Start an attempt; the same id whoever asks."""

    name: str
    id: str
    attempt: int


class Signal(Struct, frozen=True):
    """`number` is SIGTERM's or the container's own stop signal, or SIGKILL's."""

    name: str
    id: str
    number: int


class RunHook(Struct, frozen=True):
    """`seconds` is how long it may take."""

    name: str
    id: str
    hook: str
    seconds: float


class StartProbes(Struct, frozen=True):
    """Ask the container how it is; `started` when its startup probe succeeded before."""

    name: str
    id: str
    started: bool = False


class StopProbes(Struct, frozen=True):
    """Ask no more."""

    name: str
    id: str


class RemoveContainer(Struct, frozen=True):
    """An attempt before the last: its record and log are no longer needed."""

    name: str
    id: str
    attempt: int


class Record(Struct, frozen=True):
    """An Event for people; `container` is the name for its `fieldPath`, empty for the pod itself."""

    kind: str
    reason: str
    message: str
    container: str = ""


class Report(Struct, frozen=True):
    """The status may have changed."""


class WakeAt(Struct, frozen=True):
    """Post a Tick at this time, unless something else happens before."""

    when: float


class StopSandbox(Struct, frozen=True):
    """End whatever is left of the pod."""


class DeletePod(Struct, frozen=True):
    """Everything ended and was told: the API object may go (grace 0, by uid)."""


class Finish(Struct, frozen=True):
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
