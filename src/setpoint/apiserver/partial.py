"""PartialObjectMetadata: objects with nothing but their metadata."""

from __future__ import annotations

from typing import Any


def one(metadata: dict[str, Any], version: str) -> dict[str, Any]:
    """`meta.k8s.io/<version> PartialObjectMetadata`."""
    return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{version}", "metadata": metadata}


def many(metadatas: list[dict[str, Any]], version: str, list_metadata: dict[str, Any]) -> dict[str, Any]:
    """The list of them; an empty one has null for items, as Go writes a nil slice."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": list_metadata,
        "items": [one(metadata, version) for metadata in metadatas] or None,
    }
