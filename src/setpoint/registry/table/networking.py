"""The resources of networking.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ingressclasses",
        singular="ingressclass",
        kind="IngressClass",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("networking", "IngressClass"),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ingresses",
        singular="ingress",
        kind="Ingress",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("networking", "Ingress"),
        short_names=("ing",),
        subresources=(status("Ingress", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="networking.k8s.io",
        versions=("v1",),
        plural="ipaddresses",
        singular="ipaddress",
        kind="IPAddress",
        namespaced=False,
        strategy=Strategy(),
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
        strategy=Strategy(),
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
        strategy=SpecStatusStrategy(),
        definitions=definitions("networking", "ServiceCIDR"),
        subresources=(status("ServiceCIDR", StatusStrategy(SpecStatusStrategy())),),
    ),
)
