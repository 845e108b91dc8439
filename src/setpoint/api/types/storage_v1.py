"""storage/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class TokenRequest(View, frozen=True, kw_only=True, rename={"expiration_seconds": "expirationSeconds"}):
    audience: str = ""
    expiration_seconds: int | None = None


class CSIDriverSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "attach_required": "attachRequired",
        "fs_group_policy": "fsGroupPolicy",
        "node_allocatable_update_period_seconds": "nodeAllocatableUpdatePeriodSeconds",
        "pod_info_on_mount": "podInfoOnMount",
        "prevent_pod_scheduling_if_missing": "preventPodSchedulingIfMissing",
        "requires_republish": "requiresRepublish",
        "se_linux_mount": "seLinuxMount",
        "service_account_token_in_secrets": "serviceAccountTokenInSecrets",
        "storage_capacity": "storageCapacity",
        "token_requests": "tokenRequests",
        "volume_lifecycle_modes": "volumeLifecycleModes",
    },
):
    attach_required: bool | None = None
    fs_group_policy: str | None = None
    node_allocatable_update_period_seconds: int | None = None
    pod_info_on_mount: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    service_account_token_in_secrets: bool | None = None
    storage_capacity: bool | None = None
    token_requests: tuple[TokenRequest, ...] = ()
    volume_lifecycle_modes: tuple[str, ...] = ()


class CSIDriver(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIDriverList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CSIDriver, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class VolumeNodeResources(View, frozen=True, kw_only=True):
    count: int | None = None


class CSINodeDriver(View, frozen=True, kw_only=True, rename={"node_id": "nodeID", "topology_keys": "topologyKeys"}):
    allocatable: VolumeNodeResources | None = None
    name: str = ""
    node_id: str = ""
    topology_keys: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.topology_keys is None:
            force_setattr(self, "topology_keys", ())


class CSINodeSpec(View, frozen=True, kw_only=True):
    drivers: Nullable[tuple[CSINodeDriver, ...]] = ()

    def __post_init__(self) -> None:
        if self.drivers is None:
            force_setattr(self, "drivers", ())


class CSINode(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()


class CSINodeList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CSINode, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class CSIStorageCapacity(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "maximum_volume_size": "maximumVolumeSize",
        "node_topology": "nodeTopology",
        "storage_class_name": "storageClassName",
    },
):
    api_version: str = ""
    capacity: str | None = None
    kind: str = ""
    maximum_volume_size: str | None = None
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    node_topology: meta_v1.LabelSelector | None = None
    storage_class_name: str = ""


class CSIStorageCapacityList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CSIStorageCapacity, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class StorageClass(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "allow_volume_expansion": "allowVolumeExpansion",
        "allowed_topologies": "allowedTopologies",
        "api_version": "apiVersion",
        "mount_options": "mountOptions",
        "reclaim_policy": "reclaimPolicy",
        "volume_binding_mode": "volumeBindingMode",
    },
):
    allow_volume_expansion: bool | None = None
    allowed_topologies: tuple[core_v1.TopologySelectorTerm, ...] = ()
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    mount_options: tuple[str, ...] = ()
    parameters: Mapping[str, str] = {}
    provisioner: str = ""
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None


class StorageClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[StorageClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class VolumeAttachmentSource(
    View,
    frozen=True,
    kw_only=True,
    rename={"inline_volume_spec": "inlineVolumeSpec", "persistent_volume_name": "persistentVolumeName"},
):
    inline_volume_spec: core_v1.PersistentVolumeSpec | None = None
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(View, frozen=True, kw_only=True, rename={"node_name": "nodeName"}):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeError(View, frozen=True, kw_only=True, rename={"error_code": "errorCode"}):
    error_code: int | None = None
    message: str = ""
    time: Nullable[str] = ""

    def __post_init__(self) -> None:
        if self.time is None:
            force_setattr(self, "time", "")


class VolumeAttachmentStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={"attach_error": "attachError", "attachment_metadata": "attachmentMetadata", "detach_error": "detachError"},
):
    attach_error: VolumeError | None = None
    attached: bool = False
    attachment_metadata: Mapping[str, str] = {}
    detach_error: VolumeError | None = None


class VolumeAttachment(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()


class VolumeAttachmentList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[VolumeAttachment, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class VolumeAttributesClass(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "driver_name": "driverName"}):
    api_version: str = ""
    driver_name: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    parameters: Mapping[str, str] = {}


class VolumeAttributesClassList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[VolumeAttributesClass, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


CSIDRIVERS: Resource[CSIDriver] = Resource("storage.k8s.io", "v1", "csidrivers", "CSIDriver", False, CSIDriver)
CSINODES: Resource[CSINode] = Resource("storage.k8s.io", "v1", "csinodes", "CSINode", False, CSINode)
CSISTORAGECAPACITIES: Resource[CSIStorageCapacity] = Resource(
    "storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", True, CSIStorageCapacity
)
STORAGECLASSES: Resource[StorageClass] = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", False, StorageClass)
VOLUMEATTACHMENTS: Resource[VolumeAttachment] = Resource(
    "storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", False, VolumeAttachment
)
VOLUMEATTRIBUTESCLASSES: Resource[VolumeAttributesClass] = Resource(
    "storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", False, VolumeAttributesClass
)
