"""Volumes that are described where they are attached, without a PersistentVolume of their own.

Source: `pkg/apis/core/validation/validation.go` (ValidatePersistentVolumeSpec of inline volumes).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, required
from setpoint.registry.fields import Errors
from setpoint.registry.persistent_volume.access_modes import validate_access_modes
from setpoint.registry.persistent_volume.sources import validate_source

_HERE = "in the context of inline volumes"
_NEVER = f"may not be specified {_HERE}"


def validate_inline_volume(path: str, spec: Mapping[str, Any]) -> Errors:
    """A CSI volume and how it is opened; what belongs to claims and to provisioning has no place."""
    errors: Errors = [] if spec.get("claimRef") is None else [forbidden(f"{path}.claimRef", _NEVER)]
    errors += [forbidden(f"{path}.capacity", _NEVER)] if spec.get("capacity") else []
    errors += [required(f"{path}.csi", f"has to be specified {_HERE}")] if spec.get("csi") is None else []
    errors += validate_access_modes(f"{path}.accessModes", spec.get("accessModes") or ())
    if spec.get("persistentVolumeReclaimPolicy") not in {None, "", "Retain"}:
        errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_HERE}"))
    errors += [forbidden(f"{path}.nodeAffinity", _NEVER)] if spec.get("nodeAffinity") is not None else []
    errors += validate_source(spec, "", path)
    errors += [forbidden(f"{path}.storageClassName", _NEVER)] if spec.get("storageClassName") else []
    if spec.get("volumeMode") not in {None, "Filesystem"}:
        errors.append(forbidden(f"{path}.volumeMode", f"may not specify volumeMode other than Filesystem {_HERE}"))
    return errors
