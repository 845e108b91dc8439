"""Pod specs about which there is nothing to say: of the thousand pods of a template only the first is looked at closely.

What a look finds depends on nothing but the spec where a pod has no annotations. Pods of one template differ in the name of the
volume that their token is in, which admission makes up: it stands for any name of its form, and only good specs are remembered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

_KEPT = 256
_LARGEST = 16 * 1024  # bytes
_TOKEN_VOLUME = re.compile("kube-api-access-[a-z0-9]{5}").fullmatch
#: holds what JSON never does, so that no other text can be taken for a name of the form
_ANY = b"\0token volume\0"


class KnownSpecs:
    """The specs that one kind of look found nothing in."""

    def __init__(self) -> None:
        self._texts: set[bytes] = set()

    def text_of(self, pod: Mapping[str, Any]) -> bytes:
        """What the pod's spec is remembered by; empty where a look at it depends on more, or it is too large."""
        spec = pod.get("spec") or {}
        if pod["metadata"].get("annotations"):
            return b""
        name = b""
        for volume in spec.get("volumes") or ():
            if "ephemeral" in volume:  # its claim bears the pod's name
                return b""
            if not name and _TOKEN_VOLUME(volume.get("name") or ""):
                name = volume["name"].encode()
        text: bytes = orjson.dumps(spec)
        if len(text) > _LARGEST:
            return b""
        return text.replace(name, _ANY) if name else text

    def __contains__(self, text: bytes) -> bool:
        return text in self._texts

    def add(self, text: bytes) -> None:
        """Remember a spec, if not for ever."""
        if not text:
            return
        if len(self._texts) >= _KEPT:
            self._texts.clear()
        self._texts.add(text)
