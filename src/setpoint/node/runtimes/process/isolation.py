"""What isolation the runtime gives, and what to say where it gives none. `supervisor/detect.py` finds out which it is."""

from __future__ import annotations

from msgspec import Struct

NONE_WARNING = (
    "this host gives no mount namespaces to this user: volumes are not at their mount paths but in the directories named by the "
    "environment variables SETPOINT_VOLUME_<NAME> (installing bubblewrap, or allowing user namespaces, helps)"
)


class Isolation(Struct, frozen=True):
    """`mode` is mounts, bubblewrap or none; `program` the path of bwrap."""

    mode: str
    program: str = ""

    @property
    def warning(self) -> str:
        return NONE_WARNING if self.mode == "none" else ""
