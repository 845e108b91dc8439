"""The downward API: a pod's own fields and resources, for environment variables and files.

Source: kubelet's fieldpath package and `resource.ExtractContainerResourceValue`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import orjson
from msgspec import Struct

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import Container, Pod, ResourceFieldSelector

_SUBSCRIPT = re.compile(r"^(metadata\.(?:labels|annotations))\['(.*)'\]$", re.DOTALL)
_NANO = 1_000_000_000


class FieldError(ValueError):
    """The selector names a field that is not offered."""


class Surroundings(Struct, frozen=True):
    """What a pod cannot know from its object alone: addresses, what the node has (`cpu`, `memory` … as quantities), and the user
    of its containers that choose none.
    """

    host_address: str = ""
    addresses: Sequence[str] = ()
    allocatable: Mapping[str, str] | None = None
    user: int | None = None


def field(pod: Pod, path: str, around: Surroundings) -> str:
    """The value of `fieldRef.fieldPath`; raises FieldError."""
    subscript = _SUBSCRIPT.match(path)
    if subscript:
        values = pod.metadata.labels if subscript[1].endswith("labels") else pod.metadata.annotations
        return values.get(subscript[2], "")
    simple = {
        "metadata.name": pod.metadata.name,
        "metadata.namespace": pod.metadata.namespace,
        "metadata.uid": pod.metadata.uid,
        "metadata.labels": lines(pod.metadata.labels),
        "metadata.annotations": lines(pod.metadata.annotations),
        "spec.nodeName": pod.spec.node_name,
        "spec.serviceAccountName": pod.spec.service_account_name,
        "status.hostIP": around.host_address,
        "status.hostIPs": around.host_address,
        "status.podIP": around.addresses[0] if around.addresses else "",
        "status.podIPs": ",".join(around.addresses),
    }
    if path not in simple:
        raise FieldError(f"unsupported fieldPath: {path}")
    return simple[path]


def lines(values: Mapping[str, str]) -> str:
    """A map as a file: `key="value"`, sorted, without a newline at the end."""
    return "\n".join(f"{key}={orjson.dumps(value).decode()}" for key, value in sorted(values.items()))


def resource(pod: Pod, own: Container | None, selector: ResourceFieldSelector, around: Surroundings) -> str:
    """The value of a `resourceFieldRef`, in units of its divisor, rounded up; raises FieldError."""
    container = _container(pod, selector.container_name) if selector.container_name else own
    if container is None:
        raise FieldError(f'container "{selector.container_name}" not found')
    kind, _, name = selector.resource.partition(".")
    if kind not in ("limits", "requests") or not name:
        raise FieldError(f"unsupported container resource : {selector.resource}")
    values = container.resources.limits if kind == "limits" else container.resources.requests
    text = values.get(name)
    if text is None and kind == "limits":
        text = (around.allocatable or {}).get(name)
    divisor = parse(selector.divisor) if selector.divisor not in ("", "0") else parse("1")
    amount = parse(text) if text is not None else parse("0")
    return str(-(-amount.nanos // (divisor.nanos or _NANO)))


def _container(pod: Pod, name: str) -> Container | None:
    return next((each for each in (*pod.spec.containers, *pod.spec.init_containers) if each.name == name), None)
