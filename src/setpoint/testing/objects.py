"""Objects for tests of pure functions: Structs as a server would have sent them, with sensible metadata.

pod("a", ready_since=90, owner=replica_set("r", 2))
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.objects import meta_of
from setpoint.client.owners import controller_reference
from setpoint.kit.clock import rfc3339

T = TypeVar("T", bound=msgspec.Struct)
NOW = 1_900_000_000.0
LABELS = {"app": "a"}


def metadata(name: str, *, namespace: str = "default", age: float = 100, **fields: Any) -> dict[str, Any]:
    """ObjectMeta of an object made `age` seconds before NOW; its uid is `uid-<name>` and its version 1."""
    return {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": rfc3339(NOW - age),
        **{key: value for key, value in fields.items() if value is not None},
    }


def owned_by(owner: Any) -> list[dict[str, Any]] | None:
    """Owner references with `owner`, a ReplicaSet or Deployment, as the controller."""
    if owner is None:
        return None
    resource = apps_v1.REPLICASETS if isinstance(owner, apps_v1.ReplicaSet) else apps_v1.DEPLOYMENTS
    return [controller_reference(owner, resource)]


def template(labels: dict[str, str] | None = None, image: str = "i") -> dict[str, Any]:
    return {"metadata": {"labels": labels or LABELS}, "spec": {"containers": [{"name": "c", "image": image}]}}


def pod(  # noqa: PLR0913  # a test names only what matters to it
    name: str,
    *,
    node: str = "n",
    phase: str = "Running",
    ready_since: float | None = None,
    owner: Any = None,
    labels: dict[str, str] | None = None,
    age: float = 100,
    restarts: int = 0,
    deleted: bool = False,
    annotations: dict[str, str] | None = None,
) -> core_v1.Pod:
    """A pod; `ready_since` is in seconds before NOW, None: not ready."""
    conditions = []
    if ready_since is not None:
        conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(NOW - ready_since)}]
    body = {
        "metadata": metadata(
            name,
            age=age,
            labels=LABELS if labels is None else labels,
            annotations=annotations,
            ownerReferences=owned_by(owner),
            deletionTimestamp=rfc3339(NOW) if deleted else None,
        ),
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
        "status": {
            "phase": phase,
            "conditions": conditions,
            "containerStatuses": [{"name": "c", "restartCount": restarts}],
        },
    }
    return msgspec.convert(body, core_v1.Pod)


def replica_set(  # noqa: PLR0913  # a test names only what matters to it
    name: str,
    replicas: int,
    *,
    status: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
    image: str = "i",
    owner: Any = None,
    annotations: dict[str, str] | None = None,
    age: float = 100,
    min_ready_seconds: int = 0,
    deleted: bool = False,
) -> apps_v1.ReplicaSet:
    """A ReplicaSet; `status` {"replicas": …} with the wire's names, observedGeneration 1."""
    labels = LABELS if labels is None else labels
    body = {
        "metadata": metadata(
            name,
            age=age,
            labels=labels,
            annotations=annotations,
            ownerReferences=owned_by(owner),
            deletionTimestamp=rfc3339(NOW) if deleted else None,
        ),
        "spec": {
            "replicas": replicas,
            "minReadySeconds": min_ready_seconds,
            "selector": {"matchLabels": labels},
            "template": template(labels, image),
        },
        "status": {"replicas": 0, "observedGeneration": 1, "terminatingReplicas": 0, **(status or {})},
    }
    return msgspec.convert(body, apps_v1.ReplicaSet)


def deployment(name: str, replicas: int, *, status: dict[str, Any] | None = None, **spec: Any) -> apps_v1.Deployment:
    """A Deployment with defaults as the server sets them; `spec` fields replace them, by the wire's names."""
    image = spec.pop("image", "i")
    meta = {key: spec.pop(key) for key in ("annotations", "deletionTimestamp") if key in spec}
    body = {
        "metadata": metadata(name, **meta),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": LABELS},
            "template": template(image=image),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "revisionHistoryLimit": 10,
            "progressDeadlineSeconds": 600,
            **spec,
        },
        "status": status or {},
    }
    return msgspec.convert(body, apps_v1.Deployment)


def changed(obj: T, **fields: Any) -> T:
    """A copy of a Struct with other metadata fields."""
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(meta_of(obj), **fields))
