"""The rules of a ClusterRole that gathers those of others.

Source: Kubernetes `pkg/controller/clusterroleaggregation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.api.machinery.selectors import from_object

Role = Mapping[str, Any]


def aggregated_rules(role: Role, roles: Iterable[Role]) -> list[Any]:
    """Selector by selector and role by role in the order of names, each rule once; a role does not gather its own."""
    known = sorted(roles, key=_name)
    rules: list[Any] = []
    for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
        matches = from_object(selector).matches
        for other in known:
            if _name(other) == _name(role) or not matches(other["metadata"].get("labels") or {}):
                continue
            rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules


def _name(role: Role) -> str:
    name: str = role["metadata"]["name"]
    return name
