"""Extended resources that device classes stand for: a pod asks for `example.com/gpu: 2`, and gets a claim made for it (KEP-5004).

Where a node has such a resource itself, from a device plugin, the pod takes it from there; the claim is for nodes that have none.
Containers that run at a time each have a request of their own; init containers use what those after them will need, and more only
where that is not enough.
Source: `plugins/dynamicresources/extendeddynamicresources.go` of kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Container, Pod
from setpoint.api.types.resource_v1 import DEVICECLASSES, DeviceClass, ResourceClaim
from setpoint.scheduler.framework import Lister, Listers

ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
PREFIX = "deviceclass.resource.kubernetes.io/"  # before the name of a class: a resource that every class stands for


def is_extended(name: str) -> bool:
    """Whether a device class may stand for the resource."""
    if name.startswith(PREFIX):
        return True
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def names_of(device_class: DeviceClass) -> set[str]:
    """The resources that the class stands for."""
    explicit = device_class.spec.extended_resource_name
    return {PREFIX + device_class.metadata.name, *([explicit] if explicit else [])}


class ExtendedResources:
    """Which class stands for a resource: of several the youngest, of those the first by name."""

    def __init__(self, listers: Listers) -> None:
        self._classes = listers.of(DEVICECLASSES)

    def class_of(self, name: str) -> DeviceClass | None:
        if not is_extended(name):
            return None
        if name.startswith(PREFIX):
            implicit: DeviceClass | None = self._classes.get(name.removeprefix(PREFIX))
            return implicit
        found = [each for each in self._classes.list() if each.spec.extended_resource_name == name]
        found.sort(key=lambda each: each.metadata.name)
        return max(found, key=lambda each: each.metadata.creation_timestamp or "", default=None)


class Mapping(Struct, frozen=True):
    """Which request of the claim serves a container's resource."""

    container: str
    resource: str
    request: str


class ExtendedClaim(Struct, frozen=True):
    """The claim that a pod needs on a node, before it is made."""

    claim: ResourceClaim
    body: dict[str, Any]
    mappings: Sequence[Mapping]


class _Request(Struct, frozen=True):
    name: str
    device_class: str
    count: int


def made_before(pod: Pod, claims: Lister) -> ResourceClaim | None:
    """The claim that an earlier attempt left behind."""
    found: list[ResourceClaim] = claims.list(pod.metadata.namespace)
    return next((claim for claim in found if is_made_for(pod, claim)), None)


def is_made_for(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether it is for the extended resources of the pod."""
    if claim.metadata.annotations.get(ANNOTATION) != "true":
        return False
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references or ())


def extended_claim(pod: Pod, wanted: Collection[str], resources: ExtendedResources) -> ExtendedClaim:
    """For the resources of the pod that its node has not."""
    requests: list[_Request] = []
    mappings: list[Mapping] = []
    for name in sorted(wanted):
        device_class = resources.class_of(name)
        if device_class is not None:
            more, served = _served(pod, name, device_class.metadata.name)
            requests += more
            mappings += served
    exactly = [
        (each.name, {"deviceClassName": each.device_class, "allocationMode": "ExactCount", "count": each.count})
        for each in sorted(requests, key=lambda each: each.name)
    ]
    meta = pod.metadata
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid, "controller": True}
    metadata = {
        "generateName": f"{meta.name}-extended-resources-",
        "namespace": meta.namespace,
        "annotations": {ANNOTATION: "true"},
        "ownerReferences": [owner],
    }
    spec = {"devices": {"requests": [{"name": name, "exactly": each} for name, each in exactly]}}
    body = {"metadata": metadata, "spec": spec}
    known = {"metadata": {**metadata, "name": "<extended-resources>", "uid": f"for {meta.uid}"}, "spec": spec}
    return ExtendedClaim(convert(known, ResourceClaim), body, mappings)


def _served(pod: Pod, resource: str, device_class: str) -> tuple[list[_Request], list[Mapping]]:
    """Requests for one resource of all containers, and which serves which."""
    spec = pod.spec
    containers = [*spec.init_containers, *spec.containers]
    passing = [index for index, each in enumerate(spec.init_containers) if each.restart_policy != "Always"]
    lasting: list[_Request | None] = [None] * len(containers)
    mappings: list[Mapping] = []
    for index, container in enumerate(containers):
        if index not in passing:
            lasting[index], served = _request(index, container, resource, device_class, ())
            mappings += served
    extra: list[_Request] = []
    early: list[Mapping] = []
    for index in passing:
        more, served = _request(index, containers[index], resource, device_class, [each for each in lasting[index:] if each])
        early += served
        extra += [more] if more is not None else []
    if not extra:
        return [each for each in lasting if each is not None], [*mappings, *early]
    # They run one after the other: what the greediest of them needs is enough for all.
    most = max(extra, key=lambda each: each.count)
    others = {each.name for each in extra}
    early = [Mapping(each.container, resource, most.name) if each.request in others else each for each in early]
    return [most, *(each for each in lasting if each is not None)], [*mappings, *early]


def _request(
    index: int, container: Container, resource: str, device_class: str, reusable: Sequence[_Request]
) -> tuple[_Request | None, list[Mapping]]:
    """What the container needs beyond `reusable`, and what serves it."""
    asked = container.resources.requests
    count = parse(asked[resource]).value() if resource in asked else 0
    if not count:
        return None, []
    there = 0
    mappings: list[Mapping] = []
    for each in reusable:
        there += each.count
        mappings.append(Mapping(container.name, resource, each.name))
        if there >= count:
            return None, mappings
    name = f"container-{index}-request-{sorted(asked).index(resource)}"
    return _Request(name, device_class, count - there), [*mappings, Mapping(container.name, resource, name)]


def status_of(name: str, mappings: Sequence[Mapping]) -> Iterator[tuple[str, Any]]:
    """`status.extendedResourceClaimStatus` of the pod, for the claim of that name."""
    served = [{"containerName": each.container, "resourceName": each.resource, "requestName": each.request} for each in mappings]
    yield "requestMappings", served
    yield "resourceClaimName", name
