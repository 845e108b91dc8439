"""What the carriers bound: connections, targets, and the memory of what is still arriving. See docs/limits.md.

Kubernetes leaves both to the machine; one process that is also controllers and scheduler must not be talked out of its memory.
"""

from __future__ import annotations

import asyncio

from setpoint.api.machinery.status import StatusError, too_many_requests
from setpoint.kit import metrics

IDLE = 180.0  # seconds after which an unused connection is closed
MAX_CONNECTIONS = 16_384  # at the most; fewer where the system gives fewer file descriptors
_RESERVE = 512  # file descriptors for all else
SMALL_BODY = 64 * 1024  # bytes that are read without asking who sends them
BODIES = 128 * 1024 * 1024  # bytes of bigger bodies that may be arriving or in work at once
MAX_PATH = 8 * 1024  # characters; a path of names, each 253 long, is well below
MAX_PARAMETERS = 2_000
MAX_MESSAGE = 32 * 1024 * 1024  # bytes of one WebSocket message, which is read as a whole; as Go's DefaultMaxPayloadBytes
_STRANGERS_SHARE = 4  # those without an identity may fill a quarter of that
REFUSED = metrics.counter("setpoint_connections_refused_total", "Connections closed because there were too many.")
_TASKS = metrics.gauge("setpoint_tasks", "Tasks of the event loop.").labels()
_HELD = metrics.gauge("setpoint_request_body_bytes", "Bytes of big bodies that are arriving or in work.")


def _tasks() -> int:
    """How many tasks the running loop has; none where the metrics are asked for outside of one."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0


_TASKS.set_function(_tasks)


def check_target(target: str) -> None:
    """What a path costs grows with its length, and is spent before anybody is asked whether they may. Raises StatusError 414."""
    path, _, query = target.partition("?")
    if len(path) > MAX_PATH:
        raise StatusError(414, "", f"the path of the request is longer than {MAX_PATH} characters", {})
    if query.count("&") >= MAX_PARAMETERS:
        raise StatusError(414, "", f"the request has more than {MAX_PARAMETERS} parameters", {})


class BodyBudget:
    """How many bytes of big bodies are there; 429 for what does not fit."""

    def __init__(self, total: int = BODIES) -> None:
        self._total = total
        self.held = 0
        _HELD.labels().set_function(lambda: self.held)

    def take(self, size: int, *, stranger: bool) -> None:
        """Reserve room for a body; raises StatusError 429."""
        if self.held + size > (self._total // _STRANGERS_SHARE if stranger else self._total):
            raise too_many_requests("Too many requests, please try again later.", 1)
        self.held += size

    def give_back(self, size: int) -> None:
        self.held -= size


def connections() -> int:
    """How many connections there may be, once the process has all file descriptors that it may have."""
    try:
        import resource
    except ImportError:  # not on Windows, which does not count them like this
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * MAX_CONNECTIONS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):  # some systems have a limit of their own below the hard one
            pass
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(64, min(MAX_CONNECTIONS, soft - _RESERVE))
