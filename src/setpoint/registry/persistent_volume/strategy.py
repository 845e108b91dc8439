"""PersistentVolumes.

Source: `pkg/registry/core/persistentvolume`, `pkg/apis/core/validation/validation.go` (ValidatePersistentVolume).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.status import FieldError, forbidden, invalid, not_supported, required
from setpoint.kit.clock import rfc3339
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, immutable
from setpoint.registry.persistent_volume.access_modes import validate_access_modes
from setpoint.registry.persistent_volume.sources import validate_source
from setpoint.registry.pod.defaults import default_source
from setpoint.registry.pod.validation.affinity import validate_node_selector
from setpoint.registry.pod.validation.resources import amount
from setpoint.registry.pod.warnings import DEPRECATED_NODE_LABELS, node_term_warnings
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

Spec = Mapping[str, Any]

_POLICIES = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")


_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_MOUNTED = {
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "fc",
    "flocker",
    "gcePersistentDisk",
    "glusterfs",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "vsphereVolume",
}
_DEPRECATED_ANNOTATIONS = {
    _BETA_CLASS: 'deprecated since v1.8; use "storageClassName" attribute instead',
    _MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_DEPRECATED_SOURCES = {
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
}
_RECYCLE = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."


class PersistentVolumeStrategy(SpecStatusStrategy):
    """The main endpoint."""

    delete_returns_object: ClassVar[bool] = True
    validates_whole_on_update: ClassVar[bool] = True
    validates_whole_twice_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
        spec.setdefault("volumeMode", "Filesystem")
        default_source(spec)
        if spec.get("capacity"):
            spec["capacity"] = {name: quantity.canonical_milli(value) for name, value in spec["capacity"].items()}
        status = obj.setdefault("status", {})
        status["phase"] = status.get("phase") or "Pending"

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": rfc3339(context.now)}

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, obj["metadata"].get("name", "")) + _mount_options(obj)

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return _warnings(obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return _warnings(obj)

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        new, before = obj.get("spec") or {}, old.get("spec") or {}
        # Kubernetes checks the spec twice here, and says so: causes repeat
        errors = self.validate(context, obj) + _validate_spec(new, obj["metadata"].get("name", ""))
        one, other = (go_form.of(spec, "PersistentVolumeSource") for spec in (before, _without_new_secret(new, before)))
        if not go_form.equal(one, other):
            why = f"spec.persistentvolumesource is immutable after creation\n{go_form.diff(one, other)}"
            errors.append(forbidden("spec.persistentvolumesource", why))
        errors += immutable("volumeMode", new.get("volumeMode"), before.get("volumeMode"))
        affinity = before.get("nodeAffinity")
        if affinity is not None and not _only_newer_labels(new.get("nodeAffinity") or {}, affinity):
            why = "field is immutable, except for updating from beta label to GA"
            errors.append(invalid("nodeAffinity", _shown(new.get("nodeAffinity")), why))
        if before.get("volumeAttributesClassName") is not None and new.get("volumeAttributesClassName") is None:
            errors.append(forbidden("spec.volumeAttributesClassName", "update from non-nil value to nil is forbidden"))
        return errors


def _shown(affinity: Spec | None) -> Any:
    if affinity is None:
        return None
    required = affinity.get("required")
    return {"Required": required and go_form.of(required, "NodeSelector")}


def _without_new_secret(new: Spec, before: Spec) -> Spec:
    """The secret for expanding may be given later."""
    csi, old = new.get("csi"), before.get("csi")
    if csi is None or old is None or old.get("controllerExpandSecretRef") is not None:
        return new
    return {**new, "csi": {name: value for name, value in csi.items() if name != "controllerExpandSecretRef"}}


def _only_newer_labels(new: Spec, old: Spec) -> bool:
    """Whether nothing differs but labels of nodes that have got their final name."""
    after, before = (list((one.get("required") or {}).get("nodeSelectorTerms") or []) for one in (new, old))
    return len(after) == len(before) and all(map(_same_term, after, before))


def _same_term(new: Spec, old: Spec) -> bool:
    after, before = (one.get("matchExpressions") or [] for one in (new, old))
    same_fields = (new.get("matchFields") or []) == (old.get("matchFields") or [])
    return same_fields and len(after) == len(before) and all(map(_same_requirement, after, before))


def _same_requirement(new: Spec, old: Spec) -> bool:
    final = DEPRECATED_NODE_LABELS.get(old.get("key", ""), "")
    return new == old or (f'"{new.get("key", "")}"' in final and {**new, "key": old["key"]} == old)


def _warnings(volume: Object) -> list[str]:
    spec, annotations = volume.get("spec") or {}, volume["metadata"].get("annotations") or {}
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    out = [f"metadata.annotations[{key}]: {text}" for key, text in _DEPRECATED_ANNOTATIONS.items() if key in annotations]
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        out.append(f"spec.persistentVolumeReclaimPolicy: {_RECYCLE}")
    for i, term in enumerate(terms):
        out += node_term_warnings(f"spec.nodeAffinity.required.nodeSelectorTerms[{i}]", term)
    shown = {"storageos": "storageOS"}
    return out + [
        f"spec.{shown.get(field, field)}: {text}" for field, text in _DEPRECATED_SOURCES.items() if spec.get(field) is not None
    ]


def _validate_spec(spec: Spec, name: str) -> Errors:
    errors = validate_access_modes("spec.accessModes", spec.get("accessModes") or ())
    errors += _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    if policy and policy not in _POLICIES:
        errors.append(not_supported("spec.persistentVolumeReclaimPolicy", policy, _POLICIES))
    affinity = spec.get("nodeAffinity")
    if affinity is not None and affinity.get("required") is None:
        errors.append(required("spec.nodeAffinity.required", "must specify required node constraints"))
    elif affinity is not None:
        errors += validate_node_selector("spec.nodeAffinity.required", affinity["required"])
    errors += validate_source(spec, name)
    path = (spec.get("hostPath") or {}).get("path", "")
    if path and posixpath.normpath(path) == "/" and policy == "Recycle":
        why = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden("spec.persistentVolumeReclaimPolicy", why))
    return errors + _class(spec)


def _mount_options(volume: Object) -> Errors:
    """The annotation of old is for volumes that are mounted by Kubernetes' own plugins, which know it."""
    if _MOUNT_OPTIONS not in (volume["metadata"].get("annotations") or {}) or _MOUNTED & (volume.get("spec") or {}).keys():
        return []
    return [forbidden(f"metadata.annotations.{_MOUNT_OPTIONS}", "may not specify mount options for this volume type")]


def _capacity(capacity: Mapping[str, Any]) -> Errors:
    errors: Errors = [] if capacity else [required("spec.capacity")]
    if set(capacity) != {"storage"}:
        shown = dict(sorted(capacity.items())) if capacity else None
        errors.append(not_supported("spec.capacity", shown, ("storage",)))
    for name, value in sorted(capacity.items()):
        if amount(value).nanos < 0:
            errors.append(invalid(f"spec.capacity[{name}]", amount(value).value(), "must be a valid resource quantity"))
        if amount(value).nanos <= 0:
            errors.append(invalid(f"spec.capacity[{name}]", str(amount(value)), formats.POSITIVE))
    return errors


def _class(spec: Spec) -> Errors:
    errors: Errors = []
    if spec.get("storageClassName"):
        name = spec["storageClassName"]
        errors += complain("spec.storageClassName", name, names.dns_subdomain(name))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in _VOLUME_MODES:
        errors.append(not_supported("spec.volumeMode", mode, _VOLUME_MODES))
    attributes = spec.get("volumeAttributesClassName")
    if attributes is None:
        return errors
    where = "spec.volumeAttributesClassName"
    if attributes:
        errors += complain(where, attributes, names.dns_subdomain(attributes))
    else:
        errors.append(required(where, "an empty string is disallowed"))
    if spec.get("csi") is None:
        errors.append(required("spec.csi", "has to be specified when using volumeAttributesClassName"))
    return errors


class PersistentVolumeStatusStrategy(StatusStrategy):
    """The `status` endpoint, which notes when the phase changed."""

    def __init__(self) -> None:
        super().__init__(PersistentVolumeStrategy())

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        super().prepare_for_update(context, obj, old)
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        given, noted = status.get("lastPhaseTransitionTime"), before.get("lastPhaseTransitionTime")
        if status.get("phase") != before.get("phase"):
            if given is None or given == noted:  # who brings a time of his own is believed
                status["lastPhaseTransitionTime"] = rfc3339(context.now)
        elif noted and not given:
            status["lastPhaseTransitionTime"] = noted
