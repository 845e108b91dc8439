"""What is measured, one file per scenario; each yields figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks import servers
from benchmarks.report import Figure
from benchmarks.target import Target


@dataclass(frozen=True, slots=True)
class Bench:
    """`subject` and `bare` are up and seeded. `folder` is for servers that a scenario starts for itself; None where the subject
    is a server elsewhere, which can be neither started nor looked into. `whole` asks for sizes that take longer than minutes.
    """

    subject: Target
    bare: Target | None
    folder: Path | None
    repeats: int
    seconds: float
    quick: bool
    whole: bool = False

    def start(self, name: str, *, nodes: int = 0, options: tuple[str, ...] = ()) -> tuple[servers.Server, servers.Start]:
        """A Setpoint of the scenario's own."""
        if self.folder is None:
            raise RuntimeError("a server elsewhere cannot be started")
        return servers.setpoint(self.folder / name, nodes=nodes, options=options)

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full


#: in the order they run; those that need a server of their own are left out where the subject is elsewhere
ELSEWHERE = ("requests", "latency", "lists", "fan_out", "relist", "deployment")
OWN = ("starts", "memory", "heartbeats", "size", "door", "scheduling")
ALL = (
    "starts",
    "relist",  # before the bare stack holds much: its lists go through all that there is
    "requests",
    "latency",
    "lists",
    "fan_out",
    "size",
    "deployment",
    "scheduling",
    "heartbeats",
    "memory",
    "door",
)


def scenario(name: str) -> Callable[[Bench], Iterator[Figure]]:
    run: Callable[[Bench], Iterator[Figure]] = import_module(f"benchmarks.scenarios.{name}").run
    return run
