"""PartialObjectMetadata: objects with nothing but their metadata."""

from __future__ import annotations

from typing import Any

import msgspec


def one(metadata: dict[str, Any], version: str) -> dict[str, Any]:
    """`meta.k8s.io/<version> PartialObjectMetadata`."""
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": metadata}


class _Metadata(msgspec.Struct):
    metadata: msgspec.Raw


_METADATA = msgspec.json.Decoder(_Metadata)


def of_json(value: bytes, version: str) -> bytes:
    """The same of an object's JSON, as JSON: its metadata is cut out, nothing of it is decoded."""
    metadata = _METADATA.decode(value).metadata
    return b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/%b","metadata":%b}' % (version.encode(), bytes(metadata))


def many(metadatas: list[dict[str, Any]], version: str, list_metadata: dict[str, Any]) -> dict[str, Any]:
    """The list of them; an empty one has null for items, as Go writes a nil slice."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": list_metadata,
        "items": [one(metadata, version) for metadata in metadatas] or None,
    }
