"""Owner references: who controls an object, and how a controller says that it owns one."""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.resource import Resource


def controller_of(meta: Any) -> Any:
    """The owner reference with `controller: true` in an object's metadata Struct, or None (`metav1.GetControllerOf`)."""
    for ref in meta.owner_references or ():  # asked of every object at every change: a generator would cost twice as much
        if ref.controller:
            return ref
    return None


def is_controlled_by(meta: Any, owner: Any) -> bool:
    """Whether the controller of `meta` is the object `owner` (by uid: a namesake does not count)."""
    ref = controller_of(meta)
    return ref is not None and ref.uid == owner.metadata.uid


def controller_reference(owner: Any, resource: Resource[Any]) -> dict[str, Any]:
    """The owner reference that `metav1.NewControllerRef` makes, as JSON for a create."""
    return {**owner_reference(owner, resource), "controller": True, "blockOwnerDeletion": True}


def owner_reference(owner: Any, resource: Resource[Any]) -> dict[str, Any]:
    """A plain owner reference, as JSON."""
    meta = owner.metadata
    return {"apiVersion": resource.api_version, "kind": resource.kind, "name": meta.name, "uid": meta.uid}
