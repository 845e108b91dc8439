"""The resources of storage.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import StatusStrategy, VersionedSpecStatusStrategy
from setpoint.registry.strategy import Strategy, VersionedStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csidrivers",
        singular="csidriver",
        kind="CSIDriver",
        namespaced=False,
        strategy=VersionedStrategy(),
        definitions=definitions("storage", "CSIDriver"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csinodes",
        singular="csinode",
        kind="CSINode",
        namespaced=False,
        strategy=VersionedStrategy(),
        definitions=definitions("storage", "CSINode"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="csistoragecapacities",
        singular="csistoragecapacity",
        kind="CSIStorageCapacity",
        namespaced=True,
        strategy=VersionedStrategy(),
        definitions=definitions("storage", "CSIStorageCapacity"),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="storageclasses",
        singular="storageclass",
        kind="StorageClass",
        namespaced=False,
        strategy=Strategy(),
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
        strategy=VersionedSpecStatusStrategy(),
        definitions=definitions("storage", "VolumeAttachment"),
        subresources=(status("VolumeAttachment", StatusStrategy(VersionedSpecStatusStrategy())),),
    ),
    ServedResource(
        group="storage.k8s.io",
        versions=("v1",),
        plural="volumeattributesclasses",
        singular="volumeattributesclass",
        kind="VolumeAttributesClass",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("storage", "VolumeAttributesClass"),
        short_names=("vac",),
    ),
)
