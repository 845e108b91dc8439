"""Services and what stands around them.

Source: Kubernetes `pkg/printers/internalversion/printers.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Object
from setpoint.registry.tables.printing import AGE, NAME, NONE, age, column, labels, listed, name, selector, simple


def _balancer(obj: Object) -> list[str]:
    """The addresses of the load balancer, sorted."""
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return sorted({one.get("ip") or one.get("hostname") or "" for one in ingress} - {""})


def _external(service: Object, spec: Mapping[str, Any]) -> str:
    given = list(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(given) or NONE
        case "LoadBalancer":
            return ",".join([*_balancer(service), *given]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return "<unknown>"


def _port(port: Mapping[str, Any]) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{node}/{port.get('protocol', '')}"


def _service(service: Object, now: float) -> list[Any]:
    spec = service.get("spec") or {}
    return [
        name(service),
        spec.get("type", ""),
        spec.get("clusterIP") or NONE,
        _external(service, spec),
        ",".join(map(_port, spec.get("ports") or ())) or NONE,
        age(service, now),
        labels(spec.get("selector")),
    ]


_SPEC = "core.v1.ServiceSpec"
SERVICE = Table(
    (
        NAME,
        column("Type", f"{_SPEC}.type"),
        column("Cluster-IP", f"{_SPEC}.clusterIP"),
        column("External-IP", f"{_SPEC}.externalIPs"),
        column("Port(s)", f"{_SPEC}.ports"),
        AGE,
        column("Selector", f"{_SPEC}.selector", wide=True),
    ),
    _service,
)


def _host_port(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def _endpoints(obj: Object) -> list[Any]:
    pairs = [
        _host_port(address.get("ip", ""), port.get("port", 0)) if port else address.get("ip", "")
        for subset in obj.get("subsets") or ()
        for port in subset.get("ports") or (None,)
        for address in subset.get("addresses") or ()
    ]
    return [listed(pairs, empty="") if obj.get("subsets") else NONE]


ENDPOINTS = simple(column("Endpoints", "core.v1.Endpoints.subsets"), cells=_endpoints)


def _slice(obj: Object) -> list[Any]:
    ports = (str(port.get("name", "") if port.get("port") is None else port["port"]) for port in obj.get("ports") or ())
    addresses = (address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ())
    return [obj.get("addressType", ""), listed(ports), listed(addresses)]


ENDPOINT_SLICE = simple(
    column("AddressType", "discovery.v1.EndpointSlice.addressType"),
    column("Ports", "discovery.v1.EndpointSlice.ports"),
    column("Endpoints", "discovery.v1.EndpointSlice.endpoints"),
    cells=_slice,
)


def _hosts(rules: Any) -> str:
    """The first three hosts; `*` where no rule names one. Rules after those are counted whether they name a host or not."""
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == 3:
            return f"{','.join(hosts)} + {len(rules) - 3} more..."
        hosts += [rule["host"]] if rule.get("host") else []
    return ",".join(hosts) or "*"


def _ingress(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        spec.get("ingressClassName") or NONE,
        _hosts(spec.get("rules") or ()),
        ",".join(_balancer(obj)),
        "80, 443" if spec.get("tls") else "80",
    ]


INGRESS = simple(
    column("Class", text="The name of the IngressClass resource that should be used for additional configuration"),
    column("Hosts", text="Hosts that incoming requests are matched against before the ingress rule"),
    column("Address", text="Address is a list containing ingress points for the load-balancer"),
    column("Ports", text="Ports of TLS configurations that open"),
    cells=_ingress,
)


def _ingress_class(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    parameters = spec.get("parameters")
    if not parameters:
        text = NONE
    else:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        text = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    return [spec.get("controller", ""), text]


INGRESS_CLASS = simple(
    column("Controller", text="Controller that is responsible for handling this class"),
    column("Parameters", text="A reference to a resource with additional parameters"),
    cells=_ingress_class,
)
NETWORK_POLICY = simple(
    column("Pod-Selector", "networking.v1.NetworkPolicySpec.podSelector"),
    cells=lambda obj: [selector((obj.get("spec") or {}).get("podSelector") or {})],
)
SERVICE_CIDR = simple(
    column("CIDRs", "networking.v1.ServiceCIDRSpec.cidrs"),
    cells=lambda obj: [",".join((obj.get("spec") or {}).get("cidrs") or ())],
)


def _ip_address(obj: Object, now: float) -> list[Any]:
    """There is a cell for the age but no column of it: so Kubernetes has it."""
    parent = (obj.get("spec") or {}).get("parentRef")
    if not parent:
        return [name(obj), NONE, age(obj, now)]
    resource = f"{parent.get('resource', '')}.{parent['group']}" if parent.get("group") else parent.get("resource", "")
    parts = [resource.lower(), parent.get("namespace"), parent.get("name", "")]
    return [name(obj), "/".join(part for part in parts if part), age(obj, now)]


IP_ADDRESS = Table((NAME, column("ParentRef", "networking.v1.IPAddressSpec.parentRef")), _ip_address)
