"""The event recorder: what happened to an object, for people to read. It never blocks and never fails its caller.

Interface: `recorder.event(obj, "Normal" | "Warning", reason, message)`; `await recorder.run()` sends what was recorded.
"""

from __future__ import annotations

from typing import Any, Protocol


class EventRecorder(Protocol):
    """What controllers get."""

    def event(self, obj: Any, kind: str, reason: str, message: str) -> None:
        """Record; `obj` is the Struct the event is about, `kind` Normal or Warning."""
