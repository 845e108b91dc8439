"""Fields that belong to the old type of a Service are dropped when the type changes, unless the user changed them, too.

Source: `pkg/registry/core/service/strategy.go` (dropTypeDependentFields).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.service import needs
from setpoint.registry.strategy import Object

Spec = Mapping[str, Any]


def drop_dependent(service: Object, old: Spec) -> None:
    """`old` is the spec that there was. What a load balancer reported goes with it."""
    spec = service["spec"]
    if not _is_load_balancer(spec) and (status := service.get("status") or {}).get("loadBalancer"):
        service["status"] = {**status, "loadBalancer": {}}
    if needs.cluster_ip(old) and not needs.cluster_ip(spec):
        if _same(spec, old, "clusterIP", "clusterIPs"):
            _drop(spec, "clusterIP", "clusterIPs")
        for field in ("ipFamilies", "ipFamilyPolicy"):
            if _same(spec, old, field):
                _drop(spec, field)
    if needs.may_have_node_ports(old) and not needs.may_have_node_ports(spec) and _node_ports(spec) <= _node_ports(old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    rules = (
        (needs.health_check_port, "healthCheckNodePort"),
        (_is_load_balancer, "allocateLoadBalancerNodePorts"),
        (_is_load_balancer, "loadBalancerClass"),
        (needs.externally_accessible, "externalTrafficPolicy"),
        (needs.internal_traffic_policy, "internalTrafficPolicy"),
    )
    for applies, field in rules:
        if applies(old) and not applies(spec) and _same(spec, old, field):
            _drop(spec, field)


def _is_load_balancer(spec: Spec) -> bool:
    return spec.get("type") == "LoadBalancer"


def _same(spec: Spec, old: Spec, *fields: str) -> bool:
    return all(spec.get(field) == old.get(field) for field in fields)


def _drop(spec: Object, *fields: str) -> None:
    for field in fields:
        spec.pop(field, None)


def _node_ports(spec: Spec) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}
