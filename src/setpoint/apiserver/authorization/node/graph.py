"""Which objects a node may reach: through the pods that are bound to it, and through what is about the node itself.

Kept by events, one object at a time. Pods are by far the most, and most are never asked about, so a pod is read when its node
first asks for something in its namespace; until then only its node is known, which the store tells without reading the pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from msgspec import Struct

from setpoint.registry.pod.references import References, of_pod, volume_secrets
from setpoint.storage.protocol import Record

#: what can change a pod's references after it was bound
_CHANGING = (b'"ephemeralContainers"', b'"resourceClaimStatuses"', b'"extendedResourceClaimStatus"')


class _Pod(Struct):
    """A bound pod: its record until it is read, then what it refers to."""

    node: str
    record: Record
    references: References | None = None

    def read(self) -> References:
        if self.references is None:
            self.references = of_pod(orjson.loads(self.record.value))
        return self.references


class _Volume(Struct, frozen=True):
    """A persistent volume: its claim (namespace, name) and its Secrets."""

    claim: tuple[str, str]
    secrets: frozenset[tuple[str, str]]


class Graph:
    """Answers `has_path(node, kind, namespace, name)`; the kinds are the methods of `_KINDS`."""

    def __init__(self) -> None:
        self._pods: dict[str, _Pod] = {}  # by key
        self._bound: dict[tuple[str, str], dict[str, _Pod]] = {}  # node, namespace → pods by key
        self._volumes: dict[str, _Volume] = {}
        self._by_secret: dict[tuple[str, str], set[str]] = {}  # → names of volumes
        self._attachments: dict[str, str] = {}  # name → node
        self._slices: dict[str, str] = {}

    # --- events ---

    def take_pod(self, key: str, record: Record | None) -> None:
        _, namespace, _ = key.split("/", 2)
        old = self._pods.pop(key, None)
        if old is not None:
            group = self._bound[old.node, namespace]
            del group[key]
            if not group:
                del self._bound[old.node, namespace]
        node = "" if record is None else _node_of(record)
        if record is None or not node:
            return
        pod = self._pods[key] = _Pod(node, record)
        self._bound.setdefault((node, namespace), {})[key] = pod
        if old is not None and old.node == node and old.references is not None and _same_references(old.record, record):
            pod.references = old.references

    def take_volume(self, key: str, record: Record | None) -> None:
        name = key.rpartition("/")[2]
        old = self._volumes.pop(name, None)
        for secret in old.secrets if old is not None else ():
            self._by_secret[secret].discard(name)
            if not self._by_secret[secret]:
                del self._by_secret[secret]
        if record is None:
            return
        obj = orjson.loads(record.value)
        claim = (obj.get("spec") or {}).get("claimRef")
        if not claim:
            return
        volume = self._volumes[name] = _Volume((claim.get("namespace") or "", claim.get("name") or ""), volume_secrets(obj))
        for secret in volume.secrets:
            self._by_secret.setdefault(secret, set()).add(name)

    def take_attachment(self, key: str, record: Record | None) -> None:
        self._own(self._attachments, key, record)

    def take_slice(self, key: str, record: Record | None) -> None:
        self._own(self._slices, key, record)

    @staticmethod
    def _own(owners: dict[str, str], key: str, record: Record | None) -> None:
        """Note which node an object is about."""
        name = key.rpartition("/")[2]
        node = "" if record is None else (orjson.loads(record.value).get("spec") or {}).get("nodeName") or ""
        if node:
            owners[name] = node
        else:
            owners.pop(name, None)

    # --- questions ---

    def has_path(self, node: str, kind: str, namespace: str, name: str) -> bool:
        """Whether a node may read an object because of what runs there."""
        match kind:
            case "pods":
                pod = self._pods.get(f"pods/{namespace}/{name}")
                return pod is not None and pod.node == node
            case "secrets":
                return self._refers(node, kind, namespace, name) or self._through_volume(node, namespace, name)
            case "persistentvolumes":
                volume = self._volumes.get(name)
                return volume is not None and self._refers(node, "claims", *volume.claim)
            case "volumeattachments":
                return self._attachments.get(name) == node
            case "resourceslices":
                return self._slices.get(name) == node
        return self._refers(node, kind, namespace, name)

    def _through_volume(self, node: str, namespace: str, name: str) -> bool:
        volumes = (self._volumes[volume] for volume in self._by_secret.get((namespace, name), ()))
        return any(self._refers(node, "claims", *volume.claim) for volume in volumes)

    def _refers(self, node: str, kind: str, namespace: str, name: str) -> bool:
        return any(name in getattr(references, kind) for references in self._references(node, namespace))

    def _references(self, node: str, namespace: str) -> Iterator[References]:
        for pod in self._bound.get((node, namespace), _NOBODY).values():
            yield pod.read()


_NOBODY: Mapping[str, Any] = {}


def _node_of(record: Record) -> str:
    """The node that a pod is bound to, without reading the pod where the store knows it."""
    selection = record.selection
    if selection is not None:
        node: str = selection.fields.get("spec.nodeName", "")
        return node
    if b'"nodeName"' not in record.value:
        return ""
    return (orjson.loads(record.value).get("spec") or {}).get("nodeName") or ""


def _same_references(old: Record, new: Record) -> bool:
    """Whether a bound pod cannot refer to anything else than before: the same pod, without the parts that may yet grow."""
    return old.created == new.created and not any(word in new.value for word in _CHANGING)
