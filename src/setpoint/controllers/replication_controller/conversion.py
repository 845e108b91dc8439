"""A ReplicationController as the ReplicaSet that it would be (`pkg/controller/replication/conversion.go`)."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import apps_v1, core_v1, meta_v1


def as_replica_set(controller: core_v1.ReplicationController) -> apps_v1.ReplicaSet:
    """Same metadata, counts and template; the plain map becomes a label selector."""
    spec, status = controller.spec, controller.status
    return apps_v1.ReplicaSet(
        metadata=controller.metadata,
        spec=apps_v1.ReplicaSetSpec(
            min_ready_seconds=spec.min_ready_seconds,
            replicas=spec.replicas,
            selector=meta_v1.LabelSelector(match_labels=spec.selector),
            template=spec.template or core_v1.PodTemplateSpec(),
        ),
        status=apps_v1.ReplicaSetStatus(
            available_replicas=status.available_replicas,
            conditions=tuple(_condition(one) for one in status.conditions),
            fully_labeled_replicas=status.fully_labeled_replicas,
            observed_generation=status.observed_generation,
            ready_replicas=status.ready_replicas,
            replicas=status.replicas,
        ),
    )


def _condition(condition: core_v1.ReplicationControllerCondition) -> apps_v1.ReplicaSetCondition:
    return apps_v1.ReplicaSetCondition(**{name: getattr(condition, name) for name in condition.__struct_fields__})


def without_terminating(status: apps_v1.ReplicaSetStatus) -> apps_v1.ReplicaSetStatus:
    """ReplicationControllers do not count pods that are on their way out."""
    return msgspec.structs.replace(status, terminating_replicas=None)


def reference(replica_set: apps_v1.ReplicaSet) -> dict[str, Any]:
    """What events are about."""
    resource, meta = core_v1.REPLICATIONCONTROLLERS, replica_set.metadata
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        },
    }
