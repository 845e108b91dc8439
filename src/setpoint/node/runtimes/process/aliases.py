"""Images that stand for a program of this host, so that a few well-known manifests run as they are.

An alias must be an honest stand-in: the same program, or one that does the same job. As in an image, the container's `args`
replace what the image would run. Everything else needs `command` in the pod's spec.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence

# repository's last word -> what the image would run
ALIASES: Mapping[str, Sequence[str]] = {
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
# the same for images whose program stays when arguments are given
ENTRYPOINTS: Mapping[str, Sequence[str]] = {"pause": ("sleep", "infinity")}


def repository(image: str) -> str:
    """`registry:5000/library/nginx:1.27@sha256:…` -> `nginx`."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0]


def lookup(image: str) -> tuple[Sequence[str], Sequence[str]]:
    """Entrypoint and arguments of an alias; empty both for an image that is none."""
    name = repository(image)
    arguments = ALIASES.get(name, ())
    if arguments == ("python3",) and shutil.which("python3") is None:
        arguments = (sys.executable,)
    return ENTRYPOINTS.get(name, ()), arguments


def program_of(argv: Sequence[str], path: str) -> str:
    """Where the program lies, "" if this host has it not."""
    return (shutil.which(argv[0], path=path) or "") if argv else ""
