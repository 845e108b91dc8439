"""networking/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class ServiceBackendPort(View, frozen=True, kw_only=True):
    name: str = ""
    number: int = 0


class IngressServiceBackend(View, frozen=True, kw_only=True):
    name: str = ""
    port: ServiceBackendPort = ServiceBackendPort()


class IngressBackend(View, frozen=True, kw_only=True):
    resource: core_v1.TypedLocalObjectReference | None = None
    service: IngressServiceBackend | None = None


class HTTPIngressPath(View, frozen=True, kw_only=True, rename={"path_type": "pathType"}):
    backend: IngressBackend = IngressBackend()
    path: str = ""
    path_type: str | None = None


class HTTPIngressRuleValue(View, frozen=True, kw_only=True):
    paths: Nullable[tuple[HTTPIngressPath, ...]] = ()

    def __post_init__(self) -> None:
        if self.paths is None:
            force_setattr(self, "paths", ())


class ParentReference(View, frozen=True, kw_only=True):
    group: str = ""
    name: str = ""
    namespace: str = ""
    resource: str = ""


class IPAddressSpec(View, frozen=True, kw_only=True, rename={"parent_ref": "parentRef"}):
    parent_ref: ParentReference | None = None


class IPAddress(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: IPAddressSpec = IPAddressSpec()


class IPAddressList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[IPAddress, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class IPBlock(View, frozen=True, kw_only=True, rename={"except_": "except"}):
    cidr: str = ""
    except_: tuple[str, ...] = ()


class IngressRule(View, frozen=True, kw_only=True):
    host: str = ""
    http: HTTPIngressRuleValue | None = None


class IngressTLS(View, frozen=True, kw_only=True, rename={"secret_name": "secretName"}):
    hosts: tuple[str, ...] = ()
    secret_name: str = ""


class IngressSpec(
    View, frozen=True, kw_only=True, rename={"default_backend": "defaultBackend", "ingress_class_name": "ingressClassName"}
):
    default_backend: IngressBackend | None = None
    ingress_class_name: str | None = None
    rules: tuple[IngressRule, ...] = ()
    tls: tuple[IngressTLS, ...] = ()


class IngressPortStatus(View, frozen=True, kw_only=True):
    error: str | None = None
    port: int = 0
    protocol: str = ""


class IngressLoadBalancerIngress(View, frozen=True, kw_only=True):
    hostname: str = ""
    ip: str = ""
    ports: tuple[IngressPortStatus, ...] = ()


class IngressLoadBalancerStatus(View, frozen=True, kw_only=True):
    ingress: tuple[IngressLoadBalancerIngress, ...] = ()


class IngressStatus(View, frozen=True, kw_only=True, rename={"load_balancer": "loadBalancer"}):
    load_balancer: IngressLoadBalancerStatus = IngressLoadBalancerStatus()


class Ingress(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: IngressSpec = IngressSpec()
    status: IngressStatus = IngressStatus()


class IngressClassParametersReference(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None
    scope: str | None = None


class IngressClassSpec(View, frozen=True, kw_only=True):
    controller: str = ""
    parameters: IngressClassParametersReference | None = None


class IngressClass(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: IngressClassSpec = IngressClassSpec()


class IngressClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[IngressClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class IngressList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Ingress, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class NetworkPolicyPort(View, frozen=True, kw_only=True, rename={"end_port": "endPort"}):
    end_port: int | None = None
    port: int | str | None = None
    protocol: str | None = None


class NetworkPolicyPeer(
    View,
    frozen=True,
    kw_only=True,
    rename={"ip_block": "ipBlock", "namespace_selector": "namespaceSelector", "pod_selector": "podSelector"},
):
    ip_block: IPBlock | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    pod_selector: meta_v1.LabelSelector | None = None


class NetworkPolicyEgressRule(View, frozen=True, kw_only=True):
    ports: tuple[NetworkPolicyPort, ...] = ()
    to: tuple[NetworkPolicyPeer, ...] = ()


class NetworkPolicyIngressRule(View, frozen=True, kw_only=True, rename={"from_": "from"}):
    from_: tuple[NetworkPolicyPeer, ...] = ()
    ports: tuple[NetworkPolicyPort, ...] = ()


class NetworkPolicySpec(View, frozen=True, kw_only=True, rename={"pod_selector": "podSelector", "policy_types": "policyTypes"}):
    egress: tuple[NetworkPolicyEgressRule, ...] = ()
    ingress: tuple[NetworkPolicyIngressRule, ...] = ()
    pod_selector: meta_v1.LabelSelector = meta_v1.LabelSelector()
    policy_types: tuple[str, ...] = ()


class NetworkPolicy(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: NetworkPolicySpec = NetworkPolicySpec()


class NetworkPolicyList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[NetworkPolicy, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ServiceCIDRSpec(View, frozen=True, kw_only=True):
    cidrs: tuple[str, ...] = ()


class ServiceCIDRStatus(View, frozen=True, kw_only=True):
    conditions: tuple[meta_v1.Condition, ...] = ()


class ServiceCIDR(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ServiceCIDRSpec = ServiceCIDRSpec()
    status: ServiceCIDRStatus = ServiceCIDRStatus()


class ServiceCIDRList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ServiceCIDR, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


INGRESSCLASSES: Resource[IngressClass] = Resource(
    "networking.k8s.io", "v1", "ingressclasses", "IngressClass", False, IngressClass
)
INGRESSES: Resource[Ingress] = Resource("networking.k8s.io", "v1", "ingresses", "Ingress", True, Ingress)
IPADDRESSES: Resource[IPAddress] = Resource("networking.k8s.io", "v1", "ipaddresses", "IPAddress", False, IPAddress)
NETWORKPOLICIES: Resource[NetworkPolicy] = Resource(
    "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", True, NetworkPolicy
)
SERVICECIDRS: Resource[ServiceCIDR] = Resource("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", False, ServiceCIDR)
