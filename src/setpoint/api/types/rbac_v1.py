"""rbac/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class AggregationRule(View, frozen=True, kw_only=True, rename={"cluster_role_selectors": "clusterRoleSelectors"}):
    cluster_role_selectors: tuple[meta_v1.LabelSelector, ...] = ()


class PolicyRule(
    View,
    frozen=True,
    kw_only=True,
    rename={"api_groups": "apiGroups", "non_resource_urls": "nonResourceURLs", "resource_names": "resourceNames"},
):
    api_groups: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    verbs: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class ClusterRole(View, frozen=True, kw_only=True, rename={"aggregation_rule": "aggregationRule", "api_version": "apiVersion"}):
    aggregation_rule: AggregationRule | None = None
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    rules: Nullable[tuple[PolicyRule, ...]] = ()

    def __post_init__(self) -> None:
        if self.rules is None:
            force_setattr(self, "rules", ())


class RoleRef(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class Subject(View, frozen=True, kw_only=True, rename={"api_group": "apiGroup"}):
    api_group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""


class ClusterRoleBinding(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "role_ref": "roleRef"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    role_ref: RoleRef = RoleRef()
    subjects: tuple[Subject, ...] = ()


class ClusterRoleBindingList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ClusterRoleBinding, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ClusterRoleList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ClusterRole, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class Role(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    rules: Nullable[tuple[PolicyRule, ...]] = ()

    def __post_init__(self) -> None:
        if self.rules is None:
            force_setattr(self, "rules", ())


class RoleBinding(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "role_ref": "roleRef"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    role_ref: RoleRef = RoleRef()
    subjects: tuple[Subject, ...] = ()


class RoleBindingList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[RoleBinding, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class RoleList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Role, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


CLUSTERROLEBINDINGS: Resource[ClusterRoleBinding] = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", False, ClusterRoleBinding
)
CLUSTERROLES: Resource[ClusterRole] = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False, ClusterRole
)
ROLEBINDINGS: Resource[RoleBinding] = Resource(
    "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", True, RoleBinding
)
ROLES: Resource[Role] = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role", True, Role)
