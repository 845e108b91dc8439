"""How default roles and bindings that are there already are brought up to date at a start.

What is missing is added, nothing is taken away; whoever wants a default left alone sets the annotation `autoupdate` to false.
Source: `component-helpers/auth/rbac/reconciliation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.registry.rbac.escalation import missing_rights

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_ROLE_REF = ("apiGroup", "kind", "name")

Body = Mapping[str, Any]


def reconciled(held: Body, wanted: Body) -> dict[str, Any] | None:
    """The object as it should be; None if it is so already, or is to be left alone.

    A binding that names another role than it should has lost its uid and resourceVersion: it must be made anew.
    """
    annotations = held["metadata"].get("annotations") or {}
    if annotations.get(AUTOUPDATE) == "false":
        return None
    if "roleRef" in wanted and any(held["roleRef"].get(field) != wanted["roleRef"].get(field) for field in _ROLE_REF):
        return dict(wanted)
    changes: dict[str, Any] = {}
    if "roleRef" in wanted:
        changes = _subjects(held, wanted)
    elif "aggregationRule" in wanted:
        changes = _selectors(held, wanted)
    elif missing := missing_rights(held.get("rules") or (), wanted["rules"]):
        changes = {"rules": [*(held.get("rules") or ()), *missing]}
    labels = held["metadata"].get("labels") or {}
    metadata = {field: {**wanted["metadata"][field], **own} for field, own in (("labels", labels), ("annotations", annotations))}
    if metadata["labels"] != labels or metadata["annotations"] != annotations:
        changes["metadata"] = {**held["metadata"], **metadata}
    return {**held, **changes} if changes else None


def _subjects(held: Body, wanted: Body) -> dict[str, Any]:
    present = [*(held.get("subjects") or ())]
    missing = [subject for subject in wanted.get("subjects") or () if subject not in present]
    return {"subjects": present + missing} if missing else {}


def _selectors(held: Body, wanted: Body) -> dict[str, Any]:
    present = [*((held.get("aggregationRule") or {}).get("clusterRoleSelectors") or ())]
    missing = [selector for selector in wanted["aggregationRule"]["clusterRoleSelectors"] if selector not in present]
    return {"aggregationRule": {"clusterRoleSelectors": present + missing}} if missing else {}
