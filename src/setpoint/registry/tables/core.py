"""Namespaces, nodes, configuration, events, quotas, leases.

Source: Kubernetes `pkg/printers/internalversion/printers.go`.
"""

from __future__ import annotations

from typing import Any

from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables.printing import AGE, NAME, NONE, UNKNOWN, age, column, condition, holds, name, simple, since

CONFIG_MAP = simple(
    column("Data", "core.v1.ConfigMap.data"),
    cells=lambda obj: [len(obj.get("data") or ()) + len(obj.get("binaryData") or ())],
)
SECRET = simple(
    column("Type", "core.v1.Secret.type"),
    column("Data", "core.v1.Secret.data"),
    cells=lambda obj: [obj.get("type", ""), len(obj.get("data") or ())],
)
SERVICE_ACCOUNT = simple(cells=lambda _: [])
NAMESPACE = simple(
    column("Status", text="The status of the namespace"),
    cells=lambda obj: [(obj.get("status") or {}).get("phase", "")],
)
LEASE = simple(
    column("Holder", "coordination.v1.LeaseSpec.holderIdentity"),
    cells=lambda obj: [(obj.get("spec") or {}).get("holderIdentity") or ""],
)


def _health(obj: Object) -> list[str]:
    """A part's status, message and error."""
    for found in obj.get("conditions") or ():
        if found.get("type") == "Healthy":
            status = "Healthy" if found.get("status") == "True" else "Unhealthy"
            return [status, found.get("message") or "", found.get("error") or ""]
    return ["Unknown", "", ""]


COMPONENT_STATUS = Table(
    (
        NAME,
        column("Status", text="Status of the component conditions"),
        column("Message", text="Message of the component conditions"),
        column("Error", text="Error of the component conditions"),
    ),
    lambda obj, _now: [name(obj), *_health(obj)],
)

# --- nodes ---

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE = "kubernetes.io/role"


def _node_status(node: Object) -> str:
    word = "Ready" if holds(node, "Ready") else "NotReady" if condition(node, "Ready") else "Unknown"
    return f"{word},SchedulingDisabled" if (node.get("spec") or {}).get("unschedulable") else word


def _roles(node: Object) -> str:
    roles = set()
    for key, value in (node["metadata"].get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX) and key != _ROLE_PREFIX:
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE and value:
            roles.add(value)
    return ",".join(sorted(roles)) or NONE


def _node(node: Object, now: float) -> list[Any]:
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    addresses = {one.get("type"): one.get("address") for one in reversed(status.get("addresses") or ())}
    return [
        name(node),
        _node_status(node),
        _roles(node),
        age(node, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP") or NONE,
        addresses.get("ExternalIP") or NONE,
        *(info.get(part) or UNKNOWN for part in ("osImage", "kernelVersion", "containerRuntimeVersion")),
    ]


_INFO = "core.v1.NodeSystemInfo"
NODE = Table(
    (
        NAME,
        column("Status", text="The status of the node"),
        column("Roles", text="The roles of the node"),
        AGE,
        column("Version", f"{_INFO}.kubeletVersion"),
        column("Internal-IP", "core.v1.NodeStatus.addresses", wide=True),
        column("External-IP", "core.v1.NodeStatus.addresses", wide=True),
        column("OS-Image", f"{_INFO}.osImage", wide=True),
        column("Kernel-Version", f"{_INFO}.kernelVersion", wide=True),
        column("Container-Runtime", f"{_INFO}.containerRuntimeVersion", wide=True),
    ),
    _node,
)

# --- events: an Event of core and of events.k8s.io is one object under two sets of names ---


def _either(event: Object, core: str, other: str) -> Any:
    found = event.get(core)
    return found if found not in (None, "") else event.get(other)


def _seen(event: Object, now: float) -> tuple[str, str]:
    """When it was seen last and first."""
    first = since(_either(event, "firstTimestamp", "deprecatedFirstTimestamp") or event.get("eventTime"), now)
    last = _either(event, "lastTimestamp", "deprecatedLastTimestamp")
    series = event.get("series")
    if series is not None:
        last = series.get("lastObservedTime")
        return since(last, now), first
    return since(last, now) if last else first, first


def _source(event: Object) -> str:
    source = _either(event, "source", "deprecatedSource") or {}
    component = source.get("component") or _either(event, "reportingComponent", "reportingController") or ""
    host = source.get("host") or event.get("reportingInstance")
    return f"{component}, {host}" if host else component


def _event(event: Object, now: float) -> list[Any]:
    last, first = _seen(event, now)
    target = _either(event, "involvedObject", "regarding") or {}
    kind = str(target.get("kind", "")).lower()
    series = event.get("series")
    count = series.get("count", 0) if series is not None else _either(event, "count", "deprecatedCount") or 1
    return [
        last,
        event.get("type", ""),
        event.get("reason", ""),
        f"{kind}/{target['name']}" if target.get("name") else kind,
        target.get("fieldPath", ""),
        _source(event),
        str(_either(event, "message", "note") or "").strip(),
        first,
        count,
        name(event),
    ]


_EVENT = "core.v1.Event"
EVENT = Table(
    (
        column("Last Seen", f"{_EVENT}.lastTimestamp"),
        column("Type", f"{_EVENT}.type"),
        column("Reason", f"{_EVENT}.reason"),
        column("Object", f"{_EVENT}.involvedObject"),
        column("Subobject", "core.v1.ObjectReference.fieldPath", wide=True),
        column("Source", f"{_EVENT}.source", wide=True),
        column("Message", f"{_EVENT}.message"),
        column("First Seen", f"{_EVENT}.firstTimestamp", wide=True),
        column("Count", f"{_EVENT}.count", wide=True),
        Column("Name", "string", format="name", priority=1, documents=NAME.documents),
    ),
    _event,
)

# --- quotas ---


def _quota(quota: Object) -> list[Any]:
    """Used and hard of every resource, those of limits apart."""
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    columns: dict[bool, list[str]] = {False: [], True: []}
    for resource in sorted(hard):
        columns[resource.startswith("limits.")].append(f"{resource}: {used.get(resource, '0')}/{hard[resource]}")
    return [", ".join(columns[False]), ", ".join(columns[True])]


RESOURCE_QUOTA = simple(
    column("Request", text="Request represents a minimum amount of cpu/memory that a container may consume."),
    column(
        "Limit",
        text="Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
    ),
    cells=_quota,
)
PRIORITY_CLASS = Table(
    (
        NAME,
        column("Value", "scheduling.v1.PriorityClass.value", type="integer"),
        column("Global-Default", "scheduling.v1.PriorityClass.globalDefault", type="boolean"),
        AGE,
        column("PreemptionPolicy", "scheduling.v1.PriorityClass.preemptionPolicy"),
    ),
    lambda obj, now: [
        name(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy") or "",
    ],
)
RUNTIME_CLASS = simple(
    column("Handler", "node.v1.RuntimeClass.handler"),
    cells=lambda obj: [obj.get("handler", "")],
)
