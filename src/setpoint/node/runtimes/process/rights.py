"""What pods get of the host beyond processes: an address, and where root may give it, a network, a user and limits of their own.

What cannot be had is found out once, when the agent starts, and said: in its log and in events of the Node.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from setpoint.kit import logs
from setpoint.node.runtime import Limits, SandboxSpec, own_network
from setpoint.node.runtimes.process import cgroups, network
from setpoint.node.runtimes.process.addresses import Addresses, user_of
from setpoint.node.runtimes.process.cgroups import Cgroups
from setpoint.node.runtimes.process.forward import ApiForward
from setpoint.node.runtimes.process.network import Network
from setpoint.node.runtimes.process.supervisor_client import SupervisorClient
from setpoint.node.runtimes.process.template import Template
from setpoint.node.supervisor import cgroups as groups

log = logs.get_logger("node.process")


class Settings(Struct, frozen=True):
    """What the runtime gives pods where it may. `directory` is the node's; `network` is auto or host; `users` and `cgroups` say
    whether pods get a user and limits of their own, `max_pids` limits a pod's processes. Pods with networks of their own find
    the API server, which listens at `api`, at `service`.
    """

    directory: str = ""
    network: str = "host"
    users: bool = False
    cgroups: bool = False
    max_pids: int = 0
    api: tuple[str, int] = ("", 0)
    service: tuple[str, int] = ("", 0)


class Rights:
    """One node's. `range` is its part of 127.64.0.0/10, for pods on the host's network."""

    def __init__(self, settings: Settings, template: Template, host_address: str, range_: str) -> None:
        self._settings = settings
        self._template = template
        self._host_address = host_address
        self._network: Network | None = None
        self._cgroups: Cgroups | None = None
        self.addresses = Addresses(range_)
        self.api = ApiForward(*settings.api)

    @property
    def network(self) -> str:
        """`pod` or `host`."""
        return "pod" if self._network is not None else "host"

    async def find(self) -> Mapping[str, str]:
        """Find out what can be given; what cannot, by the reason of an event."""
        complaints = {}
        if self._settings.network == "auto":
            self._network, lacking = await network.prepare(self._template, self._settings.directory)
            if self._network is None:
                complaints["HostNetwork"] = f"pods are on the host's network, with loopback addresses: {lacking}"
            else:
                self.addresses = Addresses(self._network.range)
                if not self._network.out:
                    complaints["NoWayOut"] = network.NO_WAY_OUT
        if self._settings.cgroups and is_root():
            self._cgroups = await asyncio.get_running_loop().run_in_executor(None, self._find_cgroups)
            if self._cgroups.warning:
                complaints["NoLimits"] = self._cgroups.warning
        for reason, message in complaints.items():
            # what an ordinary user or an ordinary host cannot have is no fault of anything
            (log.warning if is_root() and reason != "NoWayOut" else log.info)(message)
        return complaints

    def _find_cgroups(self) -> Cgroups:
        """What may be used of control groups; what an earlier agent left of them is taken away."""
        found = cgroups.find(self._settings.directory, self._settings.max_pids)
        groups.sweep(found.node())
        groups.sweep_old(found.of_others())
        return found

    async def close(self) -> None:
        """Give back what was the node's, unless pods still have it."""
        self.api.close()
        if self._network is not None:
            with contextlib.suppress(OSError):
                await network.remove(self._template, self._network)
        if self._cgroups is not None:
            groups.remove(self._cgroups.node(), 0)

    def user_of(self, pod_uid: str, directory: str, isolation: str) -> int | None:
        """One of the pod's own where its view of the files is: the node's directory is closed to every other user."""
        if not (self._settings.users and is_root() and isolation == "mounts"):
            return None
        return user_of(self.addresses.take(pod_uid, directory))

    def limits(self, pod_uid: str, container_id: str, limits: Limits) -> Mapping[str, Any]:
        """The container's control groups, for its supervisor."""
        return self._cgroups.wanted(pod_uid, container_id, limits) if self._cgroups is not None else {}

    def address(self, spec: SandboxSpec) -> str:
        if spec.host_network:
            return self._host_address
        return self.addresses.take(spec.pod_uid, spec.directory, spec.address)

    async def fork(self, spec: SandboxSpec, address: str) -> None:
        """A supervisor for the pod, in its network. A bridge that somebody took away is there again for the next try."""
        own = self._network if not spec.host_network else None
        try:
            wanted = own.request(address, self._settings.service[0]) if own is not None else None
            await self._template.fork(spec.directory, spec.pod_uid, wanted)
        except OSError:
            if own is not None:
                await network.prepare(self._template, self._settings.directory)
            raise

    async def show_api(self, spec: SandboxSpec, address: str, client: SupervisorClient) -> None:
        """Let a pod in a network of its own find the API server at the `kubernetes` service's address."""
        if spec.host_network or not own_network(address):
            return
        host, port = self._settings.service
        try:
            answer = await client.request("listen", address=host, port=port)
        except OSError as error:
            log.warning("a pod will not find the API server", pod=spec.pod_uid, error=str(error))
            return
        self.api.add(spec.pod_uid, socket.socket(fileno=answer["descriptors"][0]))

    async def give_back(self, pod_uid: str) -> None:
        """What the pod had: its pair, its control groups and what hides in them, its address."""
        if self._network is not None and (address := self.addresses.of(pod_uid)):
            with contextlib.suppress(OSError):
                await network.disconnect(self._template, self._network, address)
        if self._cgroups is not None:
            await asyncio.get_running_loop().run_in_executor(None, groups.end, self._cgroups.pod(pod_uid))
        self.addresses.release(pod_uid)


def is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0
