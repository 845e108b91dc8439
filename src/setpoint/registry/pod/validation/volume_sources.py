"""Volume sources of the node and of the cluster itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.paths import local_descending, local_non_reserved, no_backsteps

Source = Mapping[str, Any]

_HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def host_path(path: str, source: Source) -> Errors:
    value, kind = source.get("path", ""), source.get("type")
    if not value:
        return [required(f"{path}.path")]
    errors = no_backsteps(f"{path}.path", value)
    if kind is not None and kind not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_PATH_TYPES))
    return errors


def git_repo(path: str, source: Source) -> Errors:
    errors = [] if source.get("repository") else [required(f"{path}.repository")]
    return errors + local_descending(f"{path}.directory", source.get("directory", ""))


def file_mode(path: str, mode: int | None) -> Errors:
    return [] if mode is None or 0 <= mode <= 0o777 else [invalid(path, mode, formats.FILE_MODE)]


def key_to_path(path: str, item: Source) -> Errors:
    errors: Errors = [required(f"{path}.{field}") for field in ("key", "path") if not item.get(field)]
    errors += local_non_reserved(f"{path}.path", item.get("path", ""))
    return errors + file_mode(f"{path}.mode", item.get("mode"))


def _keys(path: str, source: Source, name_field: str) -> Errors:
    errors: Errors = [] if source.get(name_field) else [required(f"{path}.{name_field}")]
    errors += file_mode(f"{path}.defaultMode", source.get("defaultMode"))
    for i, item in enumerate(source.get("items") or ()):
        errors += key_to_path(f"{path}.items[{i}]", item)
    return errors


def secret(path: str, source: Source) -> Errors:
    return _keys(path, source, "secretName")


def config_map(path: str, source: Source) -> Errors:
    return _keys(path, source, "name")


def claim(path: str, source: Source) -> Errors:
    return [] if source.get("claimName") else [required(f"{path}.claimName")]


def pull_policy(path: str, policy: str) -> Errors:
    if not policy:
        return [required(path)]
    return [] if policy in PULL_POLICIES else [not_supported(path, policy, PULL_POLICIES)]


def image(path: str, source: Source) -> Errors:
    return pull_policy(f"{path}.pullPolicy", source.get("pullPolicy", ""))
