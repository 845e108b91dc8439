"""Small valid objects, and short ways to run a strategy as the generic store does."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.user import ADMIN
from setpoint.registry.strategy import Context, Strategy

Json = dict[str, Any]


def context(**fields: Any) -> Context:
    return Context(user=ADMIN, now=0.0, namespace="default", **fields)


def pod(spec: Json | None = None, /, **container: Any) -> Json:
    """A pod of one container, changed by `spec`; keywords are fields of the container."""
    containers = [{"name": "c", "image": "img:1", **container}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, **(spec or {})}}


def workload(kind: str, spec: Json | None = None, /, pod_spec: Json | None = None) -> Json:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet of such pods."""
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod(pod_spec)["spec"]}
    selector = {"matchLabels": {"app": "a"}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "w"},
        "spec": {"selector": selector, "template": template, **(spec or {})},
    }


def created(strategy: Strategy, obj: Json) -> Json:
    """The object as it would be stored."""
    strategy.default(obj)
    strategy.prepare_for_create(context(), obj)
    return obj


def complaints(strategy: Strategy, obj: Json, old: Json | None = None) -> list[str]:
    """What validation says, in order; with `old`, of an update."""
    if old is None:
        return list(map(str, strategy.validate(context(), created(strategy, obj))))
    strategy.default(obj)
    strategy.prepare_for_update(context(operation="UPDATE"), obj, old)
    return list(map(str, strategy.validate_update(context(operation="UPDATE"), obj, old)))
