"""PersistentVolumes.

Source: `pkg/registry/core/persistentvolume`, `pkg/apis/core/validation/validation.go` (ValidatePersistentVolume).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.kit.clock import rfc3339
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, immutable
from setpoint.registry.pod.validation import remote_volumes as remote
from setpoint.registry.pod.validation import volume_sources as local
from setpoint.registry.pod.validation.affinity import validate_node_selector
from setpoint.registry.pod.validation.paths import no_backsteps
from setpoint.registry.pod.validation.resources import amount
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

Spec = Mapping[str, Any]

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_POLICIES = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")


def _local(path: str, source: Spec) -> Errors:
    value = source.get("path", "")
    return no_backsteps(f"{path}.path", value) if value else [required(f"{path}.path")]


_SOURCES: dict[str, Callable[[str, Spec], Errors]] = {
    "hostPath": local.host_path,
    "gcePersistentDisk": remote.gce_disk,
    "awsElasticBlockStore": remote.aws_disk,
    "glusterfs": remote.glusterfs,
    "flocker": remote.flocker,
    "nfs": remote.nfs,
    "rbd": remote.rbd,
    "quobyte": remote.quobyte,
    "cephfs": remote.cephfs,
    "iscsi": remote.iscsi,
    "cinder": remote.cinder,
    "fc": remote.fibre_channel,
    "flexVolume": remote.flex_volume,
    "azureFile": remote.azure_file,
    "vsphereVolume": remote.vsphere,
    "photonPersistentDisk": remote.photon,
    "portworxVolume": remote.portworx,
    "azureDisk": remote.azure_disk,
    "scaleIO": remote.scale_io,
    "local": _local,
    "storageos": remote.storage_os,
    "csi": remote.csi,
}


class PersistentVolumeStrategy(SpecStatusStrategy):
    """The main endpoint."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    selectable_fields: ClassVar[frozenset[str]] = frozenset({"name"})

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
        spec.setdefault("volumeMode", "Filesystem")
        if spec.get("hostPath") is not None:
            spec["hostPath"].setdefault("type", "")
        if spec.get("capacity"):
            spec["capacity"] = {name: quantity.canonical_milli(value) for name, value in spec["capacity"].items()}
        status = obj.setdefault("status", {})
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": rfc3339(context.now)}

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {})

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        errors = self.validate(context, obj)
        one, other = (go_form.of(spec, "PersistentVolumeSource") for spec in (before, new))
        if not go_form.equal(one, other):
            why = f"spec.persistentvolumesource is immutable after creation\n{go_form.diff(one, other)}"
            errors.append(forbidden("spec.persistentvolumesource", why))
        errors += immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))
        if before.get("nodeAffinity") is not None and new.get("nodeAffinity") != before["nodeAffinity"]:
            errors.append(invalid("spec.nodeAffinity", new.get("nodeAffinity"), "field is immutable"))
        return errors

    def fields(self, obj: Object) -> Mapping[str, str]:
        return {"name": obj["metadata"].get("name", "")}


def _validate_spec(spec: Spec) -> Errors:
    modes = spec.get("accessModes") or ()
    errors: Errors = [] if modes else [required("spec.accessModes")]
    errors += [not_supported("spec.accessModes", mode, _MODES) for mode in modes if mode not in _MODES]
    if "ReadWriteOncePod" in modes and any(mode in _MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes"))
    errors += _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _POLICIES:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _POLICIES))
    affinity = spec.get("nodeAffinity")
    if affinity is not None and affinity.get("required") is None:
        errors.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
    elif affinity is not None:
        errors += validate_node_selector("spec.nodeAffinity.required", affinity["required"])
    return errors + _source(spec) + _class(spec)


def _capacity(capacity: Mapping[str, Any]) -> Errors:
    errors: Errors = [] if capacity else [required("spec.capacity")]
    if set(capacity) != {"storage"}:
        shown = dict(sorted(capacity.items())) if capacity else None
        errors.append(not_supported("spec.capacity", shown, ("storage",)))
    for name, value in sorted(capacity.items()):
        if amount(value).nanos <= 0:
            errors.append(invalid(f"spec.capacity[{name}]", str(amount(value)), formats.POSITIVE))
    return errors


def _source(spec: Spec) -> Errors:
    errors: Errors = []
    given = [name for name in _SOURCES if spec.get(name) is not None]
    for i, name in enumerate(given):
        if i:
            errors.append(forbidden(f"spec.{name}", "may not specify more than 1 volume type"))
            continue
        errors += _SOURCES[name](f"spec.{name}", spec[name])
        if name == "local" and spec.get("nodeAffinity") is None:
            errors.append(required("spec.nodeAffinity", "Local volume requires node affinity"))
    if not given:
        errors.append(required("spec", "must specify a volume type"))
    path = (spec.get("hostPath") or {}).get("path", "")
    if path and posixpath.normpath(path) == "/" and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden("spec.persistentVolumeReclaimPolicy", why))
    return errors


def _class(spec: Spec) -> Errors:
    errors: Errors = []
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        errors += complain("spec.storageClassName", name, names.dns_subdomain(name))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in _VOLUME_MODES:
        errors.append(not_supported("spec.volumeMode", mode, _VOLUME_MODES))
    return errors


class PersistentVolumeStatusStrategy(StatusStrategy):
    """The `status` endpoint, which notes when the phase changed."""

    def __init__(self) -> None:
        super().__init__(PersistentVolumeStrategy())

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        if status.get("phase") != before.get("phase"):
            status["lastPhaseTransitionTime"] = rfc3339(context.now)
        elif before.get("lastPhaseTransitionTime") and not status.get("lastPhaseTransitionTime"):
            status["lastPhaseTransitionTime"] = before["lastPhaseTransitionTime"]
