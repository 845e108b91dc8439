"""Images that stand for a program of this host, so that a few well-known manifests run as they are.

An alias must be an honest stand-in: the same program, or one that does the same job when the container gives no arguments of its
own. Everything else needs `command` in the pod's spec.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence

SLEEP_FOR_EVER = ("sleep", "infinity")

# repository's last word -> command that the image would run
ALIASES: Mapping[str, Sequence[str]] = {
    "pause": SLEEP_FOR_EVER,
    "agnhost-pause": SLEEP_FOR_EVER,
    "busybox": ("sh",),
    "alpine": ("sh",),
    "debian": ("bash",),
    "ubuntu": ("bash",),
    "bash": ("bash",),
    "python": ("python3",),
    "node": ("node",),
    "ruby": ("irb",),
    "redis": ("redis-server",),
    "memcached": ("memcached",),
    "nginx": ("nginx", "-g", "daemon off;"),
    "httpd": ("httpd", "-DFOREGROUND"),
    "caddy": ("caddy", "run"),
}


def repository(image: str) -> str:
    """`registry:5000/library/nginx:1.27@sha256:…` -> `nginx`."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0]


def lookup(image: str) -> Sequence[str]:
    """The command of an alias whose program this host has; () otherwise."""
    command = ALIASES.get(repository(image), ())
    if command and command[0] == "python3" and shutil.which("python3") is None:
        return (sys.executable,)
    return command if command and shutil.which(command[0]) else ()


def program_of(command: Sequence[str], path: str) -> str:
    """Where the command's program lies, "" if it is not found on this host."""
    return (shutil.which(command[0], path=path) or "") if command else ""
