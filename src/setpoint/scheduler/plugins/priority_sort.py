"""PrioritySort: the more important pod first."""

from __future__ import annotations

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.framework import Handle
from setpoint.scheduler.pods import priority


class PrioritySort:
    """See the module."""

    name = "PrioritySort"

    def __init__(self, handle: Handle) -> None: ...

    def sort_key(self, pod: Pod) -> int:
        return -priority(pod)
