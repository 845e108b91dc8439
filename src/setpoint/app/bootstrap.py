"""The objects that every cluster has from its first second. Each is made if it is absent and otherwise left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.app import first_objects, flow_control_objects
from setpoint.app.first_objects import as_served
from setpoint.client.client import ClientProtocol
from setpoint.registry.table import minors

_NAMESPACES: Resource[Any] = Resource("", "v1", "namespaces", "Namespace", namespaced=False, type=dict)
_SERVICES: Resource[Any] = Resource("", "v1", "services", "Service", namespaced=True, type=dict)
_PRIORITY_CLASSES: Resource[Any] = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False, type=dict
)

_API_SERVICES: Resource[Any] = Resource("apiregistration.k8s.io", "v1", "apiservices", "APIService", namespaced=False, type=dict)
_STORAGE_CLASSES: Resource[Any] = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False, type=dict)
_SERVICE_RANGES: Resource[Any] = Resource("networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", namespaced=False, type=dict)

_RBAC = "rbac.authorization.k8s.io"
_CLUSTER_ROLES: Resource[Any] = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False, type=dict)
_CLUSTER_ROLE_BINDINGS: Resource[Any] = Resource(
    _RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False, type=dict
)
_ROLES: Resource[Any] = Resource(_RBAC, "v1", "roles", "Role", namespaced=True, type=dict)
_ROLE_BINDINGS: Resource[Any] = Resource(_RBAC, "v1", "rolebindings", "RoleBinding", namespaced=True, type=dict)

_REQUESTS = "system:certificates.k8s.io:certificatesigningrequests"
#: what lets machines join by bootstrap tokens and nodes renew their certificates: bindings as `kubeadm init` makes them
_JOINING = (
    ("setpoint:kubelet-bootstrap", "system:node-bootstrapper", "system:bootstrappers"),
    ("setpoint:node-autoapprove-bootstrap", f"{_REQUESTS}:nodeclient", "system:bootstrappers"),
    ("setpoint:node-autoapprove-certificate-rotation", f"{_REQUESTS}:selfnodeclient", "system:nodes"),
)

#: so many objects are made before others get a turn
_BATCH = 16

SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")

_SYSTEM_PRIORITIES = {
    "system-cluster-critical": (
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    "system-node-critical": (
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
}


async def ensure(client: ClientProtocol, *, service_address: str, port: int) -> None:
    """Make the namespaces, the system's priority classes and the `kubernetes` Service; the Service follows the server's port."""
    for name in SYSTEM_NAMESPACES:
        await _find_or_create(client, _NAMESPACES, {"metadata": {"name": name}})
    for name, (value, description) in _SYSTEM_PRIORITIES.items():
        body = {"metadata": {"name": name}, "value": value, "description": description}
        await _find_or_create(client, _PRIORITY_CLASSES, body)
    service = _kubernetes_service(service_address, port)
    held = await _find_or_create(client, _SERVICES, service, "default")
    if held["spec"]["ports"][0].get("targetPort") != port:
        patch = {"spec": {"ports": service["spec"]["ports"]}}
        await client.patch(_SERVICES, "kubernetes", patch, "default")


async def describe_server(client: ClientProtocol, *, service_range: str, minor: str, nodes: bool = False) -> None:
    """Make the objects that only tell of the server: API services, flow control, the range of cluster addresses.

    They are made at once, so that the store commits them together. What a minor does not serve it has no objects of. With `nodes`
    of this machine there are metrics and a storage class, too.
    """
    served = minors.of_minor(minor)
    finalizers = ["networking.k8s.io/service-cidr-finalizer"]
    ranges = [{"metadata": {"name": "kubernetes", "finalizers": finalizers}, "spec": {"cidrs": [service_range]}}]
    groups = (
        (_API_SERVICES, [*first_objects.api_services(served.groups), *([first_objects.METRICS_SERVICE] if nodes else [])]),
        (flow_control_objects.LEVELS, first_objects.priority_levels()),
        (flow_control_objects.SCHEMAS, first_objects.flow_schemas()),
        (_SERVICE_RANGES, ranges),
        (_STORAGE_CLASSES, [first_objects.STORAGE_CLASS] if nodes else []),
    )
    made = [pair for resource, bodies in groups for pair in as_served(resource, bodies, served)]
    await asyncio.gather(*(_find_or_create(client, resource, body) for resource, body in made))


async def default_roles(client: ClientProtocol) -> None:
    """Make the roles and bindings that are absent, and add what those that are there lack.

    Nothing waits for them (until then, authorisation goes by their table): begin this when the server is up.
    """
    from setpoint.registry.rbac.default_roles import defaults
    from setpoint.registry.rbac.reconciliation import reconciled

    kinds = zip((_CLUSTER_ROLES, _CLUSTER_ROLE_BINDINGS, _ROLES, _ROLE_BINDINGS), defaults(), strict=True)
    for resource, bodies in kinds:
        known = {_place(role): role for role in (await client.list(resource)).items}
        for body in bodies:
            held = known.get(_place(body))
            if held is not None and (changed := reconciled(held, body)) is not None:
                await _replace(client, resource, changed)
        absent = [body for body in bodies if _place(body) not in known]
        for start in range(0, len(absent), _BATCH):
            batch = absent[start : start + _BATCH]
            made = (client.create(resource, body, body["metadata"].get("namespace", "")) for body in batch)
            for outcome in await asyncio.gather(*made, return_exceptions=True):
                if isinstance(outcome, Exception) and not (isinstance(outcome, StatusError) and outcome.code == 409):
                    raise outcome
    for name, role, group in _JOINING:
        await _find_or_create(client, _CLUSTER_ROLE_BINDINGS, _binding(name, role, group))


def _binding(name: str, role: str, group: str) -> dict[str, Any]:
    """A cluster role for a group."""
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
    }


async def _replace(client: ClientProtocol, resource: Resource[Any], body: Mapping[str, Any]) -> None:
    """Write a default anew; what has no resourceVersion takes the place of what is there. Whoever else writes it goes first."""
    namespace, name = _place(body)
    try:
        if "resourceVersion" in body["metadata"]:
            await client.update(resource, body, namespace)
            return
        await client.delete(resource, name, namespace)
        await client.create(resource, body, namespace)
    except StatusError as error:
        if error.code not in (404, 409):
            raise


def _place(body: Mapping[str, Any]) -> tuple[str, str]:
    return body["metadata"].get("namespace", ""), body["metadata"]["name"]


def _kubernetes_service(address: str, port: int) -> dict[str, Any]:
    return {
        "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}],
        },
    }


async def _find_or_create(
    client: ClientProtocol, resource: Resource[Any], body: Mapping[str, Any], namespace: str = ""
) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = await client.get(resource, body["metadata"]["name"], namespace)
    except StatusError as error:
        if error.code != 404:
            raise
        try:
            found = await client.create(resource, body, namespace)
        except StatusError as taken:
            if taken.code != 409:
                raise
            found = await client.get(resource, body["metadata"]["name"], namespace)  # another server made it first
    return found
