"""What every pod's worker needs of the agent, handed over as one value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.kit.clock import Clock
from setpoint.node.checkpoint import Checkpoints
from setpoint.node.handlers import Http
from setpoint.node.options import AgentOptions
from setpoint.node.runtime import Runtime
from setpoint.node.sources import Sources
from setpoint.node.status_manager import StatusManager
from setpoint.node.volumes.manager import Volumes


class EventSink(Protocol):
    """The part of the client's recorder that the node uses."""

    def event(self, obj: Any, kind: str, reason: str, message: str, *, field_path: str = "") -> None: ...


class Services(Struct, frozen=True):
    """`service_environment(pod)` gives the variables of the Services that a pod sees, `allocatable()` the node's
    figures.
    """

    options: AgentOptions
    clock: Clock
    runtime: Runtime
    recorder: EventSink
    checkpoints: Checkpoints
    sources: Sources
    volumes: Volumes
    statuses: StatusManager
    http: Http
    service_environment: Callable[[Pod], Awaitable[Mapping[str, str]]]
    allocatable: Callable[[], Mapping[str, str]]
    warning: Callable[[], str]
