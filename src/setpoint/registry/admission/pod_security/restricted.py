"""The rules of the level `restricted`: what hardened pods do without.

Source: pod-security-admission `policy/check_*.go`.
"""

from __future__ import annotations

from collections.abc import Callable

from setpoint.registry.admission.pod_security.baseline import is_bad, profile
from setpoint.registry.admission.pod_security.baseline import seccomp as seccomp_of_baseline
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

Rule = Callable[[Pod], Finding | None]
_VOLUMES = frozenset(
    ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret")
)


def unless_windows(rule: Rule) -> Rule:
    """A rule about what Windows does not have."""

    def check(pod: Pod) -> Finding | None:
        return None if inside(pod.spec, "os").get("name") == "windows" else rule(pod)

    return check


def unless_own_users(rule: Rule) -> Rule:
    """A rule that is met by users who are nobody on the node."""

    def check(pod: Pod) -> Finding | None:
        return None if pod.spec.get("hostUsers") is False else rule(pod)

    return check


def escalation(pod: Pod) -> Finding | None:
    names = pod.names(lambda each: security(each).get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    return Finding(
        "allowPrivilegeEscalation != false", f"{containers(names)} must set securityContext.allowPrivilegeEscalation=false"
    )


def capabilities(pod: Pod) -> Finding | None:
    def added(container: Json) -> set[str]:
        return set(inside(security(container), "capabilities").get("add") or ()) - {"NET_BIND_SERVICE"}

    keep = pod.names(lambda each: "ALL" not in (inside(security(each), "capabilities").get("drop") or ()))
    add = pod.names(lambda each: bool(added(each)))
    details = [f'{containers(keep)} must set securityContext.capabilities.drop=["ALL"]'] if keep else []
    if add:
        found = quoted(sorted(set[str]().union(*map(added, pod.containers))))
        details.append(f"{containers(add)} must not include {found} in securityContext.capabilities.add")
    return Finding("unrestricted capabilities", "; ".join(details)) if details else None


def volumes(pod: Pod) -> Finding | None:
    found = {volume["name"]: _source(volume) for volume in pod.spec.get("volumes") or () if not _VOLUMES & _sources(volume)}
    if not found:
        return None
    kinds = sorted(set(found.values()))
    what = several("restricted volume type", "restricted volume types", kinds)
    names = f"{several('volume', 'volumes', found)} {quoted(found)}"
    return Finding("restricted volume types", f"{names} {several('uses', 'use', found)} {what} {quoted(kinds)}")


def _sources(volume: Json) -> set[str]:
    return {name for name, source in volume.items() if name != "name" and source is not None}


def _source(volume: Json) -> str:
    return next(iter(sorted(_sources(volume))), "unknown")


def non_root(pod: Pod) -> Finding | None:
    reason = "runAsNonRoot != true"
    whole = pod.security.get("runAsNonRoot")
    who = setters(pod.names(lambda each: security(each).get("runAsNonRoot") is False), pod=whole is False)
    if who:
        return Finding(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    names = [] if whole else pod.names(lambda each: security(each).get("runAsNonRoot") is None)
    return Finding(reason, f"pod or {containers(names)} must set securityContext.runAsNonRoot=true") if names else None


def user_zero(pod: Pod) -> Finding | None:
    def bad(context: Json) -> bool:
        return context.get("runAsUser") == 0

    who = setters(pod.names(lambda each: bad(security(each))), pod=bad(pod.security))
    return Finding("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def seccomp(pod: Pod) -> Finding | None:
    found = seccomp_of_baseline(pod)
    if found is not None:
        return found
    whole = profile(pod.security, "seccompProfile")
    if whole is not None and not is_bad(pod.security, "seccompProfile"):
        return None
    names = pod.names(lambda each: profile(security(each), "seccompProfile") is None)
    if not names:
        return None
    wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return Finding("seccompProfile", f"pod or {containers(names)} {wanted}")
