"""Parts that an object shares with one that is in stored form already. Loads no schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_shared(value: Any, name: str, settled: Mapping[str, Any]) -> bool:
    """Whether a part of an object is the very part of a settled one."""
    return type(value) is dict and value is settled.get(name)
