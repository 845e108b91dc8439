"""What the server says, without refusing, about a Service.

Source: `pkg/api/service/warnings.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.address_warnings import cidr_warnings, ip_warnings
from setpoint.registry.service import needs
from setpoint.registry.service.needs import NONE

_HINTS, _MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"

Spec = Mapping[str, Any]


def service_warnings(service: Mapping[str, Any]) -> list[str]:
    spec = service.get("spec") or {}
    out = []
    if _HINTS in (service["metadata"].get("annotations") or {}):
        out.append(f"annotation {_HINTS} is deprecated, please use {_MODE} instead")
    for i, address in enumerate(spec.get("clusterIPs") or ()):
        out += ip_warnings(f"spec.clusterIPs[{i}]", address) if address != NONE else []
    headless = spec.get("type") == "ClusterIP" and needs.is_headless(spec)
    out += _headless(spec) if headless else []
    out += _external(spec, headless=headless)
    out += ip_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP") or "")
    for i, value in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        out += cidr_warnings(f"spec.loadBalancerSourceRanges[{i}]", value)
    return out + _by_type(spec)


def _headless(spec: Spec) -> list[str]:
    out = [f"spec.{field} is ignored for headless services" for field in ("loadBalancerIP", "externalIPs") if spec.get(field)]
    if spec.get("sessionAffinity") != "None":
        out.append("spec.SessionAffinity is ignored for headless services")
    return out


def _external(spec: Spec, *, headless: bool) -> list[str]:
    addresses = spec.get("externalIPs") or ()
    out = [warning for i, address in enumerate(addresses) for warning in ip_warnings(f"spec.externalIPs[{i}]", address)]
    if addresses and not headless and spec.get("type") != "ExternalName":
        out.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    return out


def _by_type(spec: Spec) -> list[str]:
    out = []
    if spec.get("type") == "ExternalName" and spec.get("externalIPs"):
        out.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        out.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        out.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return out


def status_warnings(status: Mapping[str, Any]) -> list[str]:
    """About what a load balancer reports; the path ends at the entry, as in Kubernetes."""
    ingress = (status.get("loadBalancer") or {}).get("ingress") or ()
    path = "status.loadBalancer.ingress"
    return [warning for i, entry in enumerate(ingress) for warning in ip_warnings(f"{path}[{i}]", entry.get("ip") or "")]
