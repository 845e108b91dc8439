"""Looser rules for what is already stored: a pod or template that breaks a newer rule may go on breaking it, a new one may not.

Source: `pkg/api/pod/util.go` (GetValidationOptionsFromPodSpecAndMeta).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from setpoint.registry.pod.validation.affinity import validate_affinity
from setpoint.registry.pod.validation.annotations import DELETION_COST, MIRROR, validate_annotations
from setpoint.registry.pod.validation.options import Options
from setpoint.registry.pod.validation.topology import validate_spread

_STRICT = Options()


def options_for(pod: Mapping[str, Any], old: Mapping[str, Any] | None) -> Options:
    """For a real pod."""
    metadata = pod["metadata"]
    is_static = MIRROR in (metadata.get("annotations") or {})
    options = Options(is_pod=True, pod_name=metadata.get("name", ""), is_static=is_static)
    return options if old is None else _loosened(options, old.get("metadata") or {}, old.get("spec") or {})


def template_options(old: Mapping[str, Any] | None) -> Options:
    """For a workload's template; `old` is the template that is stored."""
    if old is None:
        return _STRICT
    return _loosened(_STRICT, old.get("metadata") or {}, old.get("spec") or {})


def _loosened(options: Options, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> Options:
    """Checks the old object by the strict rules; where it fails, so may the new one."""
    changes: dict[str, Any] = {}
    annotations = metadata.get("annotations") or {}
    if DELETION_COST in annotations and validate_annotations("", {DELETION_COST: annotations[DELETION_COST]}, spec, options):
        changes["allow_invalid_deletion_cost"] = True
    if spec.get("affinity") and validate_affinity("", spec["affinity"], options):
        changes["allow_invalid_selector_values"] = True
        changes["allow_invalid_required_node_affinity"] = True
    if spec.get("topologySpreadConstraints") and validate_spread("", spec["topologySpreadConstraints"], options):
        changes["allow_invalid_spread_selector"] = True
    if (spec.get("hostNetwork") or spec.get("hostIPC")) and (spec.get("securityContext") or {}).get("sysctls"):
        changes["allow_host_sysctls"] = True
    if (spec.get("securityContext") or {}).get("seLinuxChangePolicy") is not None:
        changes["any_selinux_change_policy"] = True
    return replace(options, **changes) if changes else options
