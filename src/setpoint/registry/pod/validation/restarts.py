"""Whether a container that has ended may run again.

Source: `pkg/api/v1/pod/util.go` (ContainerShouldRestart, AllContainersCouldRestart).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = Mapping[str, Any]


def restarts_all(spec: Spec) -> bool:
    """Whether the end of some container may restart all of them (KEP-5532)."""
    return any(
        rule.get("action") == "RestartAllContainers"
        for field in ("containers", "initContainers")
        for container in spec.get(field) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def should_restart(container: Spec, spec: Spec, exit_code: int) -> bool:
    """By the first rule for its exit code (KEP-5307), else its own policy, else the pod's."""
    if container.get("restartPolicy") and any(_matches(rule, exit_code) for rule in container.get("restartPolicyRules") or ()):
        return True
    policy = container.get("restartPolicy") or spec.get("restartPolicy", "")
    return exit_code != 0 if policy == "OnFailure" else policy != "Never"


def _matches(rule: Spec, exit_code: int) -> bool:
    codes = rule.get("exitCodes")
    return codes is not None and (exit_code in (codes.get("values") or ())) == (codes.get("operator") == "In")
