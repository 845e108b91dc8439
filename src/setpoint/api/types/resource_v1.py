"""resource/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class NetworkDeviceData(
    View, frozen=True, kw_only=True, rename={"hardware_address": "hardwareAddress", "interface_name": "interfaceName"}
):
    hardware_address: str = ""
    interface_name: str = ""
    ips: tuple[str, ...] = ()


class AllocatedDeviceStatus(View, frozen=True, kw_only=True, rename={"network_data": "networkData", "share_id": "shareID"}):
    conditions: Nullable[tuple[meta_v1.Condition, ...]] = ()
    data: Any = None
    device: str = ""
    driver: str = ""
    network_data: NetworkDeviceData | None = None
    pool: str = ""
    share_id: str | None = None

    def __post_init__(self) -> None:
        if self.conditions is None:
            force_setattr(self, "conditions", ())


class OpaqueDeviceConfiguration(View, frozen=True, kw_only=True):
    driver: str = ""
    parameters: Any = None


class DeviceAllocationConfiguration(View, frozen=True, kw_only=True):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: tuple[str, ...] = ()
    source: str = ""


class DeviceToleration(View, frozen=True, kw_only=True, rename={"toleration_seconds": "tolerationSeconds"}):
    effect: str = ""
    key: str = ""
    operator: str = ""
    toleration_seconds: int | None = None
    value: str = ""


class DeviceRequestAllocationResult(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "admin_access": "adminAccess",
        "binding_conditions": "bindingConditions",
        "binding_failure_conditions": "bindingFailureConditions",
        "consumed_capacity": "consumedCapacity",
        "share_id": "shareID",
    },
):
    admin_access: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    consumed_capacity: Mapping[str, str] = {}
    device: str = ""
    driver: str = ""
    pool: str = ""
    request: str = ""
    share_id: str | None = None
    tolerations: tuple[DeviceToleration, ...] = ()


class DeviceAllocationResult(View, frozen=True, kw_only=True):
    config: tuple[DeviceAllocationConfiguration, ...] = ()
    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(
    View, frozen=True, kw_only=True, rename={"allocation_timestamp": "allocationTimestamp", "node_selector": "nodeSelector"}
):
    allocation_timestamp: str | None = None
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: core_v1.NodeSelector | None = None


class CELDeviceSelector(View, frozen=True, kw_only=True):
    expression: str = ""


class CapacityRequestPolicyRange(View, frozen=True, kw_only=True):
    max: str | None = None
    min: str | None = None
    step: str | None = None


class CapacityRequestPolicy(View, frozen=True, kw_only=True, rename={"valid_range": "validRange", "valid_values": "validValues"}):
    default: str | None = None
    valid_range: CapacityRequestPolicyRange | None = None
    valid_values: tuple[str, ...] = ()


class CapacityRequirements(View, frozen=True, kw_only=True):
    requests: Mapping[str, str] = {}


class Counter(View, frozen=True, kw_only=True):
    value: str = "0"


class CounterSet(View, frozen=True, kw_only=True):
    counters: Mapping[str, Counter] = {}
    name: str = ""


class DeviceAttribute(View, frozen=True, kw_only=True, rename={"bool_": "bool", "int_": "int"}):
    bool_: bool | None = None
    bools: tuple[bool, ...] = ()
    int_: int | None = None
    ints: tuple[int, ...] = ()
    string: str | None = None
    strings: tuple[str, ...] = ()
    version: str | None = None
    versions: tuple[str, ...] = ()


class DeviceCapacity(View, frozen=True, kw_only=True, rename={"request_policy": "requestPolicy"}):
    request_policy: CapacityRequestPolicy | None = None
    value: str = "0"


class DeviceCounterConsumption(View, frozen=True, kw_only=True, rename={"counter_set": "counterSet"}):
    counter_set: str = ""
    counters: Mapping[str, Counter] = {}


class NodeAllocatableResourceMapping(
    View, frozen=True, kw_only=True, rename={"allocation_multiplier": "allocationMultiplier", "capacity_key": "capacityKey"}
):
    allocation_multiplier: str | None = None
    capacity_key: str | None = None


class DeviceTaint(View, frozen=True, kw_only=True, rename={"time_added": "timeAdded"}):
    effect: str = ""
    key: str = ""
    time_added: str | None = None
    value: str = ""


class Device(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "all_nodes": "allNodes",
        "allow_multiple_allocations": "allowMultipleAllocations",
        "binding_conditions": "bindingConditions",
        "binding_failure_conditions": "bindingFailureConditions",
        "binds_to_node": "bindsToNode",
        "consumes_counters": "consumesCounters",
        "node_allocatable_resource_mappings": "nodeAllocatableResourceMappings",
        "node_name": "nodeName",
        "node_selector": "nodeSelector",
    },
):
    all_nodes: bool | None = None
    allow_multiple_allocations: bool | None = None
    attributes: Mapping[str, DeviceAttribute] = {}
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    binds_to_node: bool | None = None
    capacity: Mapping[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    name: str = ""
    node_allocatable_resource_mappings: Mapping[str, NodeAllocatableResourceMapping] = {}
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    taints: tuple[DeviceTaint, ...] = ()


class DeviceClaimConfiguration(View, frozen=True, kw_only=True):
    opaque: OpaqueDeviceConfiguration | None = None
    requests: tuple[str, ...] = ()


class DeviceConstraint(
    View, frozen=True, kw_only=True, rename={"distinct_attribute": "distinctAttribute", "match_attribute": "matchAttribute"}
):
    distinct_attribute: str | None = None
    match_attribute: str | None = None
    requests: tuple[str, ...] = ()


class DeviceSelector(View, frozen=True, kw_only=True):
    cel: CELDeviceSelector | None = None


class ExactDeviceRequest(
    View,
    frozen=True,
    kw_only=True,
    rename={"admin_access": "adminAccess", "allocation_mode": "allocationMode", "device_class_name": "deviceClassName"},
):
    admin_access: bool | None = None
    allocation_mode: str = ""
    capacity: CapacityRequirements | None = None
    count: int = 0
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()


class DeviceSubRequest(
    View, frozen=True, kw_only=True, rename={"allocation_mode": "allocationMode", "device_class_name": "deviceClassName"}
):
    allocation_mode: str = ""
    capacity: CapacityRequirements | None = None
    count: int = 0
    device_class_name: str = ""
    name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()


class DeviceRequest(View, frozen=True, kw_only=True, rename={"first_available": "firstAvailable"}):
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    name: str = ""


class DeviceClaim(View, frozen=True, kw_only=True):
    config: tuple[DeviceClaimConfiguration, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    requests: Nullable[tuple[DeviceRequest, ...]] = ()

    def __post_init__(self) -> None:
        if self.requests is None:
            force_setattr(self, "requests", ())


class DeviceClassConfiguration(View, frozen=True, kw_only=True):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(View, frozen=True, kw_only=True, rename={"extended_resource_name": "extendedResourceName"}):
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None
    selectors: tuple[DeviceSelector, ...] = ()


class DeviceClass(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[DeviceClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ResourceClaimSpec(View, frozen=True, kw_only=True):
    devices: DeviceClaim = DeviceClaim()


class ResourceClaimConsumerReference(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str = ""
    name: str = ""
    resource: str = ""
    uid: str = ""


class ResourceClaimStatus(View, frozen=True, kw_only=True, rename={"reserved_for": "reservedFor"}):
    allocation: AllocationResult | None = None
    devices: tuple[AllocatedDeviceStatus, ...] = ()
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()


class ResourceClaim(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ResourceClaim, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ResourceClaimTemplateSpec(View, frozen=True, kw_only=True):
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class ResourceClaimTemplateList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ResourceClaimTemplate, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ResourcePool(View, frozen=True, kw_only=True, rename={"resource_slice_count": "resourceSliceCount"}):
    generation: int = 0
    name: str = ""
    resource_slice_count: int = 0


class ResourceSliceSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "all_nodes": "allNodes",
        "node_name": "nodeName",
        "node_selector": "nodeSelector",
        "per_device_node_selection": "perDeviceNodeSelection",
        "shared_counters": "sharedCounters",
    },
):
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    driver: str = ""
    node_name: str | None = None
    node_selector: core_v1.NodeSelector | None = None
    per_device_node_selection: bool | None = None
    pool: ResourcePool = ResourcePool()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class ResourceSliceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ResourceSlice, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


DEVICECLASSES: Resource[DeviceClass] = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", False, DeviceClass)
RESOURCECLAIMS: Resource[ResourceClaim] = Resource(
    "resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", True, ResourceClaim
)
RESOURCECLAIMTEMPLATES: Resource[ResourceClaimTemplate] = Resource(
    "resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", True, ResourceClaimTemplate
)
RESOURCESLICES: Resource[ResourceSlice] = Resource(
    "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", False, ResourceSlice
)
