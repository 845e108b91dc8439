"""Security contexts of pods and containers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import duplicate, forbidden, invalid, not_supported, required, too_long
from setpoint.registry import go_form
from setpoint.registry.fields import Errors, complain
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.paths import local_descending
from setpoint.registry.pod.validation.windows import all_containers, validate_windows_options

_PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"^({_SEGMENT}[\./])*{_SEGMENT}$"
_MAX_SYSCTL = 253
_MAX_APP_ARMOR = 4095
_IPC_SYSCTLS = ("kernel.msg", "kernel.shm", "fs.mqueue.")


def validate_container_security(path: str, context: Mapping[str, Any] | None, *, host_users: bool) -> Errors:
    if context is None:
        return []
    errors = _ids(path, context, ("runAsUser", "runAsGroup"))
    errors += _proc_mount(f"{path}.procMount", context.get("procMount"), host_users=host_users)
    errors += validate_seccomp_profile(f"{path}.seccompProfile", context.get("seccompProfile"))
    errors += _escalation(path, context)
    errors += validate_windows_options(f"{path}.windowsOptions", context.get("windowsOptions"))
    return errors + validate_app_armor_profile(f"{path}.appArmorProfile", context.get("appArmorProfile"))


def _ids(path: str, context: Mapping[str, Any], fields: tuple[str, ...]) -> Errors:
    errors: Errors = []
    for field in fields:
        value = context.get(field)
        if value is not None:
            errors += complain(f"{path}.{field}", value, names.user_id(value))
    return errors


def _proc_mount(path: str, value: str | None, *, host_users: bool) -> Errors:
    if value is None:
        return []
    errors = [] if value in {"Default", "Unmasked"} else [not_supported(path, value, ("Default", "Unmasked"))]
    if host_users and value == "Unmasked":
        errors.append(invalid(path, value, "`hostUsers` must be false to use `Unmasked`"))
    return errors


def _escalation(path: str, context: Mapping[str, Any]) -> Errors:
    if context.get("allowPrivilegeEscalation") is not False:
        return []
    errors: Errors = []
    value = go_form.of(context, "SecurityContext")
    if context.get("privileged"):
        errors.append(invalid(path, value, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
    for capability in (context.get("capabilities") or {}).get("add") or ():
        if capability == "CAP_SYS_ADMIN":
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(invalid(path, value, why))
    return errors


def validate_seccomp_profile(path: str, profile: Mapping[str, Any] | None) -> Errors:
    if profile is None:
        return []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    errors: Errors = []
    if not kind:
        errors.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _PROFILE_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _PROFILE_TYPES))
    where = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            return [*errors, required(where, "must be set when seccomp type is Localhost")]
        return errors + local_descending(where, local)
    if local is not None:
        errors.append(invalid(where, go_form.of(profile, "Profile"), "can only be set when seccomp type is Localhost"))
    return errors


def validate_app_armor_profile(path: str, profile: Mapping[str, Any] | None) -> Errors:
    if profile is None:
        return []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        return [required(f"{path}.type", "type is required when appArmorProfile is set")]
    if kind not in _PROFILE_TYPES:
        return [not_supported(f"{path}.type", kind, _PROFILE_TYPES)]
    where = f"{path}.localhostProfile"
    if kind != "Localhost":
        return [] if local is None else [invalid(where, local, "can only be set when AppArmor type is Localhost")]
    if local is None:
        return [required(where, "must be set when AppArmor type is Localhost")]
    errors: Errors = []
    if local.strip() != local:
        errors.append(invalid(where, local, "must not be padded with whitespace"))
    elif not local:
        errors.append(required(where, "must be set when AppArmor type is Localhost"))
    return [*errors, too_long(where, _MAX_APP_ARMOR)] if names.length(local) > _MAX_APP_ARMOR else errors


def validate_pod_security(path: str, spec: Mapping[str, Any], options: Options) -> Errors:
    context = spec.get("securityContext")
    if context is None:
        return []
    errors = _ids(path, context, ("fsGroup", "runAsUser", "runAsGroup"))
    for i, group in enumerate(context.get("supplementalGroups") or ()):
        errors += complain(f"{path}.supplementalGroups[{i}]", group, names.user_id(group))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", True, why))
    errors += _sysctls(f"{path}.sysctls", spec, options)
    errors += _choice(path, context, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    errors += validate_seccomp_profile(f"{path}.seccompProfile", context.get("seccompProfile"))
    errors += validate_windows_options(f"{path}.windowsOptions", context.get("windowsOptions"))
    errors += validate_app_armor_profile(f"{path}.appArmorProfile", context.get("appArmorProfile"))
    errors += _choice(path, context, "supplementalGroupsPolicy", ("Merge", "Strict"))
    # volumes are not mounted with labels by default (KEP-1710), so a new pod cannot ask for it
    known = ("MountOption", "Recursive") if options.any_selinux_change_policy else ("Recursive",)
    return errors + _choice(path, context, "seLinuxChangePolicy", known)


def _choice(path: str, context: Mapping[str, Any], field: str, allowed: tuple[str, ...]) -> Errors:
    value = context.get(field)
    return [] if value is None or value in allowed else [not_supported(f"{path}.{field}", value, allowed)]


def _sysctls(path: str, spec: Mapping[str, Any], options: Options) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for i, sysctl in enumerate((spec.get("securityContext") or {}).get("sysctls") or ()):
        name, where = sysctl.get("name", ""), f"{path}[{i}].name"
        if not name:
            errors.append(required(where))
        elif len(name) > _MAX_SYSCTL or not re.fullmatch(_SYSCTL, name):
            errors.append(invalid(where, name, f"must have at most {_MAX_SYSCTL} characters and match regex {_SYSCTL}"))
        elif name in seen:
            errors.append(duplicate(where, name))
        if not options.allow_host_sysctls:
            errors += _host_sysctl(where, name, spec)
        seen.add(name)
    return errors


def _host_sysctl(path: str, name: str, spec: Mapping[str, Any]) -> Errors:
    """A sysctl of a namespace that the pod shares with its host would change the host."""
    dotted = name.replace("/", ".")
    if spec.get("hostNetwork") and dotted.startswith("net."):
        return [invalid(path, name, "may not be specified when 'hostNetwork' is true")]
    if spec.get("hostIPC") and (dotted == "kernel.sem" or dotted.startswith(_IPC_SYSCTLS)):
        return [invalid(path, name, "may not be specified when 'hostIPC' is true")]
    return []


def validate_host_users(path: str, spec: Mapping[str, Any]) -> Errors:
    """A pod with its own user namespace cannot share the host's other namespaces, nor have block devices."""
    if spec.get("hostUsers") is not False:
        return []
    why = "when `hostUsers` is false"
    fields = (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
    errors = [forbidden(f"{path}.{shown}", why) for field, shown in fields if spec.get(field)]
    return errors + [
        forbidden(f"{here}.volumeDevices", why)
        for here, container in all_containers(path, spec)
        if container.get("volumeDevices")
    ]
