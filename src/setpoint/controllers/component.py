"""What every controller is made from, and the shape that it has.

A controller is made by a function `new(context)`: it registers handlers on the shared informers and gives back something with a
name that can run and say whether it is busy. Nothing runs before `run()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from setpoint.client.client import Client
from setpoint.client.events import EventRecorder
from setpoint.client.factory import InformerFactory
from setpoint.client.settled import Activity, combined
from setpoint.client.trace import Trace
from setpoint.controllers.certificates.requests import Signer
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks


class Component(Protocol):
    """A controller, or several that belong together."""

    name: str

    async def run(self) -> None:
        """Work until cancelled."""

    def activity(self) -> Activity: ...


class NodeTimings(Struct, frozen=True):
    """Seconds, with Kubernetes' defaults. `rate` is how many nodes of a zone are tainted NoExecute per second."""

    monitor_period: float = 5.0
    monitor_grace: float = 40.0
    startup_grace: float = 60.0
    rate: float = 0.1
    secondary_rate: float = 0.01
    large_zone: int = 50
    unhealthy_share: float = 0.55


class Settings(Struct, frozen=True):
    """What the operator of a cluster decides about its controllers.

    `cluster_ca` is the PEM text that every namespace gets; `signer` signs certificates and `token_signer` the tokens that
    Secrets hold (namespace, name and uid of an account, name of the Secret), where anybody does. A deleted
    namespace is left alone for `namespace_grace` seconds before it is emptied: Kubernetes waits five, for the caches of several
    API servers; with one server, two keep what a user sees of a deletion and let tests go on sooner. Below `volumes` lie those
    that are made for claims; None: none are. With `pod_ranges` each node gets a part of each, of `node_mask` bits, outside of
    `service_ranges`.
    """

    cluster_ca: str = ""
    signer: Signer | None = None
    token_signer: Callable[[str, str, str, str], str] | None = None
    nodes: NodeTimings = field(default_factory=NodeTimings)
    namespace_grace: float = 2.0
    terminated_pods: int = 12500
    pod_gc_period: float = 20.0
    autoscaler_period: float = 15.0
    volumes: Path | None = None
    pod_ranges: tuple[str, ...] = ()
    service_ranges: tuple[str, ...] = ()
    node_mask: int = 24


class Context(Struct, frozen=True):
    """What `new` gets. `recorder(name)` is the event recorder under the name of a controller."""

    client: Client
    clock: Clock
    informers: InformerFactory
    settings: Settings
    recorder: Callable[[str], EventRecorder]


class Several:
    """Controllers that belong together, as one component; one that fails takes the others down with it."""

    def __init__(self, name: str, parts: Sequence[Component]) -> None:
        self.name = name
        self.parts = parts

    @property
    def traces(self) -> list[Trace]:
        return [part.trace for part in self.parts if hasattr(part, "trace")]

    async def run(self) -> None:
        async with Tasks(self.name) as tasks:
            for part in self.parts:
                tasks.start(part.name, part.run())

    def activity(self) -> Activity:
        return combined(part.activity() for part in self.parts)
