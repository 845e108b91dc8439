"""The decision: what of a dying namespace to delete next, what to say about the rest. Pure and synchronous.

Kubernetes' order: pods first, and nothing else before they are gone, so that what they need outlives them; then everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from setpoint.api.types.core_v1 import Namespace
from setpoint.client.discovery import Served
from setpoint.client.metadata import PartialObjectMetadata
from setpoint.controllers.namespace import conditions
from setpoint.controllers.namespace.conditions import Condition
from setpoint.kit.clock import parse_rfc3339

FINALIZER = "kubernetes"
FINALIZER_ESTIMATE = 15.0
SOON = 0.05
SHORTEST = 0.5


class Contents(Struct, frozen=True):
    """The objects of one resource that are in the namespace."""

    served: Served
    objects: Sequence[PartialObjectMetadata]

    @property
    def is_pods(self) -> bool:
        return self.served.resource.group_resource == "pods"


class Observed(Struct, frozen=True):
    """A namespace with a deletionTimestamp and what is in it. `grace` is the longest grace period of its pods, in seconds."""

    namespace: Namespace
    contents: Sequence[Contents]
    stale: Sequence[str] = ()
    failures: Sequence[str] = ()
    grace: float = 0.0
    now: float = 0.0


class Plan(Struct, frozen=True):
    """Delete `delete`; else say `conditions` and either finalize or look again after `wait` seconds."""

    namespace: Namespace
    delete: Sequence[Contents] = ()
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    finalize: bool = False
    wait: float = SOON


def diff(observed: Observed) -> Plan | None:
    """What to do next; None when the namespace waits for nothing of ours."""
    if FINALIZER not in observed.namespace.spec.finalizers:
        return None
    stage = _stage(observed.contents)
    fresh = [contents for contents in stage if any(not obj.metadata.deletion_timestamp for obj in contents.objects)]
    if fresh:
        return Plan(observed.namespace, delete=fresh)
    counted = [each for each in stage if not each.is_pods]  # while pods are waited for, Kubernetes tells of nothing that is left
    said = conditions.of(counted, observed.stale, observed.failures)
    if stage or observed.stale or observed.failures:
        return Plan(observed.namespace, conditions=said, wait=_wait(observed, stage))
    return Plan(observed.namespace, conditions=said, finalize=True)


def _stage(contents: Sequence[Contents]) -> list[Contents]:
    """What is to go now: pods while there are any."""
    full = [each for each in contents if each.objects]
    pods = [each for each in full if each.is_pods]
    return pods or full


def _wait(observed: Observed, stage: Sequence[Contents]) -> float:
    """Half of what the rest should take, as Kubernetes waits, but looking soon at first: most of it is gone in a moment."""
    deleted = observed.namespace.metadata.deletion_timestamp
    elapsed = max(0.0, observed.now - parse_rfc3339(deleted)) if deleted else 0.0
    estimate = observed.grace if any(each.is_pods for each in stage) and elapsed < observed.grace else FINALIZER_ESTIMATE
    return min(max(SHORTEST, elapsed / 10), estimate / 2 + 1)
