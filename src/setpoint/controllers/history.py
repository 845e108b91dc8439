"""ControllerRevisions: former versions of a pod template, which StatefulSets and DaemonSets keep to go back to.

As `pkg/controller/history`: a revision's data is a patch that replaces the template; two are the same version if their data are.
The bytes of the data are those that Go writes, so that hashes, and with them names, are those of any other cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.owners import controller_reference
from setpoint.controllers.template_hash.hashing import safe_encode

HASH_LABEL = "controller.kubernetes.io/hash"
REVISION_LABEL = "controller-revision-hash"
_NAME_LENGTH = 223
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}

Revision = apps_v1.ControllerRevision


def template_patch(template: core_v1.PodTemplateSpec) -> dict[str, Any]:
    """The data of a revision of this template."""
    return {"spec": {"template": {"$patch": "replace", **msgspec.to_builtins(template)}}}


def template_of(revision: Revision) -> core_v1.PodTemplateSpec:
    """The template that a revision keeps."""
    body = {name: value for name, value in revision.data["spec"]["template"].items() if name != "$patch"}
    return msgspec.convert(body, core_v1.PodTemplateSpec, strict=False)


def encoded(data: Any) -> bytes:
    """As `json.Marshal` of a Go map: sorted, compact, with what HTML knows escaped."""
    text = msgspec.json.encode(data, order="deterministic").decode()
    return text.translate(_ESCAPES).encode()


def revision_hash(data: Any, collisions: int) -> str:
    """`HashControllerRevision`: FNV-1 with 32 bits over the data and the collision count."""
    value = 0x811C9DC5
    for byte in encoded(data) + str(collisions).encode():
        value = ((value * 0x01000193) & 0xFFFFFFFF) ^ byte
    return safe_encode(str(value))


def revision_name(owner: str, hash_: str) -> str:
    return f"{owner[:_NAME_LENGTH]}-{hash_}"


def revision_body(owner: Any, resource: Resource[Any], name: str, labels: Mapping[str, str], number: int) -> dict[str, Any]:
    """A revision of the owner's template; it keeps the owner's annotations."""
    metadata: dict[str, Any] = {
        "name": name,
        "labels": {**owner.spec.template.metadata.labels, **labels},
        "ownerReferences": [controller_reference(owner, resource)],
    }
    if owner.metadata.annotations:
        metadata["annotations"] = {**owner.metadata.annotations}
    return {"metadata": metadata, "data": template_patch(owner.spec.template), "revision": number}


def by_number(revisions: Iterable[Revision]) -> list[Revision]:
    """Oldest first; of one number, by creation and name."""
    return sorted(revisions, key=lambda each: (each.revision, each.metadata.creation_timestamp, each.metadata.name))


def newest_number(revisions: Sequence[Revision]) -> int:
    return max((each.revision for each in revisions), default=0)


def same_data(a: Any, b: Any) -> bool:
    return encoded(a) == encoded(b)
