"""The resources of storage.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.storage.csi_driver import CSIDriverStrategy
from setpoint.registry.storage.csi_node import CSINodeStrategy
from setpoint.registry.storage.csi_storage_capacity import CSIStorageCapacityStrategy
from setpoint.registry.storage.storage_class import StorageClassStrategy, VolumeAttributesClassStrategy
from setpoint.registry.storage.volume_attachment import VolumeAttachmentStrategy, volume_attachment_status
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csidrivers",
        singular="csidriver",
        kind="CSIDriver",
        namespaced=False,
        strategy=CSIDriverStrategy(),
        definitions=definitions("storage", "CSIDriver"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csinodes",
        singular="csinode",
        kind="CSINode",
        namespaced=False,
        strategy=CSINodeStrategy(),
        definitions=definitions("storage", "CSINode"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csistoragecapacities",
        singular="csistoragecapacity",
        kind="CSIStorageCapacity",
        namespaced=True,
        strategy=CSIStorageCapacityStrategy(),
        definitions=definitions("storage", "CSIStorageCapacity"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="storageclasses",
        singular="storageclass",
        kind="StorageClass",
        namespaced=False,
        strategy=StorageClassStrategy(),
        definitions=definitions("storage", "StorageClass"),
        short_names=("sc",),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="volumeattachments",
        singular="volumeattachment",
        kind="VolumeAttachment",
        namespaced=False,
        strategy=VolumeAttachmentStrategy(),
        definitions=definitions("storage", "VolumeAttachment"),
        subresources=(status("VolumeAttachment", volume_attachment_status()),),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="volumeattributesclasses",
        singular="volumeattributesclass",
        kind="VolumeAttributesClass",
        namespaced=False,
        strategy=VolumeAttributesClassStrategy(),
        definitions=definitions("storage", "VolumeAttributesClass"),
        short_names=("vac",),
    ),
)
