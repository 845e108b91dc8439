"""Which claims are a pod's, and how those of its templates are called. Pure. As `pkg/controller/resourceclaim`."""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.api.types.core_v1 import Pod
from setpoint.api.types.resource_v1 import ResourceClaim
from setpoint.client.objects import key
from setpoint.client.resource_claims import NotMade, claim_name
from setpoint.controllers.owned_pods.state import is_terminal

ANNOTATION = "resource.kubernetes.io/pod-claim-name"
_LONGEST = 57
"""A name has 63 characters, six of which the server appends."""


def known_names(pod: Pod) -> Iterator[str]:
    for entry in pod.spec.resource_claims:
        try:
            name = claim_name(pod, entry)
        except NotMade:
            continue
        if name:
            yield name
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        yield extended.resource_claim_name


def by_claim(pod: Pod) -> tuple[str, ...]:
    """Index function: the keys of the claims that a pod uses."""
    return tuple(key(pod.metadata.namespace, name) for name in known_names(pod))


def by_pod(claim: ResourceClaim) -> tuple[str, ...]:
    """Index function: the uid of the pod that a claim was made for."""
    return tuple(uid for _, uid in owning_pods(claim))


def owning_pods(claim: ResourceClaim) -> list[tuple[str, str]]:
    """Name and uid of the pod that a claim was made for: one or none."""
    refs = claim.metadata.owner_references or ()
    return [(ref.name, ref.uid) for ref in refs if ref.controller and (ref.api_version, ref.kind) == ("v1", "Pod")]


def generate_name(pod: str, entry: str) -> str:
    """What the server makes a name of; of names that are too long each keeps its share."""
    whole = f"{pod}-{entry}-"
    if len(whole) <= _LONGEST:
        return whole
    return f"{pod[: len(pod) * _LONGEST // len(whole)]}-{entry[: len(entry) * _LONGEST // len(whole)]}"


def is_done(pod: Pod) -> bool:
    """Whether it is certain that no container of the pod runs or ever will."""
    return is_terminal(pod) or bool(pod.metadata.deletion_timestamp and not pod.spec.node_name)
