"""A network namespace per pod: a veth pair from the pod to the node's bridge, and an address of the node's range on both ends.

The namespace is the supervisor's own and its containers inherit it, so that it ends, with the pair, when the pod's last process
does: nothing is left behind by whoever is killed. The bridge says in its alias whose it is; one without ports whose agent is
gone is removed by the next agent that comes. Runs in the template and its forks: one thread, which may change namespaces.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import hashlib
import os
import re
import socket
import struct
from collections.abc import Iterator, Sequence

from setpoint.node.supervisor import mounts, procfs
from setpoint.node.supervisor.netlink import Netlink

CLONE_NEWNET = 0x40000000
RANGE, LENGTH = "10.244.0.0", 16  # what kubeadm's examples give to pods; each node takes one /24 of it
NODE_LENGTH = 24
INTERFACE = "eth0"
_BRIDGE = re.compile(r"sp[0-9a-f]{6}").fullmatch
_ALIAS = "setpoint node"
_SIOCGIFCONF, _IFREQ = 0x8912, 40


def bridge_name(directory: str) -> str:
    """The bridge of the node that is kept in `directory`."""
    return "sp" + hashlib.sha256(directory.encode()).hexdigest()[:6]


def veth_name(bridge: str, address: str) -> str:
    """The host's end of a pod's pair: one per address, so that two pods can never share one."""
    return bridge + "p" + socket.inet_aton(address)[2:].hex()


def _number(address: str) -> int:
    return int(struct.unpack("!I", socket.inet_aton(address))[0])


def _address(number: int) -> str:
    return socket.inet_ntoa(struct.pack("!I", number))


def _mask(length: int) -> int:
    return (0xFFFFFFFF << (32 - length)) & 0xFFFFFFFF


def prepare(directory: str, wanted: str) -> str:
    """Make the node's bridge, or find it standing; its range. `wanted` is the range that it had before. Raises OSError."""
    bridge = bridge_name(directory)
    with _alone(), Netlink() as netlink:
        _sweep(netlink, bridge)
        taken = list(_routes())
        standing = [_address(place) for place, _, interface in taken if interface == bridge]
        if standing:
            _own(bridge)
            return f"{standing[0]}/{NODE_LENGTH}"
        netlink.remove(bridge)  # without an address it is half made
        network = _free(taken, wanted)
        hardware = b"\x02" + hashlib.sha256(directory.encode()).digest()[:5]
        netlink.add_bridge(bridge, hardware, _note())
        try:
            netlink.add_address(bridge, _address(network + 1), NODE_LENGTH)
            _try(bridge, _address(network + 2))
        except OSError:
            netlink.remove(bridge)
            raise
        _forward(bridge)
        return f"{_address(network)}/{NODE_LENGTH}"


def remove(directory: str) -> None:
    """Remove the node's bridge unless pods are still on it."""
    bridge = bridge_name(directory)
    with _alone(), Netlink() as netlink:
        if not _ports(bridge):
            netlink.remove(bridge)


def enter() -> None:
    """Give this process a network namespace of its own."""
    mounts.check(mounts.libc.unshare(CLONE_NEWNET), "unshare network")


def connect(bridge: str, address: str, pid: int) -> None:
    """From the host's side: a pair between the bridge and the namespace of `pid`."""
    name = veth_name(bridge, address)
    with Netlink() as netlink:
        netlink.remove(name)  # of a pod that was killed: the kernel takes its time to clear a namespace away
        netlink.add_veth(name, bridge, INTERFACE, pid)


def disconnect(bridge: str, address: str) -> None:
    with Netlink() as netlink:
        netlink.remove(veth_name(bridge, address))


def configure(address: str, also: str, ways: Sequence[tuple[str, int]]) -> None:
    """From inside: loopback, the pod's address, the ways through the bridge. `also` is an address of the pod's loopback.

    Where there is no way, the kernel says so at once: a client would wait long for an answer that cannot come.
    """
    gateway = _address((_number(address) & _mask(NODE_LENGTH)) + 1)
    with Netlink() as netlink:
        netlink.up("lo")
        netlink.add_address(INTERFACE, address, NODE_LENGTH)
        netlink.up(INTERFACE)
        for place, length in ways:
            netlink.add_route(place, length, gateway, INTERFACE)
        if also:
            netlink.add_address("lo", also, 32)
    # as container runtimes do: the namespace is the pod's own, so that its user may take any port and ping
    for setting, value in (("ip_unprivileged_port_start", "0"), ("ping_group_range", "0 2147483647")):
        _set(f"/proc/sys/net/ipv4/{setting}", value)


def listen(address: str, port: int) -> socket.socket:
    """A listener inside the pod's namespace, for the agent to serve."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def join_peer(bridge: str, address: str, also: str, answer: socket.socket, *, out: bool) -> None:
    """The pod's half of a new network: a namespace, a word to the parent, its word, then the set-up. `out` says whether there is
    a way to the world, too.
    """
    ways = [("0.0.0.0", 0)] if out else [(RANGE, LENGTH), *((each, 32) for each in _host_addresses(bridge))]  # noqa: S104  # all
    try:
        enter()
        answer.send(b"+")
        if answer.recv(1) != b"+":
            raise OSError(f"{veth_name(bridge, address)} could not be made")
        configure(address, also, ways)
    except OSError as error:
        answer.send(str(error).encode())
        raise
    answer.send(b"+")


def connect_peer(bridge: str, address: str, pid: int, answer: socket.socket) -> None:
    """The template's half; raises OSError with what went wrong on either side."""
    _expect(answer)
    try:
        connect(bridge, address, pid)
    except OSError:
        answer.send(b"-")
        raise
    answer.send(b"+")
    _expect(answer)


def _expect(answer: socket.socket) -> None:
    said = answer.recv(1024)
    if said != b"+":
        raise OSError(f"the pod's network could not be made: {said.decode(errors='replace') or 'its process ended'}")


def _try(bridge: str, address: str) -> None:
    """Whether namespaces and pairs can be made here, by doing it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            try:  # the child must never return into the template's loop
                ours.close()
                join_peer(bridge, address, "", theirs, out=False)
            finally:
                os._exit(0)
        theirs.close()
        try:
            connect_peer(bridge, address, pid, ours)
        finally:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            disconnect(bridge, address)


# -- the host's networks


def _routes() -> Iterator[tuple[int, int, str]]:
    """Every network that the host has a way to: (address, mask, interface); the default route is none."""
    with open("/proc/net/route", encoding="ascii") as file:
        rows = file.readlines()[1:]
    for row in rows:
        fields = row.split()
        place, mask = (int.from_bytes(int(fields[at], 16).to_bytes(4, "little"), "big") for at in (1, 7))
        if mask:
            yield place, mask, fields[0]


def _free(taken: list[tuple[int, int, str]], wanted: str) -> int:
    """The first /24 of the range that no route overlaps, the wanted one before all."""
    first, own = _number(RANGE), _mask(NODE_LENGTH)
    candidates = [first + (index << 8) for index in range(1 << (NODE_LENGTH - LENGTH))]
    if wanted:
        candidates.insert(0, _number(wanted.partition("/")[0]))
    for candidate in candidates:
        if not any((candidate ^ place) & mask & own == 0 for place, mask, _ in taken):
            return candidate
    raise OSError(f"no free network for pods in {RANGE}/{LENGTH}")


def _host_addresses(bridge: str) -> list[str]:
    """The host's own addresses on its interfaces, without the loopback's and the bridge's."""
    room = array.array("B", bytes(64 * _IFREQ))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        place, _ = room.buffer_info()
        said = fcntl.ioctl(channel, _SIOCGIFCONF, struct.pack("iL", len(room), place))
    filled = room.tobytes()[: struct.unpack("iL", said)[0]]
    rows = [filled[at : at + _IFREQ] for at in range(0, len(filled), _IFREQ)]
    found = {socket.inet_ntoa(row[20:24]) for row in rows if row[:16].rstrip(b"\0").decode() != bridge}
    return sorted(each for each in found if not each.startswith("127."))


def _ports(bridge: str) -> list[str]:
    return [name for _, name in socket.if_nameindex() if name.startswith(bridge + "p")]


def _sweep(netlink: Netlink, own: str) -> None:
    """Remove what killed agents left: bridges without ports whose agent is gone."""
    for _, name in socket.if_nameindex():
        if name == own or not _BRIDGE(name):
            continue
        with contextlib.suppress(OSError, ValueError):
            alias = _read(f"/sys/class/net/{name}/ifalias")
            if not alias.startswith(_ALIAS) or _ports(name):
                continue
            pid, ticks = alias.split()[-2:]
            if not procfs.alive(int(pid), int(ticks)):
                netlink.remove(name)


def _note() -> str:
    agent = os.getppid()
    return f"{_ALIAS} {agent} {procfs.start_ticks(agent)}"


def _own(bridge: str) -> None:
    """Say that a bridge which a killed agent left is now this agent's."""
    _set(f"/sys/class/net/{bridge}/ifalias", _note())


def _forward(bridge: str) -> None:
    """Let pods reach those of the host's other nodes; the host's own interfaces are left as they are."""
    _set(f"/proc/sys/net/ipv4/conf/{bridge}/forwarding", "1")


def _set(path: str, value: str) -> None:
    with contextlib.suppress(OSError), open(path, "w", encoding="ascii") as file:
        file.write(value)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One agent of the host at a time looks for a free range."""
    handle = os.open("/run" if os.path.isdir("/run") else "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
