"""Zones: how fast nodes may be tainted NoExecute when many fail at once. Pure but for the tokens left.

When most of a zone fails it is more likely the network than the nodes; when every zone has failed entirely, it is us: then
nothing is evicted. As the node life cycle controller's `handleDisruption` and its rate-limited queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from setpoint.api.types.core_v1 import Node
from setpoint.controllers.component import NodeTimings

_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")


class State(Enum):
    """How much of a zone has failed."""

    NORMAL = "Normal"
    PARTIAL = "PartialDisruption"
    FULL = "FullDisruption"


class _Bucket(Struct):
    """One token at most, so that the first node of a zone is tainted at once."""

    tokens: float
    since: float


def zone_of(node: Node) -> str:
    labels = node.metadata.labels or {}
    zone, region = _first(labels, _ZONE), _first(labels, _REGION)
    return f"{region}:\x00:{zone}" if zone or region else ""


def _first(labels: Mapping[str, str], keys: Iterable[str]) -> str:
    for key in keys:  # of all nodes again and again
        if key in labels:
            return labels[key]
    return ""


def state_of(statuses: Iterable[str], timings: NodeTimings) -> State:
    """From the Ready status of a zone's nodes. Fewer than three failed nodes are no disruption unless they are all."""
    ready = failed = 0
    for status in statuses:
        if status == "True":
            ready += 1
        else:
            failed += 1
    if ready == 0 and failed > 0:
        return State.FULL
    if failed > 2 and failed / (ready + failed) >= timings.unhealthy_share:
        return State.PARTIAL
    return State.NORMAL


class Zones:
    """Tells for each node that should be tainted whether it may be now."""

    def __init__(self, timings: NodeTimings) -> None:
        self._timings = timings
        self._buckets: dict[str, _Bucket] = {}
        self._sizes: dict[str, int] = {}
        self._states: dict[str, State] = {}

    def observe(self, nodes: Iterable[Node], statuses: Mapping[str, str]) -> None:
        """Take in all nodes, `statuses` their Ready status by name."""
        members: dict[str, list[str]] = {}
        for node in nodes:
            members.setdefault(zone_of(node), []).append(statuses[node.metadata.name])
        self._sizes = {zone: len(found) for zone, found in members.items()}
        self._states = {zone: state_of(found, self._timings) for zone, found in members.items()}

    @property
    def all_failed(self) -> bool:
        """Whether no zone has a node that is ready: then nobody is evicted."""
        return bool(self._states) and all(state is State.FULL for state in self._states.values())

    def _rate(self, zone: str) -> float:
        state = self._states.get(zone, State.NORMAL)
        if state is State.PARTIAL:
            return self._timings.secondary_rate if self._sizes.get(zone, 0) > self._timings.large_zone else 0.0
        return self._timings.rate

    def may_taint(self, zone: str, now: float) -> bool:
        """Take a token of the zone, if there is one."""
        bucket = self._buckets.setdefault(zone, _Bucket(1.0, now))
        rate = self._rate(zone)
        bucket.tokens = min(1.0, bucket.tokens + (now - bucket.since) * rate)
        bucket.since = now
        if rate == 0.0 or bucket.tokens < 1.0 - 1e-9:
            return False
        bucket.tokens -= 1.0
        return True
