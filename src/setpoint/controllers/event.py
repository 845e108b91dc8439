"""What a plan has to tell."""

from __future__ import annotations

from msgspec import Struct


class Event(Struct, frozen=True):
    """Something to tell about the object that a plan is for; `kind` is Normal or Warning."""

    kind: str
    reason: str
    message: str
