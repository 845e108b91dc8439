"""Which isolation this host and user can give, found out once by doing it.

The order is the design's: mount namespaces of our own, the same by bubblewrap, none.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass

from setpoint.node.supervisor import launch

NONE_WARNING = (
    "this host gives no mount namespaces to this user: volumes are not at their mount paths but in the directories named by the "
    "environment variables SETPOINT_VOLUME_<NAME> (installing bubblewrap, or allowing user namespaces, helps)"
)


@dataclass(frozen=True, slots=True)
class Isolation:
    """`mode` is mounts, bubblewrap or none; `program` the path of bwrap."""

    mode: str
    program: str = ""

    @property
    def warning(self) -> str:
        return NONE_WARNING if self.mode == "none" else ""


def detect(wanted: str = "") -> Isolation:
    """The best that works; `wanted` names one mode to insist on. Blocks for some milliseconds."""
    if wanted == "none" or sys.platform != "linux":
        return Isolation("none")
    if wanted != "bubblewrap" and _works(Isolation("mounts")):
        return Isolation("mounts")
    program = shutil.which("bwrap") or ""
    if program and _works(Isolation("bubblewrap", program)):
        return Isolation("bubblewrap", program)
    return Isolation("none")


def _works(isolation: Isolation) -> bool:
    """Run a program in a view where a file appears at a path that the host lacks."""
    from setpoint.node.supervisor.mounts import Mount

    with tempfile.TemporaryDirectory(prefix="setpoint-isolation-") as folder:
        root, source = os.path.join(folder, "root"), os.path.join(folder, "source")
        os.mkdir(root)
        os.mkdir(source)
        with open(os.devnull, "r+b") as null:
            wanted = launch.Launch(
                argv=["test", "-d", "/run/setpoint-probe/there"],
                environment={"PATH": os.environ.get("PATH", os.defpath)},
                isolation=isolation.mode,
                bubblewrap=isolation.program,
                root=root,
                mounts=[Mount(source, "/run/setpoint-probe/there", read_only=True)],
            )
            try:
                pid = launch.start(wanted, null.fileno(), null.fileno(), null.fileno())
            except OSError:
                return False
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
