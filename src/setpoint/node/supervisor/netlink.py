"""As much of rtnetlink as a pod's network takes: bridges, veth pairs, addresses, a route. Standard library only.

Source of the numbers: Linux' uapi headers (`rtnetlink.h`, `if_link.h`, `veth.h`). Every request is acknowledged, so that what the
kernel refuses comes back as OSError.
"""

from __future__ import annotations

import os
import socket
import struct
from types import TracebackType
from typing import Self

_NEWLINK, _DELLINK, _NEWADDR, _NEWROUTE = 16, 17, 20, 24
_REQUEST, _ACK, _EXCL, _CREATE = 1, 4, 0x200, 0x400
_ERROR = 2
_UP = 1
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MASTER, _IFLA_LINKINFO, _IFLA_NET_NS_PID, _IFLA_IFALIAS = 1, 3, 10, 18, 19, 20
_INFO_KIND, _INFO_DATA, _VETH_PEER = 1, 2, 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_RTA_DST, _RTA_OIF, _RTA_GATEWAY = 1, 4, 5
_TABLE_MAIN, _PROTOCOL_BOOT, _UNICAST = 254, 3, 1


def _attribute(kind: int, payload: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(payload), kind) + payload + b"\0" * (-len(payload) % 4)


def _link(index: int = 0, *, up: bool = False) -> bytes:
    flags = _UP if up else 0
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, flags)


class Netlink:
    """A connection to the kernel for the network namespace that the process is in when it is made."""

    def __init__(self) -> None:
        self._channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._channel.close()

    def _ask(self, kind: int, flags: int, body: bytes) -> None:
        self._number += 1
        self._channel.send(struct.pack("=IHHII", 16 + len(body), kind, flags | _REQUEST | _ACK, self._number, 0) + body)
        answer = self._channel.recv(65536)
        answered, code = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
        if answered == _ERROR and code:
            raise OSError(-code, os.strerror(-code))

    def add_bridge(self, name: str, hardware: bytes, note: str) -> None:
        """A bridge with a hardware address of its own: one that is a port's would change with the ports, and be cached."""
        info = _attribute(_INFO_KIND, b"bridge")
        wanted = ((_IFLA_IFNAME, name.encode()), (_IFLA_ADDRESS, hardware), (_IFLA_LINKINFO, info))
        self._ask(_NEWLINK, _CREATE | _EXCL, _link() + b"".join(_attribute(*each) for each in wanted))
        self._ask(_NEWLINK, 0, _link(socket.if_nametoindex(name), up=True) + _attribute(_IFLA_IFALIAS, note.encode()[:255]))

    def add_veth(self, name: str, bridge: str, peer: str, pid: int) -> None:
        """A pair: `name` here on the bridge, `peer` in the network namespace of `pid`."""
        there = _link() + _attribute(_IFLA_IFNAME, peer.encode()) + _attribute(_IFLA_NET_NS_PID, struct.pack("=I", pid))
        info = _attribute(_INFO_KIND, b"veth") + _attribute(_INFO_DATA, _attribute(_VETH_PEER, there))
        master = struct.pack("=I", socket.if_nametoindex(bridge))
        wanted = ((_IFLA_IFNAME, name.encode()), (_IFLA_MASTER, master), (_IFLA_LINKINFO, info))
        self._ask(_NEWLINK, _CREATE | _EXCL, _link(up=True) + b"".join(_attribute(*each) for each in wanted))

    def up(self, name: str) -> None:
        self._ask(_NEWLINK, 0, _link(socket.if_nametoindex(name), up=True))

    def remove(self, name: str) -> None:
        """Remove a link; nothing where there is none."""
        try:
            self._ask(_DELLINK, 0, _link(socket.if_nametoindex(name)))
        except OSError:
            if name in (known for _, known in socket.if_nameindex()):
                raise

    def add_address(self, name: str, address: str, length: int) -> None:
        raw = socket.inet_aton(address)
        body = struct.pack("=BBBBi", socket.AF_INET, length, 0, 0, socket.if_nametoindex(name))
        self._ask(_NEWADDR, _CREATE | _EXCL, body + _attribute(_IFA_LOCAL, raw) + _attribute(_IFA_ADDRESS, raw))

    def add_route(self, address: str, length: int, gateway: str, name: str) -> None:
        """A way to a network (`0.0.0.0` and 0: to all) through a gateway."""
        body = struct.pack("=BBBBBBBBI", socket.AF_INET, length, 0, 0, _TABLE_MAIN, _PROTOCOL_BOOT, 0, _UNICAST, 0)
        through = _attribute(_RTA_DST, socket.inet_aton(address)) + _attribute(_RTA_GATEWAY, socket.inet_aton(gateway))
        self._ask(_NEWROUTE, _CREATE, body + through + _attribute(_RTA_OIF, struct.pack("=i", socket.if_nametoindex(name))))
