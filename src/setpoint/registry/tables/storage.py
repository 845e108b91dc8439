"""Volumes, claims, classes and drivers.

Source: Kubernetes `pkg/printers/internalversion/printers.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables.printing import AGE, NAME, NONE, UNSET, age, column, name, simple

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_ATTRIBUTES = "volumeattributesclass.alpha.kubernetes.io/is-default-class"
_DEFAULTS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def _modes(modes: Iterable[str] | None) -> str:
    """Access modes by their short names, in Kubernetes' order."""
    given = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in given)


def _class(obj: Object) -> str:
    """The old annotation goes before the field, even where it is empty."""
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations.get(_CLASS_ANNOTATION, (obj.get("spec") or {}).get("storageClassName", "")))


def _phase(obj: Object) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else (obj.get("status") or {}).get("phase", "")


def _volume(obj: Object, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    claim = spec.get("claimRef")
    return [
        name(obj),
        (spec.get("capacity") or {}).get("storage", "0"),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class(obj),
        spec.get("volumeAttributesClassName", UNSET),
        (obj.get("status") or {}).get("reason", ""),
        age(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


_PV = "core.v1.PersistentVolume"
PERSISTENT_VOLUME = Table(
    (
        NAME,
        column("Capacity", f"{_PV}Spec.capacity"),
        column("Access Modes", f"{_PV}Spec.accessModes"),
        column("Reclaim Policy", f"{_PV}Spec.persistentVolumeReclaimPolicy"),
        column("Status", f"{_PV}Status.phase"),
        column("Claim", f"{_PV}Spec.claimRef"),
        column("StorageClass", text="StorageClass of the pv"),
        column("VolumeAttributesClass", text="VolumeAttributesClass of the pv"),
        column("Reason", f"{_PV}Status.reason"),
        AGE,
        column("VolumeMode", f"{_PV}Spec.volumeMode", wide=True),
    ),
    _volume,
)


def _claim(obj: Object, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    bound = bool(spec.get("volumeName"))
    return [
        name(obj),
        _phase(obj),
        spec.get("volumeName", ""),
        (status.get("capacity") or {}).get("storage", "0") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        _class(obj),
        spec.get("volumeAttributesClassName", UNSET),
        age(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


_PVC = "core.v1.PersistentVolumeClaim"
PERSISTENT_VOLUME_CLAIM = Table(
    (
        NAME,
        column("Status", f"{_PVC}Status.phase"),
        column("Volume", f"{_PVC}Spec.volumeName"),
        column("Capacity", f"{_PVC}Status.capacity"),
        column("Access Modes", f"{_PVC}Status.accessModes"),
        column("StorageClass", text="StorageClass of the pvc"),
        column("VolumeAttributesClass", text="VolumeAttributesClass of the pvc"),
        AGE,
        column("VolumeMode", f"{_PVC}Spec.volumeMode", wide=True),
    ),
    _claim,
)


def _storage_class(obj: Object, now: float) -> list[Any]:
    annotations = obj["metadata"].get("annotations") or {}
    default = any(annotations.get(key) == "true" for key in _DEFAULTS)
    return [
        f"{name(obj)} (default)" if default else name(obj),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


_CLASS = "storage.v1.StorageClass"
STORAGE_CLASS = Table(
    (
        NAME,
        column("Provisioner", f"{_CLASS}.provisioner"),
        column("ReclaimPolicy", f"{_CLASS}.reclaimPolicy"),
        column("VolumeBindingMode", f"{_CLASS}.volumeBindingMode"),
        column("AllowVolumeExpansion", f"{_CLASS}.allowVolumeExpansion"),
        AGE,
    ),
    _storage_class,
)


def _attributes_class(obj: Object, now: float) -> list[Any]:
    default = (obj["metadata"].get("annotations") or {}).get(_DEFAULT_ATTRIBUTES) == "true"
    return [f"{name(obj)} (default)" if default else name(obj), obj.get("driverName", ""), age(obj, now)]


VOLUME_ATTRIBUTES_CLASS = Table(
    (NAME, column("DriverName", "storage.v1.VolumeAttributesClass.driverName"), AGE),
    _attributes_class,
)


def _attachment(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        spec.get("attacher", ""),
        (spec.get("source") or {}).get("persistentVolumeName") or "",
        spec.get("nodeName", ""),
        bool((obj.get("status") or {}).get("attached")),
    ]


_ATTACHMENT = "storage.v1.VolumeAttachment"
VOLUME_ATTACHMENT = simple(
    Column("Attacher", "string", format="name", documents=f"io.k8s.api.{_ATTACHMENT}Spec.attacher"),
    column("PV", "storage.v1.VolumeAttachmentSource.persistentVolumeName"),
    column("Node", f"{_ATTACHMENT}Spec.nodeName"),
    column("Attached", f"{_ATTACHMENT}Status.attached", type="boolean"),
    cells=_attachment,
)


def _driver(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    required, requests = spec.get("attachRequired"), spec.get("tokenRequests")
    return [
        True if required is None else required,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(one.get("audience", "") for one in requests) if requests else UNSET,
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
    ]


_DRIVER = "storage.v1.CSIDriverSpec"
CSI_DRIVER = simple(
    column("AttachRequired", f"{_DRIVER}.attachRequired", type="boolean"),
    column("PodInfoOnMount", f"{_DRIVER}.podInfoOnMount", type="boolean"),
    column("StorageCapacity", f"{_DRIVER}.storageCapacity", type="boolean"),
    column("TokenRequests", f"{_DRIVER}.tokenRequests"),
    column("RequiresRepublish", f"{_DRIVER}.requiresRepublish", type="boolean"),
    column("Modes", f"{_DRIVER}.volumeLifecycleModes"),
    cells=_driver,
)
CSI_NODE = simple(
    column("Drivers", text="Drivers indicates the number of CSI drivers registered on the node", type="integer"),
    cells=lambda obj: [len((obj.get("spec") or {}).get("drivers") or ())],
)
