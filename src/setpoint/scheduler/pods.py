"""A pod as the scheduler sees it: what is computed of it once, and shared by all pods of one template.

Two keys say what pods have in common. The *shape* holds all that plugins may judge a single node by: what one pod of a shape
heard of a node, the next one would hear. The *group* holds all that other pods' selectors may ask of it: namespace, labels, and
whether it is leaving.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from setpoint.api.types.core_v1 import ContainerPort, Pod
from setpoint.scheduler.pod_terms import NO_TERMS, PodTerms, terms_of
from setpoint.scheduler.resources import DEFAULTS, Amounts, being_changed, pod_requests

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the word for every address of the host
PortKey = tuple[str, str, int]
GroupKey = tuple[str, frozenset[tuple[str, str]], bool]

_encode = msgspec.msgpack.Encoder().encode


def host_ports(pod: Pod) -> list[PortKey]:
    """Address, protocol and port of every host port that the running containers want (sidecars included)."""
    spec = pod.spec
    sidecars = (container for container in spec.init_containers if container.restart_policy == "Always")
    containers = [*spec.containers, *sidecars] if spec.init_containers else spec.containers
    return [_port_key(port) for container in containers for port in container.ports if port.host_port > 0]


def _port_key(port: ContainerPort) -> PortKey:
    return port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port


def pod_key(pod: Pod) -> str:
    """Who a pod is: its uid, since a name can be used again."""
    return pod.metadata.uid or f"{pod.metadata.namespace}/{pod.metadata.name}"


def priority(pod: Pod) -> int:
    return pod.spec.priority or 0


class ClaimName(NamedTuple):
    """A claim that a pod names; an ephemeral one is made for the pod, by its name and the volume's."""

    claim: str
    ephemeral: bool


def claim_names(pod: Pod) -> list[ClaimName]:
    found = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            found.append(ClaimName(volume.persistent_volume_claim.claim_name, ephemeral=False))
        elif volume.ephemeral is not None:
            found.append(ClaimName(f"{pod.metadata.name}-{volume.name}", ephemeral=True))
    return found


class Template(Struct, frozen=True):
    """What the containers and the affinity of a pod come to. Shared: never change it."""

    requests: Amounts
    non_zero: Amounts
    ports: Sequence[PortKey]
    terms: PodTerms


_templates: dict[bytes, Template] = {}
_MAX_TEMPLATES = 4096


def _template(shape: bytes, pod: Pod) -> Template:
    found = _templates.get(shape)
    if found is None:
        if len(_templates) >= _MAX_TEMPLATES:
            _templates.clear()
        affinity = pod.spec.affinity
        terms = terms_of(affinity, pod.metadata.namespace) if affinity is not None else NO_TERMS
        found = Template(pod_requests(pod), pod_requests(pod, DEFAULTS), host_ports(pod), terms)
        _templates[shape] = found
    return found


def _containers(containers: Sequence[Any]) -> list[Any]:
    return [(each.resources, each.ports, each.image, each.restart_policy) for each in containers]


def shape_of(pod: Pod) -> bytes:
    spec = pod.spec
    parts: tuple[Any, ...] = (
        _containers(spec.containers),
        spec.init_containers and _containers(spec.init_containers),
        spec.node_name,
        spec.node_selector,
        spec.tolerations,
        spec.affinity,
        spec.affinity is not None and pod.metadata.namespace,
        spec.overhead,
        spec.resources,
    )
    return _encode(parts)


class PodInfo:
    """A pod with what is computed of it once."""

    __slots__ = ("claims", "group", "key", "labels", "namespace", "non_zero", "pod", "ports", "requests", "shape", "terms")

    def __init__(self, pod: Pod) -> None:
        meta = pod.metadata
        self.pod = pod
        self.key = meta.uid or f"{meta.namespace}/{meta.name}"
        self.namespace = meta.namespace
        self.labels = meta.labels
        self.group: GroupKey = (meta.namespace, frozenset(meta.labels.items()), meta.deletion_timestamp is not None)
        self.shape = shape_of(pod)
        template = _template(self.shape, pod)
        self.requests, self.non_zero, self.ports = template.requests, template.non_zero, template.ports
        if pod.spec.node_name and (running := being_changed(pod)):
            self.requests, self.non_zero = pod_requests(pod, None, running), pod_requests(pod, DEFAULTS, running)
        self.terms = template.terms
        self.claims: Sequence[str] = ()
        if pod.spec.volumes:
            self.claims = [f"{meta.namespace}/{each.claim}" for each in claim_names(pod)]
