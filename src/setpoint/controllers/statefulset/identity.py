"""Who a pod of a StatefulSet is: its ordinal, its name, its labels, the claims that are its own.

As `pkg/controller/statefulset/stateful_set_utils.go`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.history import REVISION_LABEL
from setpoint.controllers.owned_pods.template import pod_body

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]+)")


def parent_and_ordinal(name: str) -> tuple[str, int]:
    """`web-3` → ("web", 3); ("", -1) for a name without an ordinal."""
    match = _NAME.fullmatch(name)
    return (match[1], int(match[2])) if match is not None and int(match[2]) < 2**31 else ("", -1)


def ordinal_of(pod: core_v1.Pod) -> int:
    return parent_and_ordinal(pod.metadata.name)[1]


def is_member(stateful_set: apps_v1.StatefulSet, pod: core_v1.Pod) -> bool:
    """Whether the pod is named as one of the set's."""
    return parent_and_ordinal(pod.metadata.name)[0] == stateful_set.metadata.name


def replicas(stateful_set: apps_v1.StatefulSet) -> int:
    """`spec.replicas`, which the server has defaulted to 1."""
    return 1 if stateful_set.spec.replicas is None else stateful_set.spec.replicas


def start(stateful_set: apps_v1.StatefulSet) -> int:
    return stateful_set.spec.ordinals.start if stateful_set.spec.ordinals is not None else 0


def ordinals(stateful_set: apps_v1.StatefulSet) -> range:
    """The ordinals that are to have a pod."""
    first = start(stateful_set)
    return range(first, first + replicas(stateful_set))


def pod_name(stateful_set: apps_v1.StatefulSet, ordinal: int) -> str:
    return f"{stateful_set.metadata.name}-{ordinal}"


def claim_name(stateful_set: apps_v1.StatefulSet, template: str, ordinal: int) -> str:
    return f"{template}-{stateful_set.metadata.name}-{ordinal}"


def claim_names(stateful_set: apps_v1.StatefulSet, ordinal: int) -> dict[str, str]:
    """The name of the claim for each claim template."""
    templates = stateful_set.spec.volume_claim_templates
    return {each.metadata.name: claim_name(stateful_set, each.metadata.name, ordinal) for each in templates}


def claim_body(stateful_set: apps_v1.StatefulSet, template: core_v1.PersistentVolumeClaim, ordinal: int) -> dict[str, Any]:
    """The claim of a template for one ordinal; the set's selector goes into its labels."""
    body: dict[str, Any] = msgspec.to_builtins(template)
    for field in ("status", "kind", "apiVersion"):
        body.pop(field, None)
    selector = stateful_set.spec.selector.match_labels if stateful_set.spec.selector is not None else {}
    metadata = {key: value for key, value in body["metadata"].items() if key in {"labels", "annotations", "finalizers"}}
    labels = {**metadata.pop("labels", {}), **selector}
    if labels:
        metadata["labels"] = labels
    body["metadata"] = {**metadata, "name": claim_name(stateful_set, template.metadata.name, ordinal)}
    return body


def new_pod(stateful_set: apps_v1.StatefulSet, template: core_v1.PodTemplateSpec, ordinal: int, revision: str) -> dict[str, Any]:
    """The pod of an ordinal at a revision. The template's volumes give way to claims of the same name."""
    body = pod_body(template, stateful_set, apps_v1.STATEFULSETS)
    name = pod_name(stateful_set, ordinal)
    metadata, spec = body["metadata"], body["spec"]
    metadata["name"] = name
    metadata["labels"] = {**metadata.get("labels", {}), **identity_labels(name), REVISION_LABEL: revision}
    spec["hostname"] = name
    if stateful_set.spec.service_name:
        spec["subdomain"] = stateful_set.spec.service_name
    if volumes := volumes_of(stateful_set, ordinal, spec.get("volumes", ())):
        spec["volumes"] = volumes
    return body


def identity_labels(name: str) -> dict[str, str]:
    return {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(parent_and_ordinal(name)[1])}


def volumes_of(stateful_set: apps_v1.StatefulSet, ordinal: int, others: Any) -> list[dict[str, Any]]:
    """The claims as volumes, then those of `others` that no claim stands for."""
    claims = claim_names(stateful_set, ordinal)
    mounted = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in claims.items()]
    return [*mounted, *(volume for volume in others if volume["name"] not in claims)]


def identity_matches(pod: core_v1.Pod) -> bool:
    labels: Mapping[str, str] = pod.metadata.labels
    return labels.get(POD_NAME_LABEL) == pod.metadata.name


def storage_matches(stateful_set: apps_v1.StatefulSet, pod: core_v1.Pod) -> bool:
    """Whether the pod mounts the claims of its ordinal."""
    mounted = {
        volume.name: volume.persistent_volume_claim.claim_name
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    }
    wanted = claim_names(stateful_set, ordinal_of(pod))
    return all(mounted.get(name) == claim for name, claim in wanted.items())


def revision_of(pod: core_v1.Pod) -> str:
    """The name of the ControllerRevision that the pod was made from."""
    labels: Mapping[str, str] = pod.metadata.labels
    return labels.get(REVISION_LABEL, "")
