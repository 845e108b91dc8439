"""References to container images: enough of their grammar to know the tag.

Source: the distribution project's `reference` package, through Kubernetes' `pkg/util/parsers`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_DOMAIN = re.compile(rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?")
_REST = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*(?::(?P<tag>\w[\w.-]{{0,127}}))?(?:@(?P<digest>.+))?", re.ASCII)
_DIGEST = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}")
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")


@lru_cache(maxsize=4096)
def tag(image: str) -> str:
    """The tag of an image: `latest` if it says nothing, empty if it has a digest alone or is no reference at all."""
    first, slash, rest = image.partition("/")
    is_domain = bool(slash) and ("." in first or ":" in first or first == "localhost" or first.lower() != first)
    name = rest if is_domain else image
    match = _REST.fullmatch(name)
    if match is None or _IDENTIFIER.fullmatch(image) or (is_domain and not _DOMAIN.fullmatch(first)):
        return ""
    if match["digest"] and not _DIGEST.fullmatch(match["digest"]):
        return ""
    return match["tag"] or ("" if match["digest"] else "latest")


def default_pull_policy(image: str) -> str:
    return "Always" if tag(image) == "latest" else "IfNotPresent"
