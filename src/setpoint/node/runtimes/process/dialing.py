"""Connections from the agent to a port inside a pod: to the pod's localhost, as far as it has one of its own."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Sequence

from setpoint.node.runtimes.process.supervisor_client import SupervisorClient
from setpoint.node.sockets import held_by
from setpoint.node.supervisor import procfs

_LOOPBACK = ("127.0.0.1", "::1")


async def dial(supervisor: SupervisorClient, address: str, port: int, pids: Sequence[int]) -> socket.socket:
    """A connection to whoever listens on `port`; raises OSError with a text for people.

    A socket belongs to the network in which it was made, so the pod's supervisor makes it. Pods on the host's network, each with
    a loopback `address` of its own or with `hostNetwork`, share its ports: only what one of the pod's `pids` listens on is the
    pod's. (Kubernetes would forward the connections of a pod with `hostNetwork` to every port of the host.)
    """
    found: OSError | None = None
    for place in (address, *_LOOPBACK) if address.startswith("127.") else _LOOPBACK:
        try:
            return await _connected(supervisor, place, port, pids)
        except OSError as error:
            found = found or error
    raise OSError(f"failed to connect to localhost:{port} inside the pod: {_why(found)}")


async def _connected(supervisor: SupervisorClient, place: str, port: int, pids: Sequence[int]) -> socket.socket:
    answer = await supervisor.request("socket", family=6 if ":" in place else 4)
    made = socket.socket(fileno=answer["descriptors"][0])
    try:
        if answer["network"] == procfs.network() and not await asyncio.to_thread(held_by, place, port, pids):
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, (place, port))
    except BaseException:
        made.close()
        raise
    return made


def _why(error: OSError | None) -> str:
    return os.strerror(error.errno).lower() if error is not None and error.errno else str(error)
