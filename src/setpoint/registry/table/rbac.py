"""The resources of rbac.authorization.k8s.io."""

from __future__ import annotations

from setpoint.registry.rbac.role import ClusterRoleStrategy, RoleStrategy
from setpoint.registry.rbac.role_binding import ClusterRoleBindingStrategy, RoleBindingStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="rbac.authorization.k8s.io",
        versions=("v1",),
        plural="clusterrolebindings",
        singular="clusterrolebinding",
        kind="ClusterRoleBinding",
        namespaced=False,
        strategy=ClusterRoleBindingStrategy(),
        definitions=definitions("rbac", "ClusterRoleBinding"),
    ),
    ServedResource(
        group="rbac.authorization.k8s.io",
        versions=("v1",),
        plural="clusterroles",
        singular="clusterrole",
        kind="ClusterRole",
        namespaced=False,
        strategy=ClusterRoleStrategy(),
        definitions=definitions("rbac", "ClusterRole"),
    ),
    ServedResource(
        group="rbac.authorization.k8s.io",
        versions=("v1",),
        plural="rolebindings",
        singular="rolebinding",
        kind="RoleBinding",
        namespaced=True,
        strategy=RoleBindingStrategy(),
        definitions=definitions("rbac", "RoleBinding"),
    ),
    ServedResource(
        group="rbac.authorization.k8s.io",
        versions=("v1",),
        plural="roles",
        singular="role",
        kind="Role",
        namespaced=True,
        strategy=RoleStrategy(),
        definitions=definitions("rbac", "Role"),
    ),
)
