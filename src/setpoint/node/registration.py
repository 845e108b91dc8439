"""The Node object: labels, addresses, capacity, what the agent runs on, conditions."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NODES, Node
from setpoint.client.client import ClientProtocol
from setpoint.kit.clock import Clock, rfc3339
from setpoint.node.options import AgentOptions
from setpoint.node.runtime import Description
from setpoint.node.supervisor.procfs import boot_id

KUBELET_VERSION = "v1.36.0"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64", "AMD64": "amd64"}
_EVICTION_MEMORY = 100 * 1024 * 1024  # what kubelet keeps back by default
_HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def architecture() -> str:
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def operating_system() -> str:
    return platform.system().lower()


class Registration:
    """Makes and keeps the Node object. `port` is the agent's own HTTPS port."""

    def __init__(self, client: ClientProtocol, options: AgentOptions, clock: Clock, runtime: Description, port: int) -> None:
        self._client = client
        self._options = options
        self._clock = clock
        self._runtime = runtime
        self._port = port
        self._since: dict[str, tuple[str, str]] = {}
        self._sent: Mapping[str, Any] | None = None
        self._node_info = node_info(runtime)
        self._capacity = capacity(options)
        self.allocatable = allocatable(self._capacity)

    def labels(self) -> dict[str, str]:
        arch, system = architecture(), operating_system()
        return {
            "beta.kubernetes.io/arch": arch,
            "beta.kubernetes.io/os": system,
            "kubernetes.io/arch": arch,
            "kubernetes.io/hostname": self._options.name,
            "kubernetes.io/os": system,
            **self._options.labels,
        }

    async def register(self) -> Node:
        """Create the Node, or bring an existing one up to date; raises StatusError, TransportError."""
        body = {"metadata": {"name": self._options.name, "labels": self.labels()}, "spec": {}, "status": self.status()}
        try:
            node = await self._client.create(NODES, body)
        except StatusError as error:
            if error.code != 409:
                raise
            node = await self._client.patch(NODES, self._options.name, {"metadata": {"labels": self.labels()}})
            for condition in node.status.conditions:
                self._since[condition.type] = (condition.status, condition.last_transition_time)
        await self.report()
        return node

    async def report(self) -> None:
        """Patch the status; raises StatusError, TransportError."""
        status = self.status()
        await self._client.patch(NODES, self._options.name, {"status": status}, kind="strategic", subresource="status")
        self._sent = status

    async def contradicted(self) -> bool:
        """Whether the API has other conditions of the node than were sent; raises StatusError, TransportError."""
        node = await self._client.get(NODES, self._options.name)
        found = {condition.type: condition.status for condition in node.status.conditions}
        return any(found.get(kind) != status for kind, status, *_ in _HEALTHY)

    def status(self) -> dict[str, Any]:
        return {
            "addresses": [
                {"type": "InternalIP", "address": self._options.address},
                {"type": "Hostname", "address": self._options.name},
            ],
            "capacity": self._capacity,
            "allocatable": self.allocatable,
            "conditions": [self._condition(*condition) for condition in _HEALTHY],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._port}},
            "nodeInfo": self._node_info,
        }

    def _condition(self, kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
        now = rfc3339(self._clock.now())
        known = self._since.get(kind)
        since = known[1] if known is not None and known[0] == status else now
        self._since[kind] = (status, since)
        return {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": since,
        }


def capacity(options: AgentOptions) -> dict[str, str]:
    """What this host has: cores, memory, disk, pods."""
    import psutil

    return {
        "cpu": str(os.cpu_count() or 1),
        "ephemeral-storage": f"{shutil.disk_usage(options.directory).total // 1024}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{psutil.virtual_memory().total // 1024}Ki",
        "pods": str(options.max_pods),
    }


def allocatable(whole: Mapping[str, str]) -> dict[str, str]:
    """Capacity less what kubelet's default eviction thresholds keep back: 100 MiB of memory, a tenth of the disk."""
    memory = int(whole["memory"].removesuffix("Ki")) * 1024 - _EVICTION_MEMORY
    disk = int(whole["ephemeral-storage"].removesuffix("Ki")) * 1024 * 9 // 10
    return {**whole, "ephemeral-storage": str(disk), "memory": f"{max(0, memory) // 1024}Ki"}


def node_info(runtime: Description) -> dict[str, str]:
    machine = _first_line("/etc/machine-id") or platform.node()
    return {
        "machineID": machine,
        "systemUUID": machine,
        "bootID": boot_id(),
        "kernelVersion": platform.release(),
        "osImage": _os_name(),
        "containerRuntimeVersion": f"{runtime.name}://{runtime.version}",
        "kubeletVersion": KUBELET_VERSION,
        "kubeProxyVersion": "",
        "operatingSystem": operating_system(),
        "architecture": architecture(),
    }


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform())
    except OSError:
        return platform.platform()
