"""What all objects have in common, whether they are Structs or plain JSON: metadata, hence keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from setpoint.api.types.meta_v1 import ObjectMeta


class HasMetadata(Protocol):
    """Any generated Struct of a kind: what code relies on that works for several kinds."""

    @property
    def metadata(self) -> ObjectMeta: ...


def meta_of(obj: Any) -> Any:
    """The metadata of an object: a Struct's attribute or a dict's member."""
    return obj["metadata"] if isinstance(obj, dict) else obj.metadata


def key_of(obj: Any) -> str:
    """`namespace/name`, or `name` for objects outside namespaces: the key of stores and work queues."""
    if isinstance(obj, dict):
        meta = obj["metadata"]
        return key(meta.get("namespace", ""), meta["name"])
    meta = obj.metadata
    return f"{meta.namespace}/{meta.name}" if meta.namespace else str(meta.name)


def key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def resource_version_of(obj: Any) -> str:
    if isinstance(obj, dict):
        return str(obj["metadata"].get("resourceVersion", ""))
    return str(obj.metadata.resource_version)


def namespace_of(obj: Any) -> str:
    if isinstance(obj, dict):
        return str(obj["metadata"].get("namespace", ""))
    return str(obj.metadata.namespace)
