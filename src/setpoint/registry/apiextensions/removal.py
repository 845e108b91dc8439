"""How the deletion of a CustomResourceDefinition begins: it waits until its objects are gone.

Source: apiextensions-apiserver `pkg/registry/customresourcedefinition/etcd.go`.
"""

from __future__ import annotations

from setpoint.kit.clock import rfc3339
from setpoint.registry.apiextensions.conditions import with_condition
from setpoint.registry.strategy import Object

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
_MESSAGE = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"


def begin(old: Object, now: float) -> Object | None:
    """The definition marked for deletion; None where it is marked already."""
    if old["metadata"].get("deletionTimestamp"):
        return None
    metadata = {**old["metadata"], "deletionTimestamp": rfc3339(now)}
    finalizers = metadata.get("finalizers") or ()
    if FINALIZER not in finalizers:
        metadata["finalizers"] = [*finalizers, FINALIZER]
    status = dict(old.get("status") or {})
    pending = {"type": "Terminating", "status": "True", "reason": "InstanceDeletionPending", "message": _MESSAGE}
    status["conditions"] = with_condition(status.get("conditions"), pending, now)
    return {**old, "metadata": metadata, "status": status}
