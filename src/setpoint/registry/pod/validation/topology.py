"""Topology spread constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setpoint.api.machinery.status import duplicate, invalid, not_supported, required
from setpoint.registry import formats
from setpoint.registry.fields import Errors, label_selector
from setpoint.registry.pod.validation.affinity import validate_label_keys
from setpoint.registry.pod.validation.options import Options

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")


def validate_spread(path: str, constraints: Sequence[Mapping[str, Any]], options: Options) -> Errors:
    errors: Errors = []
    for i, constraint in enumerate(constraints):
        errors += _constraint(f"{path}[{i}]", constraint, constraints[i + 1 :])
        selector = constraint.get("labelSelector")
        errors += validate_label_keys(f"{path}[{i}]", constraint)
        if not options.allow_invalid_spread_selector:
            errors += label_selector(f"{path}[{i}].labelSelector", selector)
    return errors


def _constraint(path: str, constraint: Mapping[str, Any], following: Sequence[Mapping[str, Any]]) -> Errors:
    errors: Errors = []
    skew, key, action = constraint.get("maxSkew", 0), constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, formats.POSITIVE))
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    if action not in _ACTIONS:
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, _ACTIONS))
    if any(other.get("topologyKey", "") == key and other.get("whenUnsatisfiable", "") == action for other in following):
        errors.append(duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
    errors += _min_domains(f"{path}.minDomains", constraint.get("minDomains"), action)
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        policy = constraint.get(name)
        if policy is not None and policy not in _POLICIES:
            errors.append(not_supported(f"{path}.{name}", policy, _POLICIES))
    return errors


def _min_domains(path: str, domains: int | None, action: str) -> Errors:
    if domains is None:
        return []
    errors = [invalid(path, domains, formats.POSITIVE)] if domains <= 0 else []
    if action != "DoNotSchedule":
        why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, why))
    return errors
