"""From a pod template to the body of a pod."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.machinery.names import dns_subdomain
from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1
from setpoint.client.owners import controller_reference


def pod_body(template: core_v1.PodTemplateSpec, owner: Any, resource: Resource[Any]) -> dict[str, Any]:
    """A pod with the template's labels, annotations, finalizers and spec, a generated name, and `owner` as its controller."""
    metadata: dict[str, Any] = {
        "generateName": name_prefix(owner.metadata.name),
        "ownerReferences": [controller_reference(owner, resource)],
    }
    for key in ("labels", "annotations", "finalizers"):
        if value := getattr(template.metadata, key):
            metadata[key] = msgspec.to_builtins(value)
    return {"metadata": metadata, "spec": msgspec.to_builtins(template.spec)}


def name_prefix(owner: str) -> str:
    """`owner-`, or the bare name where that would not do as a generateName."""
    prefix = f"{owner}-"
    return owner if dns_subdomain(prefix, prefix=True) else prefix
