"""A Deployment's ReplicaSets: which is the new one, how many replicas they have, how they are ordered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from setpoint.api.types import apps_v1, core_v1

HASH_LABEL = "pod-template-hash"
ReplicaSets = Sequence[apps_v1.ReplicaSet]


def equal_ignoring_hash(a: core_v1.PodTemplateSpec, b: core_v1.PodTemplateSpec) -> bool:
    """Whether two templates are the same version; the hash label does not count."""
    return a.spec == b.spec and _without_hash(a) == _without_hash(b)


def _without_hash(template: core_v1.PodTemplateSpec) -> object:
    labels = {key: value for key, value in template.metadata.labels.items() if key != HASH_LABEL}
    return msgspec.structs.replace(template.metadata, labels=labels)


def by_creation(replica_sets: Iterable[apps_v1.ReplicaSet]) -> list[apps_v1.ReplicaSet]:
    """Oldest first; of the same second, by name."""
    return sorted(replica_sets, key=lambda each: (each.metadata.creation_timestamp, each.metadata.name))


def find_new(deployment: apps_v1.Deployment, replica_sets: ReplicaSets) -> apps_v1.ReplicaSet | None:
    """The oldest ReplicaSet that has the Deployment's template."""
    template = deployment.spec.template
    return next((each for each in by_creation(replica_sets) if equal_ignoring_hash(each.spec.template, template)), None)


def replicas(replica_set: apps_v1.ReplicaSet) -> int:
    """`spec.replicas`, which the server has defaulted to 1."""
    return 1 if replica_set.spec.replicas is None else replica_set.spec.replicas


def desired_replicas(deployment: apps_v1.Deployment) -> int:
    return 1 if deployment.spec.replicas is None else deployment.spec.replicas


def total(replica_sets: Iterable[apps_v1.ReplicaSet]) -> int:
    """The sum of what their specs ask for."""
    return sum(map(replicas, replica_sets))


def available(replica_sets: Iterable[apps_v1.ReplicaSet]) -> int:
    return sum(each.status.available_replicas for each in replica_sets)


def active(replica_sets: Iterable[apps_v1.ReplicaSet]) -> list[apps_v1.ReplicaSet]:
    """Those that ask for pods."""
    return [each for each in replica_sets if replicas(each) > 0]


def terminating(replica_sets: Iterable[apps_v1.ReplicaSet]) -> int | None:
    """How many pods are going; None while a ReplicaSet that has a status does not say."""
    count = 0
    for each in replica_sets:
        if each.status.terminating_replicas is not None:
            count += each.status.terminating_replicas
        elif each.status.observed_generation:
            return None
    return count
