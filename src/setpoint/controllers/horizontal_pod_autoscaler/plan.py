"""What is observed of a HorizontalPodAutoscaler, and what is to be written for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.types import autoscaling_v2, core_v1
from setpoint.controllers.event import Event

ABLE_TO_SCALE = "AbleToScale"
SCALING_ACTIVE = "ScalingActive"
SCALING_LIMITED = "ScalingLimited"


class Failure(Struct, frozen=True):
    """Why something could not be read: an error's text."""

    message: str


class Sample(Struct, frozen=True):
    """A pod's metric in thousandths, when it was taken (seconds since the epoch) and over how many seconds."""

    value: int
    taken: float = 0.0
    window: float = 60.0


class Reading(Struct, frozen=True):
    """What a metrics API said: samples by pod, or one amount in thousandths for metrics that are of no pod."""

    samples: Mapping[str, Sample] = {}
    amount: int = 0


class Target(Struct, frozen=True):
    """What is scaled. `selector` is as the scale's status has it; `body` is the Scale to write back, `path` where."""

    path: str
    body: Mapping[str, Any]
    replicas: int
    current: int
    selector: str


class Selected(Struct, frozen=True):
    """The target's pods, and the autoscalers (namespace, name) that have pods among them."""

    selector: LabelSelector
    pods: tuple[core_v1.Pod, ...]
    autoscalers: tuple[tuple[str, str], ...] = ()


class Change(Struct, frozen=True):
    """Replicas at a moment: a recommendation, or by how many they were changed."""

    replicas: int
    moment: float


class Memory(Struct, frozen=True):
    """What is kept of an autoscaler between two looks at it: recommendations and changes that have not lost their meaning."""

    recommendations: tuple[Change, ...] = ()
    ups: tuple[Change, ...] = ()
    downs: tuple[Change, ...] = ()


class Observed(Struct, frozen=True):
    """`selected` and `readings` (one per metric of the specification) are there when the metrics have a say."""

    hpa: autoscaling_v2.HorizontalPodAutoscaler
    target: Target | Failure
    selected: Selected | Failure | None
    readings: Sequence[Reading | Failure]
    memory: Memory
    now: float


class Plan(Struct, frozen=True):
    """`rescale` are the replicas to have, None for as they are; `unscaled` is the status to write where that is refused."""

    hpa: autoscaling_v2.HorizontalPodAutoscaler
    status: autoscaling_v2.HorizontalPodAutoscalerStatus
    memory: Memory
    events: tuple[Event, ...] = ()
    target: Target | None = None
    rescale: int | None = None
    reason: str = ""
    unscaled: autoscaling_v2.HorizontalPodAutoscalerStatus | None = None
