"""Projected volumes and the downward API's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import forbidden, invalid, required
from setpoint.registry.fields import Errors
from setpoint.registry.pod.validation.env import validate_field_ref, validate_resource_ref
from setpoint.registry.pod.validation.paths import local_non_reserved
from setpoint.registry.pod.validation.volume_sources import file_mode, key_to_path

Source = Mapping[str, Any]

_FILE_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 600, 1 << 32


def validate_downward_volume(path: str, source: Source) -> Errors:
    errors = file_mode(f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        # Kubernetes does not say which item it complains about
        errors += _downward_file(path, item)
    return errors


def _downward_file(path: str, item: Source) -> Errors:
    value = item.get("path", "")
    errors: Errors = [] if value else [required(f"{path}.path")]
    errors += local_non_reserved(f"{path}.path", value)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        errors += validate_field_ref(f"{path}.fieldRef", field, _FILE_FIELDS)
        if resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", why))
    elif resource is not None:
        errors += validate_resource_ref(f"{path}.resourceFieldRef", resource, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + file_mode(f"{path}.mode", item.get("mode"))


def validate_projected(path: str, volume: Source) -> Errors:
    errors = file_mode(f"{path}.defaultMode", volume.get("defaultMode"))
    taken: set[str] = set()
    for i, source in enumerate(volume.get("sources") or ()):
        here = f"{path}.sources[{i}]"
        given = 0
        for name, check in _PROJECTIONS.items():
            projection = source.get(name)
            if projection is not None:
                given += 1
                errors += check(path, f"{here}.{name}", projection, taken)
        if given > 1:
            errors.append(forbidden(here, "may not specify more than 1 volume type per source"))
    return errors


def _claim_path(path: str, value: str, shown: str, taken: set[str]) -> Errors:
    if not value:
        return []
    if value in taken:
        return [invalid(path, shown, "conflicting duplicate paths")]
    taken.add(value)
    return []


def _keys(volume: str, path: str, projection: Source, taken: set[str]) -> Errors:
    """A Secret's or a ConfigMap's keys as files."""
    name = projection.get("name", "")
    errors: Errors = [] if name else [required(f"{path}.name")]
    for i, item in enumerate(projection.get("items") or ()):
        errors += key_to_path(f"{path}.items[{i}]", item)
        errors += _claim_path(volume, item.get("path", ""), name, taken)
    return errors


def _downward(volume: str, path: str, projection: Source, taken: set[str]) -> Errors:
    errors: Errors = []
    for item in projection.get("items") or ():
        errors += _downward_file(path, item)
        errors += _claim_path(volume, item.get("path", ""), item.get("path", ""), taken)
    return errors


def _token(volume: str, path: str, projection: Source, taken: set[str]) -> Errors:
    del taken  # tokens are not compared with the other files
    seconds, value = projection.get("expirationSeconds", 0), projection.get("path", "")
    errors: Errors = []
    if seconds < _MIN_TOKEN_SECONDS:
        errors.append(invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
    if seconds > _MAX_TOKEN_SECONDS:
        errors.append(invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds"))
    return errors + (local_non_reserved(f"{volume}.path", value) if value else [required(f"{volume}.path")])


_PROJECTIONS = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
}
