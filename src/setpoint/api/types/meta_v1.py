"""meta/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from setpoint.api.types.base import Nullable, View


class GroupVersionForDiscovery(View, frozen=True, kw_only=True, rename={"group_version": "groupVersion"}):
    group_version: str = ""
    version: str = ""


class ServerAddressByClientCIDR(
    View, frozen=True, kw_only=True, rename={"client_cidr": "clientCIDR", "server_address": "serverAddress"}
):
    client_cidr: str = ""
    server_address: str = ""


class APIGroup(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "preferred_version": "preferredVersion",
        "server_address_by_client_cidrs": "serverAddressByClientCIDRs",
    },
):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    preferred_version: GroupVersionForDiscovery = GroupVersionForDiscovery()
    server_address_by_client_cidrs: tuple[ServerAddressByClientCIDR, ...] = ()
    versions: Nullable[tuple[GroupVersionForDiscovery, ...]] = ()

    def __post_init__(self) -> None:
        if self.versions is None:
            force_setattr(self, "versions", ())


class APIGroupList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    groups: Nullable[tuple[APIGroup, ...]] = ()
    kind: str = ""

    def __post_init__(self) -> None:
        if self.groups is None:
            force_setattr(self, "groups", ())


class APIResource(
    View,
    frozen=True,
    kw_only=True,
    rename={"short_names": "shortNames", "singular_name": "singularName", "storage_version_hash": "storageVersionHash"},
):
    categories: tuple[str, ...] = ()
    group: str = ""
    kind: str = ""
    name: str = ""
    namespaced: bool = False
    short_names: tuple[str, ...] = ()
    singular_name: str = ""
    storage_version_hash: str = ""
    verbs: Nullable[tuple[str, ...]] = ()
    version: str = ""

    def __post_init__(self) -> None:
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class APIResourceList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "group_version": "groupVersion"}):
    api_version: str = ""
    group_version: str = ""
    kind: str = ""
    resources: Nullable[tuple[APIResource, ...]] = ()

    def __post_init__(self) -> None:
        if self.resources is None:
            force_setattr(self, "resources", ())


class APIVersions(
    View,
    frozen=True,
    kw_only=True,
    rename={"api_version": "apiVersion", "server_address_by_client_cidrs": "serverAddressByClientCIDRs"},
):
    api_version: str = ""
    kind: str = ""
    server_address_by_client_cidrs: Nullable[tuple[ServerAddressByClientCIDR, ...]] = ()
    versions: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.server_address_by_client_cidrs is None:
            force_setattr(self, "server_address_by_client_cidrs", ())
        if self.versions is None:
            force_setattr(self, "versions", ())


class Condition(
    View,
    frozen=True,
    kw_only=True,
    rename={"last_transition_time": "lastTransitionTime", "observed_generation": "observedGeneration"},
):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    observed_generation: int = 0
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class Preconditions(View, frozen=True, kw_only=True, rename={"resource_version": "resourceVersion"}):
    resource_version: str | None = None
    uid: str | None = None


class DeleteOptions(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "api_version": "apiVersion",
        "dry_run": "dryRun",
        "grace_period_seconds": "gracePeriodSeconds",
        "ignore_store_read_error_with_cluster_breaking_potential": "ignoreStoreReadErrorWithClusterBreakingPotential",
        "orphan_dependents": "orphanDependents",
        "propagation_policy": "propagationPolicy",
    },
):
    api_version: str = ""
    dry_run: tuple[str, ...] = ()
    grace_period_seconds: int | None = None
    ignore_store_read_error_with_cluster_breaking_potential: bool | None = None
    kind: str = ""
    orphan_dependents: bool | None = None
    preconditions: Preconditions | None = None
    propagation_policy: str | None = None


class FieldSelectorRequirement(View, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class GroupResource(View, frozen=True, kw_only=True):
    group: str = ""
    resource: str = ""


class LabelSelectorRequirement(View, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(
    View, frozen=True, kw_only=True, rename={"match_expressions": "matchExpressions", "match_labels": "matchLabels"}
):
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_labels: Mapping[str, str] = {}


class ShardInfo(View, frozen=True, kw_only=True):
    selector: str = ""


class ListMeta(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "continue_": "continue",
        "remaining_item_count": "remainingItemCount",
        "resource_version": "resourceVersion",
        "self_link": "selfLink",
        "shard_info": "shardInfo",
    },
):
    continue_: str = ""
    remaining_item_count: int | None = None
    resource_version: str = ""
    self_link: str = ""
    shard_info: ShardInfo | None = None


class ManagedFieldsEntry(
    View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "fields_type": "fieldsType", "fields_v_1": "fieldsV1"}
):
    api_version: str = ""
    fields_type: str = ""
    fields_v_1: Any = None
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str | None = None


class OwnerReference(
    View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "block_owner_deletion": "blockOwnerDeletion"}
):
    api_version: str = ""
    block_owner_deletion: bool | None = None
    controller: bool | None = None
    kind: str = ""
    name: str = ""
    uid: str = ""


class ObjectMeta(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "creation_timestamp": "creationTimestamp",
        "deletion_grace_period_seconds": "deletionGracePeriodSeconds",
        "deletion_timestamp": "deletionTimestamp",
        "generate_name": "generateName",
        "owner_references": "ownerReferences",
        "resource_version": "resourceVersion",
        "self_link": "selfLink",
    },
):
    annotations: Mapping[str, str] = {}
    creation_timestamp: str = ""
    deletion_grace_period_seconds: int | None = None
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()
    generate_name: str = ""
    generation: int = 0
    labels: Mapping[str, str] = {}
    name: str = ""
    namespace: str = ""
    owner_references: tuple[OwnerReference, ...] = ()
    resource_version: str = ""
    self_link: str = ""
    uid: str = ""


class StatusCause(View, frozen=True, kw_only=True):
    field: str = ""
    message: str = ""
    reason: str = ""


class StatusDetails(View, frozen=True, kw_only=True, rename={"retry_after_seconds": "retryAfterSeconds"}):
    causes: tuple[StatusCause, ...] = ()
    group: str = ""
    kind: str = ""
    name: str = ""
    retry_after_seconds: int = 0
    uid: str = ""


class Status(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    code: int = 0
    details: StatusDetails | None = None
    kind: str = ""
    message: str = ""
    metadata: ListMeta = ListMeta()
    reason: str = ""
    status: str = ""


class WatchEvent(View, frozen=True, kw_only=True):
    object: Any = None
    type: str = ""


class PartialObjectMetadata(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


class PartialObjectMetadataList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: ListMeta = ListMeta()
    items: tuple[PartialObjectMetadata, ...] = ()
