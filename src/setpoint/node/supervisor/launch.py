"""Starting one process: fork, a session of its own, its view of the files, its user, its streams, exec.

What goes wrong between fork and exec comes back over a pipe as text, so that the pod's status can say it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from setpoint.node.supervisor import cgroups, mounts


@dataclass(frozen=True)
class Launch:
    """One process. `isolation` is mounts, bubblewrap or none; `join` the pid of a container whose namespaces to enter."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    directory: str = "/"
    isolation: str = "none"
    mounts: Sequence[mounts.Mount] = field(default_factory=tuple)
    root: str = ""
    hostname: str = ""
    bubblewrap: str = ""
    join: int = 0
    uid: int | None = None
    gid: int | None = None
    groups: Sequence[int] = ()
    no_new_privileges: bool = False
    tty: bool = False
    cgroups: Sequence[str] = ()


class LaunchError(OSError):
    """The process did not come to run; the message is for the pod's status."""


def start(launch: Launch, stdin: int, stdout: int, stderr: int) -> int:
    """The pid of the running process; raises LaunchError. The descriptors stay the caller's."""
    read, write = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _child(launch, (stdin, stdout, stderr), write, supervisor)
    os.close(write)
    with os.fdopen(read, "rb") as complaint:
        text = complaint.read().decode(errors="replace")
    if text:
        os.waitpid(pid, 0)
        raise LaunchError(text)
    return pid


def _child(launch: Launch, streams: tuple[int, int, int], complaint: int, supervisor: int) -> NoReturn:
    try:
        os.setsid()
        cgroups.enter(launch.cgroups)
        _streams(streams, tty=launch.tty)
        argv = _namespaces(launch)
        _identity(launch)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        if sys.platform == "linux":
            mounts.prctl(mounts.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != supervisor:
                os._exit(137)
        _directory(launch)
        _execute(argv, dict(launch.environment))
    except BaseException as error:  # noqa: BLE001  # the child must never return into the supervisor's loop
        os.write(complaint, _explain(error, launch).encode())
    finally:
        os._exit(127)


def _streams(streams: tuple[int, int, int], *, tty: bool) -> None:
    for wanted, given in enumerate(streams):
        os.dup2(given, wanted, inheritable=True)
    if tty:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _namespaces(launch: Launch) -> list[str]:
    """Enter or make the view of the files; the arguments to run there."""
    argv = list(launch.argv)
    if launch.join:
        mounts.join(launch.join)
    elif launch.isolation == "mounts":
        mounts.unshare(launch.hostname)
        view = mounts.View(launch.root)
        view.build(launch.mounts)
        view.enter()
    elif launch.isolation == "bubblewrap":
        change = ["--chdir", launch.directory] if launch.directory else []
        argv = [*mounts.bubblewrap(launch.bubblewrap, launch.mounts)[:-1], *change, "--", *argv]
    return argv


def _identity(launch: Launch) -> None:
    own = os.geteuid()
    if own == 0:
        if launch.uid:
            _own_streams(launch.uid)
        if launch.uid is not None or launch.gid is not None:
            os.setgroups(list(launch.groups))
        if launch.gid is not None:
            os.setgid(launch.gid)
        if launch.uid is not None:
            os.setuid(launch.uid)
    elif launch.uid is not None and launch.uid != own:
        raise LaunchError(f"runAsUser {launch.uid}: this node runs as user {own} and cannot become another")
    if launch.no_new_privileges and sys.platform == "linux":
        mounts.prctl(mounts.PR_SET_NO_NEW_PRIVS, 1)


def _own_streams(uid: int) -> None:
    """Let another user open its own streams by name (`/dev/stdout`, the terminal), as container runtimes do."""
    null = os.stat(os.devnull).st_rdev
    for number in (0, 1, 2):
        if os.fstat(number).st_rdev != null:
            os.fchown(number, uid, -1)


def _directory(launch: Launch) -> None:
    if launch.isolation == "bubblewrap" and not launch.join:
        return
    try:
        os.chdir(launch.directory or "/")
    except FileNotFoundError:
        os.makedirs(launch.directory)  # container runtimes make a missing working directory
        os.chdir(launch.directory)


def _execute(argv: list[str], environment: Mapping[str, str]) -> NoReturn:
    """Become the command. A name is looked for in those directories of PATH that may be entered."""
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606  # running the pod's command is the job
    except PermissionError:
        directories = os.get_exec_path(environment)
        if "/" in argv[0] or any(os.access(f"{directory or '.'}/{argv[0]}", os.F_OK) for directory in directories):
            raise
        raise FileNotFoundError(argv[0]) from None


def _explain(error: BaseException, launch: Launch) -> str:
    name = launch.argv[0] if launch.argv else ""
    if isinstance(error, FileNotFoundError) and not isinstance(error, LaunchError):
        return (
            f'exec: "{name}": executable file not found in $PATH'
            if "/" not in name
            else f'exec: "{name}": no such file or directory'
        )
    if isinstance(error, PermissionError):
        user = f" (as user {launch.uid}; securityContext.runAsUser chooses another)" if launch.uid else ""
        return f'exec: "{name}": {error.strerror or "permission denied"}{user}'
    return str(error) or type(error).__name__
