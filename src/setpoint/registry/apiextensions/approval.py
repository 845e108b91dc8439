"""The approval of definitions in groups of the Kubernetes community: where it was given."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_url(word: str) -> bool:
    """Whether an annotation names a page; text that is no URL at all does not."""
    try:
        parts = urlsplit(word)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc)
