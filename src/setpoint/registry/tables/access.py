"""Roles' bindings, certificates, admission, flow control, API services, devices.

Source: Kubernetes `pkg/printers/internalversion/printers.go`; kube-aggregator `registry/apiservice`.
"""

from __future__ import annotations

from typing import Any

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Object
from setpoint.registry.tables.printing import (
    AGE,
    NAME,
    NONE,
    UNSET,
    age,
    column,
    condition,
    duration,
    holds,
    name,
    simple,
)

# --- RBAC ---


def _subjects(obj: Object, kind: str) -> str:
    found = (one for one in obj.get("subjects") or () if one.get("kind") == kind)
    if kind == "ServiceAccount":
        return ", ".join(f"{one.get('namespace', '')}/{one.get('name', '')}" for one in found)
    return ", ".join(one.get("name", "") for one in found)


def _binding_cells(obj: Object, now: float) -> list[Any]:
    role = obj.get("roleRef") or {}
    subjects = [_subjects(obj, kind) for kind in ("User", "Group", "ServiceAccount")]
    return [name(obj), f"{role.get('kind', '')}/{role.get('name', '')}", age(obj, now), *subjects]


def _binding(kind: str) -> Table:
    word = f"{kind[0].lower()}{kind[1:]}"
    return Table(
        (
            NAME,
            column("Role", f"rbac.v1.{kind}.roleRef"),
            AGE,
            column("Users", text=f"Users in the {word}", wide=True),
            column("Groups", text=f"Groups in the {word}", wide=True),
            column("ServiceAccounts", text=f"ServiceAccounts in the {word}", wide=True),
        ),
        _binding_cells,
    )


ROLE_BINDING = _binding("RoleBinding")
CLUSTER_ROLE_BINDING = _binding("ClusterRoleBinding")

# --- certificates ---


def _request_word(obj: Object) -> str:
    types = {one.get("type") for one in (obj.get("status") or {}).get("conditions") or ()}
    word = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    if "Failed" in types:
        word += ",Failed"
    return f"{word},Issued" if (obj.get("status") or {}).get("certificate") else word


def _certificate(obj: Object, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    wanted = spec.get("expirationSeconds")
    return [
        name(obj),
        age(obj, now),
        spec.get("signerName") or NONE,
        spec.get("username", ""),
        NONE if wanted is None else duration(wanted),
        _request_word(obj),
    ]


_CSR = "certificates.v1.CertificateSigningRequest"
CERTIFICATE_SIGNING_REQUEST = Table(
    (
        NAME,
        AGE,
        column("SignerName", f"{_CSR}Spec.signerName"),
        column("Requestor", f"{_CSR}Spec.request"),
        column("RequestedDuration", f"{_CSR}Spec.expirationSeconds"),
        column("Condition", f"{_CSR}Status.conditions"),
    ),
    _certificate,
)

# --- admission ---

WEBHOOKS = simple(
    column("Webhooks", text="Webhooks indicates the number of webhooks registered in this configuration", type="integer"),
    cells=lambda obj: [len(obj.get("webhooks") or ())],
)


def _parameters(spec: dict[str, Any]) -> str:
    kind = spec.get("paramKind")
    if not kind:
        return UNSET
    version = kind.get("apiVersion")
    return f"{version}/{kind.get('kind', '')}" if version else str(kind.get("kind", ""))


def _policy(title: str, part: str, text: str) -> Table:
    def cells(obj: Object) -> list[Any]:
        spec = obj.get("spec") or {}
        return [len(spec.get(part) or ()), _parameters(spec)]

    return simple(
        column(title, text=text, type="integer"),
        column("ParamKind", text="ParamKind specifies the kind of resources used to parameterize this policy"),
        cells=cells,
    )


VALIDATING_ADMISSION_POLICY = _policy(
    "Validations",
    "validations",
    "Validations indicates the number of validation rules defined in this configuration",
)
MUTATING_ADMISSION_POLICY = _policy(
    "Mutations",
    "mutations",
    "Mutation indicates the number of mutations rules defined in this configuration",
)


_REQUIREMENT = "LabelSelectorRequirement"


def _parameter(reference: dict[str, Any]) -> str:
    """By its name, its namespace `*` where none is given; or the selector as Go writes the struct."""
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    if selector is None:
        return UNSET
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"{_REQUIREMENT}{{Key:{one['key']},Operator:{one['operator']},Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    return f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]{_REQUIREMENT}{{{expressions}}},}}"


def _policy_binding(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    reference = spec.get("paramRef")
    return [spec.get("policyName", ""), _parameter(reference) if reference else UNSET]


POLICY_BINDING = simple(
    column("PolicyName", text="PolicyName indicates the policy definition which the policy binding binds to"),
    column("ParamRef", text="ParamRef indicates the param resource which sets the configration param"),
    cells=_policy_binding,
)

# --- flow control ---


def _flow_schema(obj: Object, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    dangling = condition(obj, "Dangling")
    return [
        name(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        (spec.get("distinguisherMethod") or {}).get("type") or NONE,
        age(obj, now),
        (dangling or {}).get("status") or "?",
    ]


_FLOW = "flowcontrol.v1.FlowSchema"
FLOW_SCHEMA = Table(
    (
        NAME,
        column("PriorityLevel", "flowcontrol.v1.PriorityLevelConfigurationReference.name"),
        column("MatchingPrecedence", f"{_FLOW}Spec.matchingPrecedence"),
        column("DistinguisherMethod", f"{_FLOW}Spec.distinguisherMethod"),
        AGE,
        column("MissingPL", text="references a broken or non-existent PriorityLevelConfiguration"),
    ),
    _flow_schema,
    order=lambda obj: ((obj.get("spec") or {}).get("matchingPrecedence", 0), name(obj)),
)


def _priority_level(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    limited = spec.get("limited")
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    return [
        spec.get("type", ""),
        limited.get("nominalConcurrencyShares", 0) if limited else NONE,
        *(queuing.get(part, 0) if queuing else NONE for part in ("queues", "handSize", "queueLengthLimit")),
    ]


_QUEUING = "flowcontrol.v1.QueuingConfiguration"
PRIORITY_LEVEL = simple(
    column("Type", "flowcontrol.v1.PriorityLevelConfigurationSpec.type"),
    column("NominalConcurrencyShares", "flowcontrol.v1.LimitedPriorityLevelConfiguration.nominalConcurrencyShares"),
    column("Queues", f"{_QUEUING}.queues"),
    column("HandSize", f"{_QUEUING}.handSize"),
    column("QueueLengthLimit", f"{_QUEUING}.queueLengthLimit"),
    cells=_priority_level,
)

# --- API services ---


def _api_service(obj: Object) -> list[Any]:
    service = (obj.get("spec") or {}).get("service")
    available = condition(obj, "Available")
    if available is None:
        word = "Unknown"
    elif holds(obj, "Available") or not available.get("reason"):
        word = str(available.get("status", ""))
    else:
        word = f"{available.get('status', '')} ({available['reason']})"
    return [f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local", word]


API_SERVICE = simple(
    column("Service", text="The reference to the service that hosts this API endpoint."),
    column("Available", text="Whether this service is available."),
    cells=_api_service,
)

# --- devices ---


def _claim_state(obj: Object) -> list[Any]:
    status, deleted = obj.get("status") or {}, bool(obj["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if deleted else []
    if status.get("allocation") is not None:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return [",".join(states)]


RESOURCE_CLAIM = simple(
    column("State", text="A summary of the current state (allocated, pending, reserved, etc.)."),
    cells=_claim_state,
)
#: kinds that show their age and no more
NAMED = simple(cells=lambda _: [])


def _resource_slice(obj: Object) -> list[Any]:
    spec = obj.get("spec") or {}
    return [spec.get("nodeName") or "", spec.get("driver", ""), (spec.get("pool") or {}).get("name", "")]


RESOURCE_SLICE = simple(
    column("Node", "resource.v1.ResourceSliceSpec.nodeName"),
    column("Driver", "resource.v1.ResourceSliceSpec.driver"),
    column("Pool", "resource.v1.ResourcePool.name"),
    cells=_resource_slice,
)
