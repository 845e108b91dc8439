"""The resources of networking.k8s.io."""

from __future__ import annotations

from setpoint.registry.networking.ingress import IngressStrategy, ingress_status
from setpoint.registry.networking.ingress_class import IngressClassStrategy
from setpoint.registry.networking.ip_address import IPAddressStrategy
from setpoint.registry.networking.network_policy import NetworkPolicyStrategy
from setpoint.registry.networking.service_cidr import ServiceCIDRStrategy, service_cidr_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ingressclasses",
        singular="ingressclass",
        kind="IngressClass",
        namespaced=False,
        strategy=IngressClassStrategy(),
        definitions=definitions("networking", "IngressClass"),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ingresses",
        singular="ingress",
        kind="Ingress",
        namespaced=True,
        strategy=IngressStrategy(),
        definitions=definitions("networking", "Ingress"),
        short_names=("ing",),
        subresources=(status("Ingress", ingress_status()),),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ipaddresses",
        singular="ipaddress",
        kind="IPAddress",
        namespaced=False,
        strategy=IPAddressStrategy(),
        definitions=definitions("networking", "IPAddress"),
        short_names=("ip",),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="networkpolicies",
        singular="networkpolicy",
        kind="NetworkPolicy",
        namespaced=True,
        strategy=NetworkPolicyStrategy(),
        definitions=definitions("networking", "NetworkPolicy"),
        short_names=("netpol",),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="servicecidrs",
        singular="servicecidr",
        kind="ServiceCIDR",
        namespaced=False,
        strategy=ServiceCIDRStrategy(),
        definitions=definitions("networking", "ServiceCIDR"),
        subresources=(status("ServiceCIDR", service_cidr_status()),),
    ),
)
