"""Whose listening socket answers on a port of this host (Linux; elsewhere nothing is known and everything counts)."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Sequence

_LISTEN = "0A"
_V6_LOOPBACK = "0" * 24 + "01000000"  # ::1, as the kernel shows it


def holder_outside(address: str, port: int, pids: Sequence[int]) -> str:
    """Who answers on `address:port` if it is none of `pids`: `process 123 (nginx)`; "" if it is one of them, or unknown."""
    inodes = set(_listeners(address, port))
    if not inodes or any(_holds(pid, inodes) for pid in pids):
        return ""
    for name in os.listdir("/proc"):
        if name.isdigit() and _holds(int(name), inodes):
            return f"process {name} ({_name(int(name))})"
    return ""


def held_by(address: str, port: int, pids: Sequence[int]) -> bool:
    """Whether it is one of `pids` that answers on `address:port`."""
    if not os.path.exists("/proc/net/tcp"):
        return True
    inodes = set(_listeners(address, port))
    return bool(inodes) and any(_holds(pid, inodes) for pid in pids)


def _listeners(address: str, port: int) -> Iterator[str]:
    """Inodes of the sockets that listen on the port, at this address or at all of them."""
    wanted = {"00000000", "0" * 32}
    wanted |= {_V6_LOOPBACK} if address == "::1" else {_hex4(address), f"0000000000000000FFFF0000{_hex4(address)}"}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table, encoding="ascii") as file:
                rows = file.readlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            place, _, number = fields[1].partition(":")
            if fields[3] == _LISTEN and int(number, 16) == port and place in wanted:
                yield fields[9]


def _hex4(address: str) -> str:
    try:
        return f"{struct.unpack('=I', socket.inet_aton(address))[0]:08X}"
    except OSError:
        return ""


def _holds(pid: int, inodes: set[str]) -> bool:
    wanted = {f"socket:[{inode}]" for inode in inodes}
    try:
        return any(_link(f"/proc/{pid}/fd/{name}") in wanted for name in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "?"
