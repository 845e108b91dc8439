"""Windows options, and which fields a pod may have on the operating system that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import forbidden, invalid, not_supported, required
from setpoint.registry.fields import Errors, complain

_SYSTEMS = ("linux", "windows")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_BAD_USER = re.compile(r'["/\\:;|=,+*?<>@\[\]]')
_MAX_SPEC_KIB = 64

_POD_FORBIDDEN = (
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
    "securityContext.runAsUser",
    "securityContext.runAsGroup",
    "securityContext.supplementalGroups",
    "securityContext.supplementalGroupsPolicy",
    "securityContext.seLinuxChangePolicy",
)
# for these an empty value is as good as none
_PLAIN = {"hostPID", "hostIPC", "securityContext.sysctls"}
_CONTAINER_FORBIDDEN = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def all_containers(path: str, spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every container with its path: init, ordinary, ephemeral (Kubernetes' order)."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            yield f"{path}.{field}[{i}]", container


def validate_windows_options(path: str, options: Mapping[str, Any] | None) -> Errors:
    if options is None:
        return []
    errors: Errors = []
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        errors += complain(f"{path}.gmsaCredentialSpecName", name, names.dns_subdomain(name))
    spec = options.get("gmsaCredentialSpec")
    if spec is not None and not spec:
        errors.append(invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string"))
    elif spec is not None and names.length(spec) > _MAX_SPEC_KIB * 1024:
        why = f"gmsaCredentialSpec size must be under {_MAX_SPEC_KIB} KiB"
        errors.append(invalid(f"{path}.gmsaCredentialSpec", spec, why))
    user = options.get("runAsUserName")
    return errors if user is None else errors + complain(f"{path}.runAsUserName", user, _user_name(user))


def _user_name(value: str) -> list[str]:
    if not value:
        return ["runAsUserName cannot be an empty string"]
    if _CONTROL.search(value):
        return ["runAsUserName cannot contain control characters"]
    if value.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = value.rpartition("\\")
    out = []
    if names.length(domain) >= 256:
        out.append("runAsUserName's Domain length must be under 256 characters")
    if backslash and not (_NET_BIOS.fullmatch(domain) or _DNS.fullmatch(domain)):
        out.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        out.append("runAsUserName's User cannot be empty")
    elif names.length(user) > 104:
        out.append("runAsUserName's User length must not be longer than 104 characters")
    if re.fullmatch(r"[. ]+", user):
        out.append("runAsUserName's User cannot contain only periods or spaces")
    if _BAD_USER.search(user):
        out.append("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return out


def _host_process(context: Mapping[str, Any] | None) -> bool | None:
    value: bool | None = ((context or {}).get("windowsOptions") or {}).get("hostProcess")
    return value


def validate_host_process(path: str, spec: Mapping[str, Any]) -> Errors:
    """Containers that are processes of the Windows host: all of them or none, and on the host's network."""
    errors: Errors = []
    own = _host_process(spec.get("securityContext"))
    count = host_processes = 0
    for here, container in all_containers(path, spec):
        count += 1
        value = _host_process(container.get("securityContext"))
        if own is not None and value is not None and own != value:
            why = f"pod hostProcess value must be identical if both are specified, was {str(own).lower()}"
            errors.append(invalid(f"{here}.securityContext.windowsOptions.hostProcess", value, why))
        host_processes += bool(own if value is None else value)
    if not host_processes:
        return errors
    if host_processes != count:
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", why))
    if not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, why))
    return errors


def validate_os(path: str, spec: Mapping[str, Any]) -> Errors:
    """The operating system that a pod names, and the fields that make no sense on it."""
    system = spec.get("os")
    if system is None:
        return []
    name = system.get("name", "")
    if not name:
        return [required(f"{path}.os.name")]
    if name not in _SYSTEMS:
        return [not_supported(f"{path}.os", name, _SYSTEMS)]
    return _linux(path, spec) if name == "linux" else _windows(path, spec)


def _linux(path: str, spec: Mapping[str, Any]) -> Errors:
    holders = [(path, spec), *all_containers(path, spec)]
    return [
        forbidden(f"{here}.securityContext.windowsOptions", "windows options cannot be set for a linux pod")
        for here, holder in holders
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None
    ]


def _windows(path: str, spec: Mapping[str, Any]) -> Errors:
    why = "cannot be set for a windows pod"
    context = spec.get("securityContext") or {}
    errors: Errors = []
    for field in _POD_FORBIDDEN:
        holder = context if field.startswith("securityContext.") else spec
        value = holder.get(field.removeprefix("securityContext."))
        if value is not None and not (field in _PLAIN and not value):
            errors.append(forbidden(f"{path}.{field}", why))
    for here, container in all_containers(path, spec):
        own = container.get("securityContext") or {}
        errors += [
            forbidden(f"{here}.securityContext.{field}", why) for field in _CONTAINER_FORBIDDEN if own.get(field) is not None
        ]
    return errors
