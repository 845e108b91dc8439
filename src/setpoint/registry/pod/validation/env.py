"""Environment variables, and the downward API's selectors that volumes use too."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.status import invalid, missing, not_supported, required
from setpoint.registry.fields import Errors, complain, dns_label, qualified_name
from setpoint.registry.pod.validation.paths import no_backsteps
from setpoint.registry.pod.validation.windows import all_containers

ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_CONVERTIBLE = {
    *ENV_FIELDS,
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
}
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_SUBSCRIPT = re.compile(r"(?s)(.+?)\['(.*)'\]")
_SOURCES = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"


def validate_env(path: str, variables: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    for i, variable in enumerate(variables):
        here = f"{path}[{i}]"
        name = variable.get("name", "")
        errors += complain(f"{here}.name", name, names.env_var_name(name)) if name else [required(f"{here}.name")]
        source = variable.get("valueFrom")
        if source is not None:
            errors += _value_from(f"{here}.valueFrom", source, variable.get("value", ""))
    return errors


def validate_file_volumes(path: str, spec: Mapping[str, Any]) -> Errors:
    """The volumes that variables are read from: they exist, and are emptyDirs."""
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    errors: Errors = []
    for here, container in all_containers(path, spec):
        for j, variable in enumerate(container.get("env") or ()):
            ref = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if ref is None:
                continue
            where, name = f"{here}.env[{j}].valueFrom.fileKeyRef.volumeName", ref.get("volumeName", "")
            if name not in volumes:
                errors.append(missing(where, name))
            elif volumes[name].get("emptyDir") is None:
                errors.append(invalid(where, name, "referenced volume must be of type emptyDir"))
    return errors


def _value_from(path: str, source: Mapping[str, Any], value: str) -> Errors:
    errors: Errors = []
    count = 0
    for name, check in (
        ("fieldRef", lambda here, ref: validate_field_ref(here, ref, ENV_FIELDS)),
        ("resourceFieldRef", lambda here, ref: validate_resource_ref(here, ref, in_volume=False)),
        ("configMapKeyRef", _key_ref),
        ("secretKeyRef", _key_ref),
        ("fileKeyRef", _file_ref),
    ):
        if source.get(name) is not None:
            count += 1
            errors += check(f"{path}.{name}", source[name])
    if count == 0:
        errors.append(invalid(path, "", _SOURCES))
    elif value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif count > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def split_subscript(path: str) -> tuple[str, str] | None:
    """`metadata.labels['a']` as its path and key; None if there is no subscript."""
    match = _SUBSCRIPT.fullmatch(path)
    return (match[1], match[2]) if match else None


def _unconvertible(version: str, path: str) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    parts = split_subscript(path)
    if parts:
        known = parts[0] in {"metadata.annotations", "metadata.labels"}
        return "" if known else f"field label does not support subscript: {path}"
    return "" if path in _CONVERTIBLE or path == "spec.host" else f"field label not supported: {path}"


def validate_field_ref(path: str, ref: Mapping[str, Any], allowed: Sequence[str]) -> Errors:
    """A field of the pod by its path, such as `metadata.labels['app']`."""
    version, field = ref.get("apiVersion", ""), ref.get("fieldPath", "")
    if not version:
        return [required(f"{path}.apiVersion")]
    if not field:
        return [required(f"{path}.fieldPath")]
    problem = _unconvertible(version, field)
    if problem:
        return [invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {problem}")]
    parts = split_subscript(field)
    if parts:
        return qualified_name(path, parts[1].lower() if parts[0] == "metadata.annotations" else parts[1])
    field = "spec.nodeName" if field == "spec.host" else field
    return [] if field in allowed else [not_supported(f"{path}.fieldPath", field, allowed)]


def validate_resource_ref(path: str, ref: Mapping[str, Any], *, in_volume: bool) -> Errors:
    """A request or limit of a container, with the unit to give it in."""
    resource = ref.get("resource", "")
    errors: Errors = []
    if in_volume and not ref.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not resource:
        errors.append(required(f"{path}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        errors.append(not_supported(f"{path}.resource", resource, _RESOURCES))
    return errors + _divisor(path, resource, ref.get("divisor"))


def _divisor(path: str, resource: str, divisor: Any) -> Errors:
    amount = quantity.parse(str(divisor)) if divisor else quantity.ZERO
    if not amount:
        return []
    text = str(amount)
    units = ", ".join(_BYTES)
    if resource in {"limits.cpu", "requests.cpu"}:
        fits, message = text in {"1m", "1"}, "only divisor's values 1m and 1 are supported with the cpu resource"
    elif resource in {"limits.memory", "requests.memory"}:
        fits, message = text in _BYTES, f"only divisor's values {units} are supported with the memory resource"
    elif resource in {"limits.ephemeral-storage", "requests.ephemeral-storage"}:
        fits, message = text in _BYTES, f"only divisor's values {units} are supported with the local ephemeral storage resource"
    elif resource.startswith(_HUGE_PAGES):
        fits, message = text in _BYTES, f"only divisor's values {units} are supported with the hugepages resource"
    else:
        return []
    return [] if fits else [invalid(f"{path}.divisor", resource, message)]


def _key_ref(path: str, ref: Mapping[str, Any]) -> Errors:
    name, key = ref.get("name", ""), ref.get("key", "")
    errors = complain(f"{path}.name", name, names.dns_subdomain(name))
    if not key:
        return [*errors, required(f"{path}.key")]
    return errors + complain(f"{path}.key", key, names.config_map_key(key))


def _file_ref(path: str, ref: Mapping[str, Any]) -> Errors:
    """A variable read from a file of variables in an emptyDir volume (KEP-3721); the volume is looked at afterwards."""
    key, volume, file = (ref.get(field, "") for field in ("key", "volumeName", "path"))
    errors = complain(f"{path}.key", key, names.env_var_name(key)) if key else [required(f"{path}.key")]
    errors += dns_label(f"{path}.volumeName", volume) if volume else [required(f"{path}.volumeName")]
    return errors + (no_backsteps(f"{path}.path", file) if file else [required(f"{path}.path")])


def validate_env_from(path: str, sources: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    for i, source in enumerate(sources):
        here = f"{path}[{i}]"
        prefix = source.get("prefix", "")
        if prefix:
            errors += complain(f"{here}.prefix", prefix, names.env_var_name(prefix))
        count = 0
        for name in ("configMapRef", "secretRef"):
            ref = source.get(name)
            if ref is not None:
                count += 1
                errors += _source_name(f"{here}.{name}.name", ref.get("name", ""))
        if count == 0:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif count > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _source_name(path: str, name: str) -> Errors:
    # Kubernetes validates this name as a prefix, so a trailing dash passes
    return complain(path, name, names.dns_subdomain(name, prefix=True)) if name else [required(path)]
