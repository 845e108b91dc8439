"""discovery/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class EndpointConditions(View, frozen=True, kw_only=True):
    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class ForNode(View, frozen=True, kw_only=True):
    name: str = ""


class ForZone(View, frozen=True, kw_only=True):
    name: str = ""


class EndpointHints(View, frozen=True, kw_only=True, rename={"for_nodes": "forNodes", "for_zones": "forZones"}):
    for_nodes: tuple[ForNode, ...] = ()
    for_zones: tuple[ForZone, ...] = ()


class Endpoint(
    View,
    frozen=True,
    kw_only=True,
    rename={"deprecated_topology": "deprecatedTopology", "node_name": "nodeName", "target_ref": "targetRef"},
):
    addresses: Nullable[tuple[str, ...]] = ()
    conditions: EndpointConditions = EndpointConditions()
    deprecated_topology: Mapping[str, str] = {}
    hints: EndpointHints | None = None
    hostname: str | None = None
    node_name: str | None = None
    target_ref: core_v1.ObjectReference | None = None
    zone: str | None = None

    def __post_init__(self) -> None:
        if self.addresses is None:
            force_setattr(self, "addresses", ())


class EndpointPort(View, frozen=True, kw_only=True, rename={"app_protocol": "appProtocol"}):
    app_protocol: str | None = None
    name: str | None = None
    port: int | None = None
    protocol: str | None = None


class EndpointSlice(View, frozen=True, kw_only=True, rename={"address_type": "addressType", "api_version": "apiVersion"}):
    address_type: str = ""
    api_version: str = ""
    endpoints: Nullable[tuple[Endpoint, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    ports: Nullable[tuple[EndpointPort, ...]] = ()

    def __post_init__(self) -> None:
        if self.endpoints is None:
            force_setattr(self, "endpoints", ())
        if self.ports is None:
            force_setattr(self, "ports", ())


class EndpointSliceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[EndpointSlice, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


ENDPOINTSLICES: Resource[EndpointSlice] = Resource(
    "discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", True, EndpointSlice
)
