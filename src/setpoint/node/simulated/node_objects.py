"""The Node and Lease objects of a simulated node, as a kubelet writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from setpoint.kit.clock import rfc3339, rfc3339_micro

LEASE_NAMESPACE = "kube-node-lease"
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}
CONDITIONS = len(_PRESSURES) + 1


class NodeSpec(Struct, frozen=True):
    """One node: its name, its size in Kubernetes' quantities, labels and taints beyond the usual."""

    name: str
    cpu: str = "8"
    memory: str = "16Gi"
    pods: int = 110
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()


def node_body(spec: NodeSpec, address: str, version: str, now: float) -> dict[str, Any]:
    """The Node that registration creates."""
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": spec.name,
        "kubernetes.io/os": "linux",
        **spec.labels,
    }
    body: dict[str, Any] = {
        "metadata": {"name": spec.name, "labels": labels},
        "spec": {"taints": [dict(taint) for taint in spec.taints]} if spec.taints else {},
        "status": node_status(spec, address, version, now),
    }
    return body


def node_status(spec: NodeSpec, address: str, version: str, now: float, since: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The status of a node that is well; `since` are the transition times of conditions that were so before."""
    size = {
        "cpu": spec.cpu,
        "memory": spec.memory,
        "pods": str(spec.pods),
        "ephemeral-storage": "100Gi",
    }
    return {
        "capacity": size,
        "allocatable": size,
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": spec.name}],
        "conditions": node_conditions(now, since or {}),
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "osImage": "simulated",
            "kernelVersion": "simulated",
            "containerRuntimeVersion": "simulated://1",
            "kubeletVersion": version,
            "kubeProxyVersion": "",
            "machineID": spec.name,
            "systemUUID": spec.name,
            "bootID": spec.name,
        },
    }


def node_conditions(now: float, since: Mapping[str, str]) -> list[dict[str, Any]]:
    def condition(type: str, status: str, reason: str, message: str) -> dict[str, Any]:
        return {
            "type": type,
            "status": status,
            "lastHeartbeatTime": rfc3339(now),
            "lastTransitionTime": since.get(type) or rfc3339(now),
            "reason": reason,
            "message": message,
        }

    pressures = [condition(name, "False", *text) for name, text in _PRESSURES.items()]
    return [*pressures, condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")]


def lease_body(name: str, uid: str, seconds: int, now: float) -> dict[str, Any]:
    """The Lease of a node; the Node owns it, so that it goes with it."""
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}
    return {
        "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
        "spec": {"holderIdentity": name, "leaseDurationSeconds": seconds, "renewTime": rfc3339_micro(now)},
    }
