"""Where volumes appear in a container: mounts, and block devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid, missing, not_supported, required
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.paths import local_descending, no_backsteps

Volumes = Mapping[str, Mapping[str, Any]]

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY_MODES = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(path: str, container: Mapping[str, Any], volumes: Volumes) -> Errors:
    errors: Errors = []
    devices = {device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices") or ()}
    taken: set[str] = set()
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        here, name, target = f"{path}[{i}]", mount.get("name", ""), mount.get("mountPath", "")
        errors += [] if name else [required(f"{here}.name")]
        if name not in volumes:
            errors.append(missing(f"{here}.name", name))
        errors += [] if target else [required(f"{here}.mountPath")]
        if target in taken:
            errors.append(invalid(f"{here}.mountPath", target, "must be unique"))
        taken.add(target)
        if name in devices:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeDevices"))
        if target in devices.values():
            errors.append(invalid(f"{here}.mountPath", target, "must not already exist as a path in volumeDevices"))
        errors += _sub_path(path, here, mount)
        errors += _propagation(f"{path}.mountPropagation", mount.get("mountPropagation"), container)
        errors += _recursive(f"{path}.recursiveReadOnly", mount)
    return errors


def _sub_path(path: str, here: str, mount: Mapping[str, Any]) -> Errors:
    """Some of these paths lack the mount's index, as they do in Kubernetes."""
    sub, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    errors: Errors = []
    if sub:
        errors += local_descending(f"{path}.subPath", sub)
    if expression:
        if sub:
            errors.append(invalid(f"{here}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive"))
        errors += local_descending(f"{path}.subPathExpr", expression)
    return errors


def _propagation(path: str, value: str | None, container: Mapping[str, Any]) -> Errors:
    if value is None:
        return []
    errors: Errors = [] if value in _PROPAGATIONS else [not_supported(path, value, _PROPAGATIONS)]
    privileged = (container.get("securityContext") or {}).get("privileged")
    if value == "Bidirectional" and not privileged:
        errors.append(forbidden(path, "Bidirectional mount propagation is available only to privileged containers"))
    return errors


def _recursive(path: str, mount: Mapping[str, Any]) -> Errors:
    mode, propagation = mount.get("recursiveReadOnly"), mount.get("mountPropagation")
    if mode is None:
        return []
    if mode not in _READ_ONLY_MODES:
        return [not_supported(path, mode, _READ_ONLY_MODES)]
    if mode == "Disabled":
        return []
    errors: Errors = [] if mount.get("readOnly") else [forbidden(path, "may only be specified when readOnly is true")]
    if propagation not in {None, "None"}:
        why = "may only be specified when mountPropagation is None or not specified"
        errors.append(forbidden(path, why))
    return errors


def validate_devices(path: str, container: Mapping[str, Any], volumes: Volumes) -> Errors:
    errors: Errors = []
    mounts = {mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts") or ()}
    names: set[str] = set()
    paths: set[str] = set()
    for i, device in enumerate(container.get("volumeDevices") or ()):
        here, name, target = f"{path}[{i}]", device.get("name", ""), device.get("devicePath", "")
        errors += _device_name(f"{here}.name", name, names, volumes)
        errors += [] if target else [required(f"{here}.devicePath")]
        if target in paths:
            errors.append(invalid(f"{here}.devicePath", target, "must be unique"))
        if target and no_backsteps("", target):
            errors.append(invalid(f"{here}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            paths.add(target)
        if name in mounts:
            errors.append(invalid(f"{here}.name", name, "must not already exist in volumeMounts"))
        if target in mounts.values():
            errors.append(invalid(f"{here}.devicePath", target, "must not already exist as a path in volumeMounts"))
        names.add(name)
    return errors


def _device_name(path: str, name: str, taken: set[str], volumes: Volumes) -> Errors:
    errors: Errors = [] if name else [required(path)]
    if name and name in taken:
        errors.append(invalid(path, name, "must be unique"))
    volume = volumes.get(name)
    if volume is None:
        errors.append(missing(path, name))
    elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        errors.append(invalid(path, name, why))
    return errors
