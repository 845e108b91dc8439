"""Tables of objects that every cluster has and that only describe the API server itself: API services, flow control, ranges.

Source: Kubernetes `pkg/controlplane/apiserver/aggregator.go` (priorities), apiserver `apis/flowcontrol/bootstrap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import structs

from setpoint.api.machinery.resource import Resource
from setpoint.registry.table import minors

Body = dict[str, Any]

#: (group, version) → priority of the group, priority of the version in it
_PRIORITIES = {
    ("", "v1"): (18000, 1),
    ("apps", "v1"): (17800, 15),
    ("events.k8s.io", "v1"): (17750, 15),
    ("authentication.k8s.io", "v1"): (17700, 15),
    ("authorization.k8s.io", "v1"): (17600, 15),
    ("autoscaling", "v1"): (17500, 15),
    ("autoscaling", "v2"): (17500, 30),
    ("autoscaling", "v2beta2"): (17500, 1),
    ("batch", "v1"): (17400, 15),
    ("certificates.k8s.io", "v1"): (17300, 15),
    ("networking.k8s.io", "v1"): (17200, 15),
    ("policy", "v1"): (17100, 15),
    ("rbac.authorization.k8s.io", "v1"): (17000, 15),
    ("storage.k8s.io", "v1"): (16800, 15),
    ("storage.k8s.io", "v1beta1"): (16800, 9),
    ("apiextensions.k8s.io", "v1"): (16700, 15),
    ("admissionregistration.k8s.io", "v1"): (16700, 15),
    ("scheduling.k8s.io", "v1"): (16600, 15),
    ("coordination.k8s.io", "v1"): (16500, 15),
    ("node.k8s.io", "v1"): (16300, 15),
    ("discovery.k8s.io", "v1"): (16200, 15),
    ("resource.k8s.io", "v1"): (16200, 20),
    ("flowcontrol.apiserver.k8s.io", "v1"): (16100, 21),
    ("flowcontrol.apiserver.k8s.io", "v1beta3"): (16100, 18),
    ("flowcontrol.apiserver.k8s.io", "v1beta2"): (16100, 15),
    ("flowcontrol.apiserver.k8s.io", "v1beta1"): (16100, 12),
    ("storagemigration.k8s.io", "v1"): (16000, 15),
}
#: of the resource metrics, with metrics-server's priorities; no other server stands behind it
METRICS_SERVICE: Body = {
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {"group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100},
}
#: what a claim that names no class gets, as in kind: a directory of the node that its pod is on
STORAGE_CLASS: Body = {
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "setpoint/host-path",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
}
_AUTOUPDATE = {"apf.kubernetes.io/autoupdate-spec": "true"}
_ALL = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
_ALL_PATHS = {"verbs": ["*"], "nonResourceURLs": ["*"]}
_LEASES = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "namespaces": ["*"]}
_EVERYBODY = ("group:system:unauthenticated", "group:system:authenticated")

#: name → shares, percent that may be lent, queues and hand size (none: what does not fit is refused)
_LEVELS: dict[str, tuple[int, int, tuple[int, int] | None]] = {
    "catch-all": (5, 0, None),
    "global-default": (20, 50, (128, 6)),
    "leader-election": (10, 0, (16, 4)),
    "node-high": (40, 25, (64, 6)),
    "system": (30, 33, (64, 6)),
    "workload-high": (40, 50, (128, 6)),
    "workload-low": (100, 90, (128, 6)),
}


def api_services(groups: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Body]:
    """One per group and version that this server serves itself."""
    for group, version in [(group, version) for group, versions in groups for version in versions]:
        if (group, version) not in _PRIORITIES:  # that of API services itself has none
            continue
        group_priority, version_priority = _PRIORITIES[group, version]
        spec: Body = {"version": version, "groupPriorityMinimum": group_priority, "versionPriority": version_priority}
        if group:
            spec["group"] = group
        labels = {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
        yield {"metadata": {"name": f"{version}.{group}", "labels": labels}, "spec": spec}


def priority_levels() -> Iterator[Body]:
    yield _level("exempt", {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}})
    for name, (shares, lendable, queuing) in _LEVELS.items():
        response: Body = {"type": "Reject"}
        if queuing is not None:
            queues, hand = queuing
            response = {"type": "Queue", "queuing": {"queues": queues, "handSize": hand, "queueLengthLimit": 50}}
        limited = {"nominalConcurrencyShares": shares, "lendablePercent": lendable, "limitResponse": response}
        yield _level(name, {"type": "Limited", "limited": limited})


def _level(name: str, spec: Body) -> Body:
    return {"metadata": {"name": name, "annotations": dict(_AUTOUPDATE)}, "spec": spec}


def flow_schemas() -> Iterator[Body]:
    everything = {"resourceRules": [_ALL], "nonResourceRules": [_ALL_PATHS]}
    controllers, scheduler = "user:system:kube-controller-manager", "user:system:kube-scheduler"
    system_accounts = "serviceAccount:kube-system:*"
    yield _schema("exempt", "exempt", 1, "", ("group:system:masters",), everything)
    health = {"nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}]}
    yield _schema("probes", "exempt", 2, "", _EVERYBODY, health)
    leases = {"resourceRules": [{"verbs": ["get", "create", "update"], **_LEASES}]}
    electors = (controllers, scheduler, system_accounts)
    yield _schema("system-leader-election", "leader-election", 100, "ByUser", electors, leases)
    nodes = {"verbs": ["*"], "apiGroups": [""], "resources": ["nodes", "nodes/status"], "clusterScope": True, "namespaces": ["*"]}
    heartbeats = {"resourceRules": [nodes, {"verbs": ["*"], **_LEASES}]}
    yield _schema("system-node-high", "node-high", 400, "ByUser", ("group:system:nodes",), heartbeats)
    yield _schema("system-nodes", "system", 500, "ByUser", ("group:system:nodes",), everything)
    yield _schema("kube-controller-manager", "workload-high", 800, "ByNamespace", (controllers,), everything)
    yield _schema("kube-scheduler", "workload-high", 800, "ByNamespace", (scheduler,), everything)
    yield _schema("kube-system-service-accounts", "workload-high", 900, "ByNamespace", (system_accounts,), everything)
    yield _schema("service-accounts", "workload-low", 9000, "ByUser", ("group:system:serviceaccounts",), everything)
    yield _schema("global-default", "global-default", 9900, "ByUser", _EVERYBODY, everything)
    yield _schema("catch-all", "catch-all", 10000, "ByUser", _EVERYBODY, everything)


def _schema(name: str, level: str, precedence: int, method: str, subjects: Sequence[str], rules: Body) -> Body:
    rule = {"subjects": [_subject(word) for word in subjects], **rules}
    spec: Body = {"priorityLevelConfiguration": {"name": level}, "matchingPrecedence": precedence, "rules": [rule]}
    if method:
        spec["distinguisherMethod"] = {"type": method}
    return {"metadata": {"name": name, "annotations": dict(_AUTOUPDATE)}, "spec": spec}


def _subject(word: str) -> Body:
    """`group:name`, `user:name`, `serviceAccount:namespace:name`."""
    kind, _, name = word.partition(":")
    if kind == "serviceAccount":
        namespace, _, name = name.partition(":")
        return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}
    return {"kind": kind.capitalize(), kind: {"name": name}}


def as_served(resource: Resource[Any], bodies: Iterable[Body], served: minors.Minor) -> Iterator[tuple[Resource[Any], Body]]:
    """Bodies of version v1 in the version that a minor prefers; nothing where it has none."""
    row = served.find(resource.group, resource.plural)
    if row is None:
        return
    wanted = structs.replace(resource, version=row.versions[0])
    convert = row.convert if wanted != resource else None
    for body in bodies:
        yield wanted, convert(dict(body), wanted.api_version) if convert is not None else body
