"""An address per pod, from the node's range, and the user that goes with it (decision 19).

A range is of 127.64.0.0/10 on the host's network and of 10.244.0.0/16 where pods have networks of their own. What a pod was given
is written down in its directory, so that it keeps it as long as the pod lives, whoever dies meanwhile.
"""

from __future__ import annotations

import ipaddress
import os

from setpoint.node.supervisor import records

RECORD = "address.json"
FIRST_USER = 200_000
_BASES = tuple(ipaddress.ip_network(each) for each in ("127.64.0.0/10", "10.244.0.0/16"))


class Exhausted(RuntimeError):
    """Every address of the node's range is taken."""


class Addresses:
    """The node's range. Addresses are given in order, so that one is not used again soon."""

    def __init__(self, cidr: str) -> None:
        self._network = ipaddress.ip_network(cidr)
        self._taken: dict[str, str] = {}  # address -> pod uid
        self._last = 1

    def take(self, pod_uid: str, directory: str, wanted: str = "") -> str:
        """An address for the pod: the one it had or else `wanted`, if that is free; the same one when asked again."""
        if has := self.of(pod_uid):
            return has
        address = next((each for each in (_recorded(directory), wanted) if self._free(each)), "") or self._next()
        self._taken[address] = pod_uid
        os.makedirs(directory, mode=0o700, exist_ok=True)
        records.write(os.path.join(directory, RECORD), {"address": address})
        return address

    def adopt(self, pod_uid: str, directory: str) -> None:
        """Keep the address of a pod that runs, even one of another range."""
        if address := _recorded(directory):
            self._taken[address] = pod_uid

    def _free(self, address: str) -> bool:
        return bool(address) and address not in self._taken and ipaddress.ip_address(address) in self._network

    def _next(self) -> str:
        size = self._network.num_addresses
        for _ in range(size):
            self._last = self._last + 1 if self._last + 2 < size else 2
            address = str(self._network[self._last])
            if address not in self._taken:
                return address
        raise Exhausted(f"no free pod address in {self._network}")

    def of(self, pod_uid: str) -> str:
        """What the pod has, "" if nothing."""
        return next((address for address, holder in self._taken.items() if holder == pod_uid), "")

    def release(self, pod_uid: str) -> None:
        for address in [address for address, holder in self._taken.items() if holder == pod_uid]:
            del self._taken[address]


def user_of(address: str) -> int:
    """The host's user for a pod's processes: no other pod of this host has it, as no other has the address."""
    place = ipaddress.ip_address(address)
    base = next((int(each.network_address) for each in _BASES if place in each), 0)
    return FIRST_USER + int(place) - base


def _recorded(directory: str) -> str:
    record = records.read(os.path.join(directory, RECORD))
    return str(record["address"]) if record is not None and "address" in record else ""
