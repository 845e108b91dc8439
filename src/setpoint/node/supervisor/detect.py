"""Which isolation this host and user can give, found out by doing it; runs in the template, which has one thread and may fork."""

from __future__ import annotations

import os
import signal
import sys
import tempfile

from setpoint.node.supervisor import launch
from setpoint.node.supervisor.mounts import Mount

PLACE = "/run/setpoint-probe/there"  # a path that the host lacks


def detect(wanted: str, bubblewrap: str) -> str:
    """mounts, bubblewrap or none: the best that works. `wanted` insists on one; `bubblewrap` is the path of bwrap, or empty."""
    if wanted == "none" or sys.platform != "linux":
        return "none"
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        if wanted != "bubblewrap" and _works("mounts", ""):
            return "mounts"
        return "bubblewrap" if bubblewrap and _works("bubblewrap", bubblewrap) else "none"
    finally:
        signal.signal(signal.SIGCHLD, before)


def _works(mode: str, program: str) -> bool:
    """Run a program in a view where a directory appears at a path that the host lacks."""
    with tempfile.TemporaryDirectory(prefix="setpoint-isolation-") as folder, open(os.devnull, "r+b") as null:
        root, source = os.path.join(folder, "root"), os.path.join(folder, "source")
        os.mkdir(root)
        os.mkdir(source)
        wanted = launch.Launch(
            argv=["test", "-d", PLACE],
            environment={"PATH": os.environ.get("PATH", os.defpath)},
            isolation=mode,
            bubblewrap=program,
            root=root,
            mounts=[Mount(source, PLACE, read_only=True)],
        )
        try:
            pid = launch.start(wanted, null.fileno(), null.fileno(), null.fileno())
        except OSError:
            return False
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
