"""A container's view of the file system: the host's tree with the pod's volumes at their paths.

Runs in the forked child, before exec. The new root is a tmpfs in which every entry of `/` is bound. Where a mount path does not
exist, the nearest existing directory above it is *shadowed*: a tmpfs in its place, with each of its entries bound in, in which
the missing path can be made without touching the host. As an ordinary user this happens in a user namespace that maps the user
to itself.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWUSER = 0x20000, 0x4000000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_UNBINDABLE, MS_SLAVE = 4096, 16384, 1 << 17, 1 << 19
MS_NOATIME, MS_NODIRATIME, MS_RELATIME = 1024, 2048, 1 << 21
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
# statvfs flags that a remount in a user namespace may not drop
_KEPT = {2: MS_NOSUID, 4: MS_NODEV, 8: MS_NOEXEC, 1024: MS_NOATIME, 2048: MS_NODIRATIME, 4096: MS_RELATIME}

# consoles, serial lines and block devices: containers never have them, and each would cost a mount
_HOST_DEVICE = re.compile(r"(tty\w+|vcs\w*|hvc\d+|loop\d+|ram\d+|nbd\d+|[sv]d[a-z]\d*|nvme\w+)").fullmatch

libc = ctypes.CDLL(None, use_errno=True)


class Mount(NamedTuple):
    """`source` on the host appears at `target`."""

    source: str
    target: str
    read_only: bool


def check(result: int, what: str) -> None:
    """Raise what a call of the C library that failed left in errno."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, value: int) -> None:
    check(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def _mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    wanted = (source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None)
    check(libc.mount(*wanted), f"mount {source} at {target}")


def unshare(hostname: str) -> None:
    """New mount and UTS namespaces for this process, in a user namespace of its own unless it is root."""
    uid, gid = os.geteuid(), os.getegid()
    flags = CLONE_NEWNS | CLONE_NEWUTS | (CLONE_NEWUSER if uid else 0)
    check(libc.unshare(flags), "unshare")
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    if hostname:
        raw = hostname.encode()[:64]
        check(libc.sethostname(raw, len(raw)), "sethostname")


def join(pid: int) -> None:
    """Enter the namespaces of the container whose process is `pid`."""
    kinds = ["mnt", "uts"]
    if os.geteuid() and os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user"):
        kinds.insert(0, "user")
    handles = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
    for kind, handle in zip(kinds, handles, strict=True):
        check(libc.setns(handle, 0), f"setns {kind}")
        os.close(handle)


def _depth(path: str) -> int:
    return path.rstrip("/").count("/")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def shadows(mounts: Sequence[Mount]) -> list[str]:
    """The host's directories that must be shadowed so that every mount path can exist, outermost first.

    With `/run` there and `/run/secrets` missing, a mount at `/run/secrets/token` needs `/run`. One inside another mount needs
    none: its place is made in that volume, as container runtimes do. `/` always stands on a tmpfs.
    """
    found = set()
    for mount in mounts:
        if any(other is not mount and _within(mount.target, other.target) for other in mounts):
            continue
        place = mount.target
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        if place not in (mount.target, "/"):
            found.add(place)
    return sorted(found, key=_depth)


class View:
    """Builds the new root at `root`, an empty directory of the host."""

    def __init__(self, root: str) -> None:
        self.root = root

    def build(self, mounts: Sequence[Mount]) -> None:
        mounts = [mount._replace(target=os.path.realpath(mount.target)) for mount in mounts]
        _mount("none", "/", flags=MS_REC | MS_SLAVE)
        _mount("tmpfs", self.root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
        _mount("none", self.root, flags=MS_UNBINDABLE)
        self._fill("/")
        for path in shadows(mounts):
            self._shadow(path)
        for mount in sorted(mounts, key=lambda mount: _depth(mount.target)):
            self._add(mount)

    def enter(self) -> None:
        """Make the new root this process's root."""
        os.chdir(self.root)
        check(libc.pivot_root(b".", b"."), "pivot_root")
        check(libc.umount2(b".", MNT_DETACH), "umount")
        os.chdir("/")

    def _inside(self, path: str) -> str:
        return self.root if path == "/" else self.root + path

    def _fill(self, path: str) -> None:
        """Bind every entry of the host's directory `path` into the tmpfs that stands for it."""
        with os.scandir(path) as entries:
            for entry in entries:
                if path == "/dev" and _HOST_DEVICE(entry.name):
                    continue
                place = self._inside(os.path.join(path, entry.name))
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), place)
                    continue
                self._point(place, directory=entry.is_dir(follow_symlinks=False))
                try:
                    _mount(entry.path, place, flags=MS_BIND | MS_REC)
                except OSError:  # what this user may not see (another's FUSE mount, say) stays an empty place
                    continue

    def _point(self, place: str, *, directory: bool) -> None:
        if directory:
            os.makedirs(place, exist_ok=True)
        elif not os.path.lexists(place):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))

    def _add(self, mount: Mount) -> None:
        place = self._inside(mount.target)
        self._point(place, directory=os.path.isdir(mount.source))
        _mount(mount.source, place, flags=MS_BIND | MS_REC)
        if mount.read_only:
            kept = sum(ours for theirs, ours in _KEPT.items() if os.statvfs(place).f_flag & theirs)
            _mount("none", place, flags=MS_BIND | MS_REMOUNT | MS_RDONLY | kept)

    def _shadow(self, path: str) -> None:
        mode = os.stat(path).st_mode & 0o7777
        _mount("tmpfs", self._inside(path), "tmpfs", MS_NOSUID | MS_NODEV, f"mode={mode:o}")
        self._fill(path)


def bubblewrap(program: str, mounts: Sequence[Mount]) -> list[str]:
    """The same view as arguments of `bwrap`, for hosts where only that program may make user namespaces."""
    mounts = [mount._replace(target=os.path.realpath(mount.target)) for mount in mounts]
    out = [program, "--die-with-parent", "--tmpfs", "/", *_entries("/")]
    for path in shadows(mounts):
        out += ["--tmpfs", path, *_entries(path)]
    for mount in sorted(mounts, key=lambda mount: _depth(mount.target)):
        out += ["--ro-bind" if mount.read_only else "--bind", mount.source, mount.target]
    return [*out, "--"]


def _entries(path: str) -> list[str]:
    out: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if path == "/dev" and _HOST_DEVICE(entry.name):
                continue
            if entry.is_symlink():
                out += ["--symlink", os.readlink(entry.path), entry.path]
            else:
                out += ["--dev-bind-try", entry.path, entry.path]
    return out
