"""What a Service of a type needs: addresses, ports of nodes, policies.

Source: `pkg/registry/core/service/storage`, `pkg/api/service`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = Mapping[str, Any]
NONE = "None"


def cluster_ip(spec: Spec) -> bool:
    """Whether it has an address, or `None` for one; so has a type that nobody knows, until it is refused."""
    return spec.get("type") != "ExternalName"


def internal_traffic_policy(spec: Spec) -> bool:
    return spec.get("type") in {"ClusterIP", "NodePort", "LoadBalancer"}


def allocates_node_ports(spec: Spec) -> bool:
    """Whether ports that say nothing get one of every node."""
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return spec.get("type") == "NodePort"


def may_have_node_ports(spec: Spec) -> bool:
    return spec.get("type") in {"NodePort", "LoadBalancer"}


def health_check_port(spec: Spec) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def externally_accessible(spec: Spec) -> bool:
    return may_have_node_ports(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def is_headless(spec: Spec) -> bool:
    return list(spec.get("clusterIPs") or ()) == [NONE]
