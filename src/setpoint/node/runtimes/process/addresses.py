"""A loopback address per pod, from 127.64.0.0/10 (decision 19)."""

from __future__ import annotations

import ipaddress


class Exhausted(RuntimeError):
    """Every address of the node's range is taken."""


class Addresses:
    """The node's range. Addresses are given in order, so that one is not used again soon."""

    def __init__(self, cidr: str) -> None:
        self._network = ipaddress.ip_network(cidr)
        self._taken: dict[str, str] = {}  # address -> pod uid
        self._last = 1

    def take(self, pod_uid: str, wanted: str = "") -> str:
        """An address for the pod, `wanted` if it is free; the same one when asked again."""
        for address, holder in self._taken.items():
            if holder == pod_uid:
                return address
        address = wanted if wanted and wanted not in self._taken else self._next()
        self._taken[address] = pod_uid
        return address

    def _next(self) -> str:
        size = self._network.num_addresses
        for _ in range(size):
            self._last = self._last + 1 if self._last + 2 < size else 2
            address = str(self._network[self._last])
            if address not in self._taken:
                return address
        raise Exhausted(f"no free pod address in {self._network}")

    def release(self, pod_uid: str) -> None:
        for address in [address for address, holder in self._taken.items() if holder == pod_uid]:
            del self._taken[address]
