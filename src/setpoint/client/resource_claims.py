"""Which ResourceClaim an entry of a pod's `spec.resourceClaims` means. As `k8s.io/dynamic-resource-allocation/resourceclaim`."""

from __future__ import annotations

from setpoint.api.types.core_v1 import Pod, PodResourceClaim

#: keeps an allocated claim until its devices are given back
FINALIZER = "resource.kubernetes.io/delete-protection"


class NotMade(Exception):
    """The claim of a template was not noted in the pod's status yet."""


def claim_name(pod: Pod, entry: PodResourceClaim) -> str | None:
    """The claim's name, None where none is needed. Raises NotMade."""
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return status.resource_claim_name
    meta = pod.metadata
    raise NotMade(f'pod "{meta.namespace}/{meta.name}": pod status does not contain a claim for {entry.name}')
