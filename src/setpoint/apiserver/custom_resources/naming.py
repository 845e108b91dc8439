"""The status of definitions: accepted names and what follows from them. Pure: from definitions to a status.

Source: apiextensions-apiserver `pkg/controller/status/naming_controller.go`, `establish`, `apiapproval`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.registry.apiextensions.approval import is_url
from setpoint.registry.apiextensions.conditions import is_true, with_condition

Definition = Mapping[str, Any]

_APPROVAL = "api-approved.kubernetes.io"
_PROTECTED = ("k8s.io", "kubernetes.io")


def status_of(definition: Definition, others: Iterable[Definition], now: float) -> dict[str, Any]:
    """The status that a definition should have beside the other definitions of its group."""
    status = dict(definition.get("status") or {})
    names, accepted = _names(definition, others)
    conditions = with_condition(status.get("conditions"), accepted, now)
    if not is_true(definition, "Established"):
        if accepted["status"] == "True":
            conditions = with_condition(conditions, _established("True", "InitialNamesAccepted"), now)
        else:
            conditions = with_condition(conditions, _established("False", "NotAccepted", "not all names are accepted"), now)
    if (approval := _approval(definition)) is not None:
        conditions = with_condition(conditions, approval, now)
    status["conditions"] = conditions
    status["acceptedNames"] = names
    return status


def _established(status: str, reason: str, message: str = "the initial names have been accepted") -> dict[str, str]:
    return {"type": "Established", "status": status, "reason": reason, "message": message}


def _names(definition: Definition, others: Iterable[Definition]) -> tuple[dict[str, Any], dict[str, str]]:
    """The accepted names, and the condition NamesAccepted."""
    wanted, names = definition["spec"]["names"], dict((definition.get("status") or {}).get("acceptedNames") or {})
    resources, kinds = _taken(definition, others)
    problem: tuple[str, str] | None = None
    for field, reason, taken in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("shortNames", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("listKind", "ListKindConflict", kinds),
    ):
        value = wanted.get(field)
        if complaint := _conflict(value, names.get(field), taken):
            problem = (reason, complaint)
        elif value:
            names[field] = value
        else:
            names.pop(field, None)
    names.pop("categories", None)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    if problem is None:
        return names, {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"}
    return names, {"type": "NamesAccepted", "status": "False", "reason": problem[0], "message": problem[1]}


def _conflict(value: Any, accepted: Any, taken: set[str]) -> str:
    """What is wrong with a name, or with some of several; what was accepted before stays."""
    if isinstance(value, list):
        new = [name for name in value if name not in (accepted or ()) and name in taken]
        complaints = [f'"{name}" is already in use' for name in new]
        return complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]" if complaints else ""
    if value and value != accepted and value in taken:
        return f'"{value}" is already in use'
    return ""


def _taken(definition: Definition, others: Iterable[Definition]) -> tuple[set[str], set[str]]:
    """Names of resources and of kinds that other definitions of the group have."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        if other["spec"]["group"] != definition["spec"]["group"] or other["metadata"]["uid"] == definition["metadata"]["uid"]:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural", ""), names.get("singular", ""), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind", ""), names.get("listKind", "")}
    return resources - {""}, kinds - {""}


def _approval(definition: Definition) -> dict[str, str] | None:
    """The condition of groups that belong to the Kubernetes community."""
    group = definition["spec"]["group"]
    if not any(group == domain or group.endswith(f".{domain}") for domain in _PROTECTED):
        return None
    word = (definition["metadata"].get("annotations") or {}).get(_APPROVAL, "")
    intro = f'protected groups must have approval annotation "{_APPROVAL}"'
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not word:
        found = ("False", "MissingAnnotation", f"{intro}, {see}")
    elif word.startswith("unapproved"):
        found = ("False", "UnapprovedAnnotation", f"not approved due to {_quoted(word)}")
    elif is_url(word):
        found = ("True", "ApprovedAnnotation", f"approved in {word}")
    else:
        found = ("False", "InvalidAnnotation", f'{intro} with either a URL or a reason starting with "unapproved", {see}')
    status, reason, message = found
    return {"type": "KubernetesAPIApprovalPolicyConformant", "status": status, "reason": reason, "message": message}


def _quoted(word: str) -> str:
    return f'"{_APPROVAL}": "{word}"'
