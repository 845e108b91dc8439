"""The rules of the level `baseline`: against known ways from a container to its node.

Source: pod-security-admission `policy/check_*.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from setpoint.registry.admission.pod_security.findings import (
    Finding,
    Json,
    Pod,
    containers,
    inside,
    quoted,
    security,
    setters,
    several,
)

_APP_ARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD, _SECCOMP_PREFIX = "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/"
_CAPABILITIES = frozenset(
    ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
     "SETPCAP", "SETUID", "SYS_CHROOT")
)  # fmt: skip
_PROFILES = ("RuntimeDefault", "Localhost")
_SE_LINUX = {0: ("", "container_t", "container_init_t", "container_kvm_t"), 31: ("container_engine_t",)}
_SYSCTLS = {
    0: ("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start"),
    27: ("net.ipv4.ip_local_reserved_ports",),
    29: ("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
         "net.ipv4.tcp_keepalive_probes"),
    32: ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}  # fmt: skip


def profile(context: Json, field: str) -> str | None:
    """A profile's type; None where none is named."""
    found = context.get(field)
    return None if found is None else str(found.get("type") or "")


def is_bad(context: Json, field: str) -> bool:
    """Whether a profile is named that is none of the safe ones."""
    found = profile(context, field)
    return found is not None and found not in _PROFILES


def bad_profiles(pod: Pod, field: str) -> tuple[list[str], list[str]]:
    """The containers that name a bad profile, and all bad ones, the pod's too."""
    names = pod.names(lambda each: is_bad(security(each), field))
    contexts = [pod.security, *map(security, pod.containers)]
    return names, sorted({profile(context, field) or "" for context in contexts if is_bad(context, field)})


def app_armor(pod: Pod) -> Finding | None:
    names, values = bad_profiles(pod, "appArmorProfile")
    annotations = sorted(
        f'{key}="{value}"'
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR_PREFIX) and not (value in ("", "runtime/default") or value.startswith("localhost/"))
    )
    who = setters(names, pod=is_bad(pod.security, "appArmorProfile"))
    if annotations:
        who = " and ".join([*([who] if who else []), several("annotation", "annotations", annotations)])
    if not who:
        return None
    values += annotations
    reason = several("forbidden AppArmor profile", "forbidden AppArmor profiles", values)
    return Finding(reason, f"{who} must not set AppArmor profile type to {quoted(values)}")


def capabilities(pod: Pod) -> Finding | None:
    def added(container: Json) -> set[str]:
        return set(inside(security(container), "capabilities").get("add") or ()) - _CAPABILITIES

    names = pod.names(lambda each: bool(added(each)))
    if not names:
        return None
    found = sorted(set[str]().union(*map(added, pod.containers)))
    return Finding(
        "non-default capabilities", f"{containers(names)} must not include {quoted(found)} in securityContext.capabilities.add"
    )


def host_namespaces(pod: Pod) -> Finding | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if pod.spec.get(name)]
    return Finding("host namespaces", ", ".join(found)) if found else None


def host_paths(pod: Pod) -> Finding | None:
    names = [volume["name"] for volume in pod.spec.get("volumes") or () if volume.get("hostPath") is not None]
    return Finding("hostPath volumes", f"{several('volume', 'volumes', names)} {quoted(names)}") if names else None


def host_ports(pod: Pod) -> Finding | None:
    def ports(container: Json) -> list[str]:
        return [str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")]

    names = pod.names(lambda each: bool(ports(each)))
    if not names:
        return None
    found = sorted({port for container in pod.containers for port in ports(container)})
    uses, what = several("uses", "use", names), several("hostPort", "hostPorts", found)
    return Finding("hostPort", f"{containers(names)} {uses} {what} {', '.join(found)}")


def _hosts(container: Json) -> Iterator[str]:
    lifecycle = inside(container, "lifecycle")
    handlers = [inside(container, f"{name}Probe") for name in ("liveness", "readiness", "startup")]
    for handler in [*handlers, inside(lifecycle, "postStart"), inside(lifecycle, "preStop")]:
        for action in ("httpGet", "tcpSocket"):
            if host := inside(handler, action).get("host"):
                yield host


def handler_hosts(pod: Pod) -> Finding | None:
    names = sorted(set(pod.names(lambda each: any(_hosts(each)))))
    if not names:
        return None
    found = sorted({host for container in pod.containers for host in _hosts(container)})
    what = several("probe or lifecycle host", "probe or lifecycle hosts", found)
    return Finding("probe or lifecycle host", f"{containers(names)} {several('uses', 'use', names)} {what} {quoted(found)}")


def privileged(pod: Pod) -> Finding | None:
    names = pod.names(lambda each: bool(security(each).get("privileged")))
    return Finding("privileged", f"{containers(names)} must not set securityContext.privileged=true") if names else None


def proc_mount(pod: Pod) -> Finding | None:
    names = pod.names(lambda each: security(each).get("procMount") not in (None, "Default"))
    if not names:
        return None
    found = sorted({security(each)["procMount"] for each in pod.containers if security(each).get("procMount")} - {"Default"})
    return Finding("procMount", f"{containers(names)} must not set securityContext.procMount to {quoted(found)}")


def proc_mount_of_host_users(pod: Pod) -> Finding | None:
    """Pods with users of their own may see all of /proc."""
    return None if pod.spec.get("hostUsers") is False else proc_mount(pod)


def _since(table: dict[int, tuple[str, ...]], minor: int) -> frozenset[str]:
    return frozenset(word for since, words in table.items() if since <= minor for word in words)


def se_linux(minor: int) -> Callable[[Pod], Finding | None]:
    """The rule as of a version."""
    allowed = _since(_SE_LINUX, minor)

    def bad(context: Json) -> bool:
        options = inside(context, "seLinuxOptions")
        return (options.get("type") or "") not in allowed or bool(options.get("user") or options.get("role"))

    def check(pod: Pod) -> Finding | None:
        names = pod.names(lambda each: bad(security(each)))
        who = setters(names, pod=bad(pod.security))
        if not who:
            return None
        options = [inside(context, "seLinuxOptions") for context in (pod.security, *map(security, pod.containers))]
        types = sorted({each.get("type") or "" for each in options} - allowed)
        what = [f"{several('type', 'types', types)} {quoted(types)}"] if types else []
        what += [f"{name} may not be set" for name in ("user", "role") if any(each.get(name) for each in options)]
        return Finding("seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(what)}")

    return check


def seccomp_annotations(pod: Pod) -> Finding | None:
    """Before there were fields."""
    keys = [_SECCOMP_POD, *(_SECCOMP_PREFIX + each.get("name", "") for each in pod.containers)]
    found = sorted(
        {
            f'{key}="{pod.annotations[key]}"'
            for key in keys
            if key in pod.annotations
            and pod.annotations[key] not in ("runtime/default", "docker/default")
            and not pod.annotations[key].startswith("localhost/")
        }
    )
    if not found:
        return None
    return Finding("seccompProfile", f"forbidden {several('annotation', 'annotations', found)} {', '.join(found)}")


def seccomp(pod: Pod) -> Finding | None:
    names, values = bad_profiles(pod, "seccompProfile")
    who = setters(names, pod=is_bad(pod.security, "seccompProfile"))
    if not who:
        return None
    return Finding("seccompProfile", f"{who} must not set securityContext.seccompProfile.type to {quoted(values)}")


def sysctls(minor: int) -> Callable[[Pod], Finding | None]:
    """The rule as of a version."""
    allowed = _since(_SYSCTLS, minor)

    def check(pod: Pod) -> Finding | None:
        given: Any = pod.security.get("sysctls") or ()
        found = [each["name"] for each in given if each["name"] not in allowed]
        return Finding("forbidden sysctls", ", ".join(found)) if found else None

    return check


def host_process(pod: Pod) -> Finding | None:
    def bad(context: Json) -> bool:
        return bool(inside(context, "windowsOptions").get("hostProcess"))

    who = setters(pod.names(lambda each: bad(security(each))), pod=bad(pod.security))
    return Finding("hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true") if who else None
