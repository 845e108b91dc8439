"""Validation of Services.

Source: `pkg/apis/core/validation/validation.go` (ValidateService, ValidateServiceUpdate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, forbidden, invalid, not_supported, required
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, dns_label, dns_subdomain, labels, port_or_name, qualified_name
from setpoint.registry.pod.validation.ports import validate_protocol
from setpoint.registry.service import needs
from setpoint.registry.service.addresses import related_field_errors

Spec = Mapping[str, Any]

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_TRAFFIC = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_MAX_AFFINITY = 86400
_RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges"
_TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints"
_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
_ONLY_BALANCER = "may only be used when `type` is 'LoadBalancer'"


def validate_service(service: Mapping[str, Any]) -> Errors:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    errors = _topology(service["metadata"].get("annotations") or {})
    if not ports and not needs.is_headless(spec) and spec.get("type") != "ExternalName":
        errors.append(required("spec.ports"))
    errors += _by_type(spec) + _ports(ports)
    errors += labels("spec.selector", spec.get("selector"))
    errors += _affinity(spec)
    errors += related_field_errors(spec)
    errors += _external_ips(spec)
    kind = spec.get("type", "")
    if kind not in _TYPES:
        errors.append(not_supported("spec.type", kind, _TYPES) if kind else required("spec.type"))
    if kind == "ClusterIP":
        why = "may not be used when `type` is 'ClusterIP'"
        errors += [forbidden(f"spec.ports[{i}].nodePort", why) for i, port in enumerate(ports) if port.get("nodePort")]
    errors += _repeated_ports(ports)
    errors += _balancer(service, spec)
    errors += load_balancer_class(spec, None)
    return errors + _traffic(spec)


def _topology(annotations: Mapping[str, str]) -> Errors:
    """The annotation had another name once; where both are given they must agree."""
    old, new = annotations.get(_TOPOLOGY_HINTS), annotations.get(_TOPOLOGY_MODE)
    if old is None or new is None or old == new:
        return []
    why = f"must match annotations[{_TOPOLOGY_HINTS}] when both are specified"
    return [invalid(f"metadata.annotations[{_TOPOLOGY_MODE}]", new, why)]


def _by_type(spec: Spec) -> Errors:
    kind = spec.get("type")
    if kind in {"LoadBalancer", "NodePort"} and needs.is_headless(spec):
        return [invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")]
    if kind != "ExternalName":
        return []
    why = "may not be set for ExternalName services"
    errors: Errors = [
        forbidden(f"spec.{field}", why) for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy") if spec.get(field)
    ]
    name = spec.get("externalName", "").removesuffix(".")
    return errors + (dns_subdomain("spec.externalName", name) if name else [required("spec.externalName")])


def _ports(ports: Sequence[Spec]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, port in enumerate(ports):
        path, name, number = f"spec.ports[{i}]", port.get("name", ""), port.get("port", 0)
        if name:
            errors += dns_label(f"{path}.name", name)
            errors += [duplicate(f"{path}.name", name)] if name in seen else []
            seen.add(name)
        elif len(ports) > 1:
            errors.append(required(f"{path}.name"))
        errors += complain(f"{path}.port", number, names.port_number(number))
        errors += validate_protocol(f"{path}.protocol", port.get("protocol", ""))
        errors += port_or_name(f"{path}.targetPort", port.get("targetPort", 0))
        if port.get("appProtocol") is not None:
            errors += qualified_name(f"{path}.appProtocol", port["appProtocol"])
    return errors


def _repeated_ports(ports: Sequence[Spec]) -> Errors:
    """Node ports that several ports of one number have; those of other numbers have been refused when they were allocated."""
    errors: Errors = []
    held: set[tuple[Any, ...]] = set()
    for i, port in enumerate(ports):
        node_port = port.get("nodePort", 0)
        holder = (port.get("protocol", ""), port.get("port", 0), node_port)
        if node_port and holder in held:
            errors.append(duplicate(f"spec.ports[{i}].nodePort", node_port))
        held.add(holder)
    seen: set[tuple[str, int]] = set()
    for i, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            shown = go_form.of({"protocol": key[0], "port": key[1]}, "ServicePort")
            errors.append(duplicate(f"spec.ports[{i}]", shown))
        seen.add(key)
    return errors


def _affinity(spec: Spec) -> Errors:
    affinity, config = spec.get("sessionAffinity", ""), spec.get("sessionAffinityConfig")
    path = "spec.sessionAffinityConfig"
    if not affinity:
        return [required("spec.sessionAffinity")]
    if affinity == "None":
        why = "must not be set when session affinity is None"
        return [] if config is None else [forbidden(path, why)]
    if affinity != "ClientIP":
        return [not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))]
    why = "when session affinity type is ClientIP"
    client = (config or {}).get("clientIP")
    seconds = (client or {}).get("timeoutSeconds")
    if config is None:
        return [required(path, why)]
    if client is None:
        return [required(f"{path}.clientIP", why)]
    if seconds is None:
        return [required(f"{path}.clientIP.timeoutSeconds", why)]
    if 0 < seconds <= _MAX_AFFINITY:
        return []
    return [invalid(f"{path}.clientIP.timeoutSeconds", seconds, f"must be greater than 0 and less than {_MAX_AFFINITY}")]


def _external_ips(spec: Spec) -> Errors:
    errors: Errors = []
    for i, address in enumerate(spec.get("externalIPs") or ()):
        path = f"spec.externalIPs[{i}]"
        errors += complain(path, address, formats.ip(address)) or complain(path, address, formats.special_ip(address))
    return errors


def _balancer(service: Mapping[str, Any], spec: Spec) -> Errors:
    is_balancer = spec.get("type") == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges") or ()
    annotation = (service["metadata"].get("annotations") or {}).get(_RANGES_ANNOTATION)
    errors: Errors = []
    if ranges:
        path = "spec.LoadBalancerSourceRanges"
        errors += [] if is_balancer else [forbidden(path, _ONLY_BALANCER)]
        for i, value in enumerate(ranges):
            errors += complain(f"{path}[{i}]", value.strip(), formats.cidr(value.strip()))
    elif annotation is not None:
        path = f"metadata.annotations[{_RANGES_ANNOTATION}]"
        errors += [] if is_balancer else [forbidden(path, _ONLY_BALANCER)]
        for value in annotation.strip().split(",") if annotation.strip() else ():
            errors += complain(path, value.strip(), formats.cidr(value.strip()))
    if not is_balancer and spec.get("allocateLoadBalancerNodePorts") is not None:
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_BALANCER))
    return errors


def load_balancer_class(spec: Spec, old: Spec | None) -> Errors:
    """Set when the Service becomes a load balancer, and for as long as it is one. Updates are checked twice, as in Kubernetes."""
    value = spec.get("loadBalancerClass")
    path = "spec.loadBalancerClass"
    errors: Errors = []
    if old is not None and spec.get("type") == old.get("type") == "LoadBalancer" and value != old.get("loadBalancerClass"):
        errors.append(invalid(path, value, "may not change once set"))
    if value is None:
        return errors
    if spec.get("type") != "LoadBalancer":
        return [*errors, forbidden(path, _ONLY_BALANCER)]
    return errors + qualified_name(path, value)


def _traffic(spec: Spec) -> Errors:
    external, internal = spec.get("externalTrafficPolicy", ""), spec.get("internalTrafficPolicy")
    errors: Errors = []
    if not needs.externally_accessible(spec):
        if external:
            why = "may only be set for externally-accessible services"
            errors.append(invalid("spec.externalTrafficPolicy", external, why))
    elif not external:
        errors.append(required("spec.externalTrafficPolicy"))
    elif external not in _TRAFFIC:
        errors.append(not_supported("spec.externalTrafficPolicy", external, _TRAFFIC))
    errors += _health_check(spec)
    if internal is None and needs.internal_traffic_policy(spec):
        errors.append(required("spec.internalTrafficPolicy"))
    elif internal is not None and internal not in _TRAFFIC:
        errors.append(not_supported("spec.internalTrafficPolicy", internal, _TRAFFIC))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))
    return errors


def _health_check(spec: Spec) -> Errors:
    """A missing port is no complaint here: it is allocated."""
    port, path = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if not port:
        return []
    if not needs.health_check_port(spec):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        return [invalid(path, port, why)]
    return complain(path, port, names.port_number(port))


def health_check_change(spec: Spec, old: Spec) -> Errors:
    both = needs.health_check_port(spec) and needs.health_check_port(old)
    if both and spec.get("healthCheckNodePort", 0) != old.get("healthCheckNodePort", 0):
        return [forbidden("spec.healthCheckNodePort", "field is immutable")]
    return []


def validate_status(service: Mapping[str, Any]) -> Errors:
    """Addresses that a load balancer reports."""
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    path = "status.loadBalancer.ingress"
    if ingress and (service.get("spec") or {}).get("type") != "LoadBalancer":
        return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: Errors = []
    for i, entry in enumerate(ingress):
        errors += _ingress(f"{path}[{i}]", entry)
    return errors


def _ingress(path: str, entry: Spec) -> Errors:
    address, mode, hostname = entry.get("ip", ""), entry.get("ipMode"), entry.get("hostname", "")
    errors = complain(f"{path}.ip", address, formats.ip(address)) if address else []
    if mode is None:
        errors += [required(f"{path}.ipMode", "must be specified when `ip` is set")] if address else []
    elif not address:
        errors.append(forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set"))
    elif mode not in {"VIP", "Proxy"}:
        errors.append(not_supported(f"{path}.ipMode", mode, ("Proxy", "VIP")))
    if hostname:
        errors += dns_subdomain(f"{path}.hostname", hostname)
        if formats.parse_ip(hostname) is not None:
            errors.append(invalid(f"{path}.hostname", hostname, "must be a DNS name, not an IP address"))
    return errors
