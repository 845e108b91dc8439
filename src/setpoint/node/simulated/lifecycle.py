"""What decides on a pod's next step: the stages built in, rules for them, or Stage objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from setpoint.api.types import core_v1
from setpoint.node.simulated.stages import Stages, Step, next_step


class Lifecycle(Protocol):
    """`next` is the step that a pod takes next, None where it stays as it is; `lost`: its containers died with the node."""

    def next(self, pod: core_v1.Pod, *, lost: bool) -> Step | None: ...


class BuiltIn:
    """The stages of this package; their delays may depend on the pod."""

    def __init__(self, stages: Stages | Callable[[core_v1.Pod], Stages]) -> None:
        self._stages = stages

    def next(self, pod: core_v1.Pod, *, lost: bool) -> Step | None:
        stages = self._stages if isinstance(self._stages, Stages) else self._stages(pod)
        return next_step(pod, stages, lost=lost)
