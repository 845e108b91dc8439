"""Who owns a claim: what the retention policy wants to go along with the pod or the set is owned by it, and collected with it.

As `updateClaimOwnerRefForSetAndPod` in `stateful_set_utils.go`: a pod that was scaled away owns its claim if `whenScaled` is
Delete; the set owns the claims of the others if `whenDeleted` is Delete. A claim that something else controls is left alone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.owners import controller_reference
from setpoint.controllers.statefulset.identity import ordinals, parent_and_ordinal

DELETE = "Delete"


def _policy(stateful_set: apps_v1.StatefulSet) -> tuple[bool, bool]:
    """(delete with the set, delete when scaled down)."""
    policy = stateful_set.spec.persistent_volume_claim_retention_policy
    return (policy.when_deleted == DELETE, policy.when_scaled == DELETE) if policy is not None else (False, False)


def first_owners(stateful_set: apps_v1.StatefulSet) -> list[dict[str, Any]]:
    """The owners of a claim that is made for a pod in range."""
    return [controller_reference(stateful_set, apps_v1.STATEFULSETS)] if _policy(stateful_set)[0] else []


def wanted_owners(
    stateful_set: apps_v1.StatefulSet, pod_name: str, pod: core_v1.Pod | None, claim: core_v1.PersistentVolumeClaim
) -> list[dict[str, Any]] | None:
    """The owner references that the claim should have; None where they are right. `pod` None: it is only planned."""
    others = [ref for ref in claim.metadata.owner_references if not _is_ours(stateful_set, pod_name, ref)]
    wanted = [msgspec.to_builtins(ref) for ref in others]
    if not conflicts(stateful_set, pod, claim):
        wanted += _own(stateful_set, pod_name, pod)
    present = [msgspec.to_builtins(ref) for ref in claim.metadata.owner_references]
    return None if _same(present, wanted) else wanted


def _own(stateful_set: apps_v1.StatefulSet, pod_name: str, pod: core_v1.Pod | None) -> list[dict[str, Any]]:
    deleted, scaled = _policy(stateful_set)
    condemned = parent_and_ordinal(pod_name)[1] not in ordinals(stateful_set)
    if scaled and condemned and pod is not None:
        return [controller_reference(pod, core_v1.PODS)]
    if deleted and not (scaled and condemned):
        return [controller_reference(stateful_set, apps_v1.STATEFULSETS)]
    return []


def conflicts(stateful_set: apps_v1.StatefulSet, pod: core_v1.Pod | None, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Whether something else controls the claim, though the policy would have us own it."""
    if not any(_policy(stateful_set)):
        return False
    own = {stateful_set.metadata.uid, pod.metadata.uid if pod is not None else ""}
    return any(ref.controller and ref.uid not in own for ref in claim.metadata.owner_references)


def is_stale(stateful_set: apps_v1.StatefulSet, pod_name: str, claim: core_v1.PersistentVolumeClaim) -> bool:
    """Whether the claim belongs to a former pod of that name, with which it will go; retained claims are used again."""
    return _policy(stateful_set)[1] and any(ref.kind == "Pod" and ref.name == pod_name for ref in claim.metadata.owner_references)


def _is_ours(stateful_set: apps_v1.StatefulSet, pod_name: str, ref: Any) -> bool:
    return (ref.kind, ref.name) in {("StatefulSet", stateful_set.metadata.name), ("Pod", pod_name)}


def _same(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> bool:
    return sorted(a, key=lambda ref: ref["uid"]) == sorted(b, key=lambda ref: ref["uid"])
