"""How a part says whether it has work: what `cluster.settled()` asks every queue, informer and recorder.

A system is settled when nothing is queued, in flight or waiting for a retry. What is merely due at some later time (a progress
deadline, a toleration's end) does not hold it up: `due` says when it would wake.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct


class Activity(Struct, frozen=True):
    """`retrying` counts what failed and waits for its backoff, or waits a moment for company.

    `due`: the next wake-up as `now()` counts, or None.
    """

    queued: int = 0
    in_flight: int = 0
    retrying: int = 0
    due: float | None = None

    @property
    def settled(self) -> bool:
        return not (self.queued or self.in_flight or self.retrying)


class Active(Protocol):
    """Has a name for people and can say what it is doing."""

    name: str

    def activity(self) -> Activity: ...


def combined(activities: Iterable[Activity]) -> Activity:
    """The sum of several parts."""
    queued = in_flight = retrying = 0
    due: float | None = None
    for each in activities:
        queued += each.queued
        in_flight += each.in_flight
        retrying += each.retrying
        if each.due is not None:
            due = each.due if due is None else min(due, each.due)
    return Activity(queued, in_flight, retrying, due)
