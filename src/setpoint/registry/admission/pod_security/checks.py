"""The rules of the Pod Security Standards, each from the version on in which it came.

Source: pod-security-admission `policy/checks.go`, `registry.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from setpoint.registry.admission.pod_security import baseline, restricted
from setpoint.registry.admission.pod_security.findings import Finding, Pod
from setpoint.registry.admission.pod_security.levels import BASELINE, PRIVILEGED, Level

Rule = Callable[[Pod], Finding | None]


class Check(Struct, frozen=True):
    """A rule by the minor versions that it changed in; `overrides` are checks that it takes the place of."""

    id: str
    versions: tuple[tuple[int, Rule], ...]
    overrides: tuple[str, ...] = ()

    def at(self, minor: int) -> Rule | None:
        """The rule in a version, None before the first."""
        return next((rule for since, rule in reversed(self.versions) if since <= minor), None)


#: by id, as findings are told
_BASELINE = (
    Check("appArmorProfile", ((0, baseline.app_armor),)),
    Check("capabilities_baseline", ((0, baseline.capabilities),)),
    Check("hostNamespaces", ((0, baseline.host_namespaces),)),
    Check("hostPathVolumes", ((0, baseline.host_paths),)),
    Check("hostPorts", ((0, baseline.host_ports),)),
    Check("hostProbesAndHostLifecycle", ((34, baseline.handler_hosts),)),
    Check("privileged", ((0, baseline.privileged),)),
    Check("procMount", ((0, baseline.proc_mount), (35, baseline.proc_mount_of_host_users))),
    Check("seLinuxOptions", ((0, baseline.se_linux(0)), (31, baseline.se_linux(31)))),
    Check("seccompProfile_baseline", ((0, baseline.seccomp_annotations), (19, baseline.seccomp))),
    Check("sysctls", tuple((since, baseline.sysctls(since)) for since in (0, 27, 29, 32))),
    Check("windowsHostProcess", ((0, baseline.host_process),)),
)
_RESTRICTED = (
    Check("allowPrivilegeEscalation", ((8, restricted.escalation), (25, restricted.unless_windows(restricted.escalation)))),
    Check(
        "capabilities_restricted",
        ((22, restricted.capabilities), (25, restricted.unless_windows(restricted.capabilities))),
        ("capabilities_baseline",),
    ),
    Check("procMount_restricted", ((35, baseline.proc_mount),), ("procMount",)),
    Check("restrictedVolumes", ((0, restricted.volumes),), ("hostPathVolumes",)),
    Check("runAsNonRoot", ((0, restricted.non_root), (35, restricted.unless_own_users(restricted.non_root)))),
    Check("runAsUser", ((23, restricted.user_zero), (35, restricted.unless_own_users(restricted.user_zero)))),
    Check(
        "seccompProfile_restricted",
        ((19, restricted.seccomp), (25, restricted.unless_windows(restricted.seccomp))),
        ("seccompProfile_baseline",),
    ),
)
_NEWEST = 36


@cache
def _rules(name: str, minor: int) -> tuple[Rule, ...]:
    if name == BASELINE:
        return tuple(rule for check in _BASELINE if (rule := check.at(minor)) is not None)
    strict = [check for check in _RESTRICTED if check.at(minor) is not None]
    replaced = {one for check in strict for one in check.overrides}
    chosen = [*(check for check in _BASELINE if check.id not in replaced), *strict]
    return tuple(rule for check in chosen if (rule := check.at(minor)) is not None)


def findings(level: Level, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> Sequence[Finding]:
    """What a pod has that a level does not allow."""
    if level.name == PRIVILEGED:
        return ()
    pod = Pod(metadata, spec)
    found = (rule(pod) for rule in _rules(level.name, min(level.minor, _NEWEST)))
    return [each for each in found if each is not None]
