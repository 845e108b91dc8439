"""DynamicResources: so far only what it says of pods without resource claims when no node fits them."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import CycleState, Handle, PreFilterResult, Victims
from setpoint.scheduler.plugin_config import DynamicResourcesArgs
from setpoint.scheduler.status import SKIP, Diagnosis, Status, failed, unschedulable


class _Claims(Struct, frozen=True):
    """That the pod's claims were looked at."""


class DynamicResources:
    """See the module."""

    name = "DynamicResources"

    def __init__(self, handle: Handle, args: DynamicResourcesArgs | None = None) -> None: ...

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]:
        state.write(_Claims())
        return None, SKIP

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        if state.find(_Claims) is None:
            # An earlier plugin refused the pod for all nodes before this one was asked; Kubernetes says it thus.
            return None, failed("not found")
        return None, unschedulable("no new claims to deallocate")
