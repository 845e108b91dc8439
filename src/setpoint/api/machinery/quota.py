"""What objects use of a ResourceQuota. The API server charges by these rules, the quota controller counts by them.

Objects are plain JSON; resources are named as `pods`, `leases.coordination.k8s.io`.
Source: Kubernetes `pkg/quota/v1/evaluator/core`, apiserver `pkg/quota/v1/generic`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from setpoint.api.machinery import names, quantity
from setpoint.api.machinery.pod_resources import (
    aggregate_limits,
    aggregate_requests,
    amounts,
    has_pod_level,
    pod_level,
    qos_class,
)
from setpoint.api.machinery.quantity import Quantity
from setpoint.api.machinery.selectors import from_object

Amounts = dict[str, Quantity]
Object = Mapping[str, Any]

ONE = Quantity.of(1)
_COUNT = "count/"
_CLASS = ".storageclass.storage.k8s.io/"
_DEVICE_CLASS = ".deviceclass.resource.k8s.io/devices"
_CLAIMS = "resourceclaims.resource.k8s.io"
_ALL_DEVICES = 32
"""What a request of all devices counts as: a claim is never allocated more."""
#: kinds that were counted by their own name before there was `count/…`
ALIASES = ("configmaps", "persistentvolumeclaims", "replicationcontrollers", "resourcequotas", "secrets", "services")
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_POD_NAMES = {"pods", *_COMPUTE, *(f"{side}.{name}" for side in ("requests", "limits") for name in _COMPUTE)}
_DEMANDED = {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
#: what no quota counts
UNCOUNTED = frozenset(("events", "events.events.k8s.io"))
_SERVICE_NAMES = {"services.loadbalancers", "services.nodeports"}


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return not _is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def concerned(group_resource: str, hard: Iterable[str]) -> list[str]:
    """Which of a quota's names the objects of a resource are counted under."""
    return [name for name in hard if _concerns(group_resource, name)]


@lru_cache(maxsize=1024)
def _concerns(group_resource: str, name: str) -> bool:
    if name == f"{_COUNT}{group_resource}" or (name == group_resource and group_resource in ALIASES):
        return True
    if group_resource == "pods":
        extended = not _is_native(name) and name.startswith("requests.")
        return name in _POD_NAMES or extended or name.startswith(("hugepages-", "requests.hugepages-"))
    if group_resource == "services":
        return name in _SERVICE_NAMES
    if group_resource == _CLAIMS:
        return name.endswith(_DEVICE_CLASS)
    return group_resource == "persistentvolumeclaims" and (name == "requests.storage" or _CLASS in name)


def counted_resource(name: str) -> str:
    """The resource whose objects are counted under a quota's name; empty if there is none."""
    if name.startswith(_COUNT):
        resource = name.removeprefix(_COUNT)
        return "" if resource in UNCOUNTED else resource
    if name in ALIASES:
        return name
    for resource in ("services", "persistentvolumeclaims", _CLAIMS, "pods"):
        if _concerns(resource, name):
            return resource
    return ""


def usage(group_resource: str, obj: Object, now: float) -> Amounts:
    """What one object uses, under all its names."""
    out: Amounts = {f"{_COUNT}{group_resource}": ONE}
    if group_resource in ALIASES:
        out[group_resource] = ONE
    if group_resource == "pods":
        out.update(_pod(obj, now))
    elif group_resource == "services":
        out.update(_service(obj.get("spec") or {}))
    elif group_resource == "persistentvolumeclaims":
        out.update(_claim(obj))
    elif group_resource == _CLAIMS:
        out.update(_devices(obj.get("spec") or {}))
    return out


def _devices(spec: Object) -> Amounts:
    """Devices by their class; of alternatives the most that any takes of each."""
    total: dict[str, int] = {}
    for request in (spec.get("devices") or {}).get("requests") or ():
        most: dict[str, int] = {}
        for each in request.get("firstAvailable") or (request.get("exactly") or {},):
            count = _ALL_DEVICES if each.get("allocationMode") == "All" else each.get("count") or 0
            name = each.get("deviceClassName") or ""
            most[name] = max(most.get(name, 0), count)
        for name, count in most.items():
            total[name] = total.get(name, 0) + count
    return {f"{name}{_DEVICE_CLASS}": Quantity.of(count) for name, count in total.items() if name}


def _pod(pod: Object, now: float) -> Amounts:
    """A pod that is over, or should have gone long ago, uses nothing but its place in the store."""
    if is_over(pod, now):
        return {}
    spec = pod.get("spec") or {}
    return compute_usage(_with_pod_level(spec, "requests"), _with_pod_level(spec, "limits"))


def _with_pod_level(spec: Object, side: str) -> Amounts:
    """Of all containers, or of the pod as a whole where it says so; with the overhead of its runtime."""
    total = aggregate_requests(spec) if side == "requests" else aggregate_limits(spec)
    total |= pod_level(spec, side)
    for name, value in (spec.get("overhead") or {}).items():
        if side == "requests" or name in total:
            extra = quantity.parse(str(value))
            total[name] = total[name] + extra if name in total else extra
    return total


def is_over(pod: Object, now: float) -> bool:
    from setpoint.kit.clock import parse_rfc3339

    if (pod.get("status") or {}).get("phase") in {"Failed", "Succeeded"}:
        return True
    meta = pod.get("metadata") or {}
    deleted, grace = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")
    return isinstance(deleted, str) and grace is not None and now > parse_rfc3339(deleted) + grace


def compute_usage(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests go by two names, `cpu` and `requests.cpu`."""
    out: Amounts = {"pods": ONE}
    for name in _COMPUTE:
        if name in requests:
            out[name] = out[f"requests.{name}"] = requests[name]
        if name in limits:
            out[f"limits.{name}"] = limits[name]
    for name, value in requests.items():
        if name.startswith("hugepages-"):
            out[name] = out[f"requests.{name}"] = value
        elif _is_extended(name):
            out[f"requests.{name}"] = value
    return out


def _service(spec: Object) -> Amounts:
    kind, ports = spec.get("type"), spec.get("ports") or ()
    balancers = 1 if kind == "LoadBalancer" else 0
    node_ports = len(ports) if kind in {"LoadBalancer", "NodePort"} else 0
    if balancers and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    return {"services.loadbalancers": Quantity.of(balancers), "services.nodeports": Quantity.of(node_ports)}


def _claim(claim: Object) -> Amounts:
    spec = claim.get("spec") or {}
    annotations = (claim.get("metadata") or {}).get("annotations") or {}
    name = annotations.get("volume.beta.kubernetes.io/storage-class", spec.get("storageClassName") or "")
    storage = amounts(spec.get("resources"), "requests").get("storage")
    allocated = (claim.get("status") or {}).get("allocatedResources") or {}
    if storage is not None and "storage" in allocated:  # what a failed expansion took stays charged
        storage = max(storage, quantity.parse(str(allocated["storage"])))
    out: Amounts = {}
    if name:
        out[f"{name}{_CLASS}persistentvolumeclaims"] = ONE
    if storage is not None:
        out["requests.storage"] = storage
        if name:
            out[f"{name}{_CLASS}requests.storage"] = storage
    return out


def undemanded(required: Iterable[str], pod: Object) -> str:
    """Quotas of cpu and memory demand that every container says what it needs, unless its pod does: who does not, if anybody."""
    spec = pod.get("spec") or {}
    if has_pod_level(spec):
        return ""
    demanded = sorted(_DEMANDED.intersection(required))
    missing: dict[str, set[str]] = {}
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            resources = container.get("resources")
            own = compute_usage(amounts(resources, "requests"), amounts(resources, "limits"))
            for name in demanded:
                if name not in own:
                    missing.setdefault(name, set()).add(container.get("name", ""))
    return "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))


def in_scope(spec: Object, group_resource: str, obj: Object) -> bool:
    """Whether a quota's scopes cover the object; without scopes they cover all."""
    requirements = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    requirements += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(_matches(requirement, group_resource, obj) for requirement in requirements)


def _matches(requirement: Object, group_resource: str, obj: Object) -> bool:
    scope, spec = requirement.get("scopeName", ""), obj.get("spec") or {}
    if group_resource == "persistentvolumeclaims":
        return scope == "VolumeAttributesClass" and any(
            _selected(requirement, scope, name) for name in _attributes_classes(obj) or ("",)
        )
    if group_resource != "pods":
        return False
    if scope in {"Terminating", "NotTerminating"}:
        return bool(is_terminating(obj) == (scope == "Terminating"))
    if scope in {"BestEffort", "NotBestEffort"}:
        quality = (obj.get("status") or {}).get("qosClass") or qos_class(spec)
        return bool((quality == "BestEffort") == (scope == "BestEffort"))
    if scope == "PriorityClass":
        return _selected(requirement, scope, spec.get("priorityClassName") or "")
    return scope == "CrossNamespacePodAffinity" and _crosses_namespaces(spec.get("affinity") or {})


def is_terminating(pod: Object) -> bool:
    """Whether its time is limited, which is what scopes call terminating."""
    deadline = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return bool(deadline is not None and deadline >= 0)


def _attributes_classes(claim: Object) -> list[str]:
    """The classes that a claim wants, has, or is on its way to."""
    status = claim.get("status") or {}
    named = (
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return [name for name in named if name]


def _selected(requirement: Object, scope: str, value: str) -> bool:
    if requirement.get("operator") == "Exists":
        return bool(value)
    expression = {"key": scope, "operator": requirement.get("operator", ""), "values": requirement.get("values") or []}
    return from_object({"matchExpressions": [expression]}).matches({scope: value} if value else {})


def _crosses_namespaces(affinity: Object) -> bool:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [weighted.get("podAffinityTerm") or {} for weighted in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def add(total: Amounts, more: Mapping[str, Quantity]) -> Amounts:
    """The sum, name by name."""
    out = dict(total)
    for name, value in more.items():
        # zero has no notation of its own: 0 + 128Mi is 128Mi
        out[name] = out[name] + value if out.get(name) else value
    return out
