"""apps/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from typing import Any

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import core_v1, meta_v1
from setpoint.api.types.base import Nullable, View


class ControllerRevision(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    data: Any = None
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    revision: int = 0


class ControllerRevisionList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ControllerRevision, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class RollingUpdateDaemonSet(
    View, frozen=True, kw_only=True, rename={"max_surge": "maxSurge", "max_unavailable": "maxUnavailable"}
):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class DaemonSetUpdateStrategy(View, frozen=True, kw_only=True, rename={"rolling_update": "rollingUpdate"}):
    rolling_update: RollingUpdateDaemonSet | None = None
    type: str = ""


class DaemonSetSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "min_ready_seconds": "minReadySeconds",
        "revision_history_limit": "revisionHistoryLimit",
        "update_strategy": "updateStrategy",
    },
):
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector | None = None
    template: core_v1.PodTemplateSpec = core_v1.PodTemplateSpec()
    update_strategy: DaemonSetUpdateStrategy = DaemonSetUpdateStrategy()


class DaemonSetCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class DaemonSetStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "collision_count": "collisionCount",
        "current_number_scheduled": "currentNumberScheduled",
        "desired_number_scheduled": "desiredNumberScheduled",
        "number_available": "numberAvailable",
        "number_misscheduled": "numberMisscheduled",
        "number_ready": "numberReady",
        "number_unavailable": "numberUnavailable",
        "observed_generation": "observedGeneration",
        "updated_number_scheduled": "updatedNumberScheduled",
    },
):
    collision_count: int | None = None
    conditions: tuple[DaemonSetCondition, ...] = ()
    current_number_scheduled: int = 0
    desired_number_scheduled: int = 0
    number_available: int = 0
    number_misscheduled: int = 0
    number_ready: int = 0
    number_unavailable: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0


class DaemonSet(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class DaemonSetList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[DaemonSet, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class RollingUpdateDeployment(
    View, frozen=True, kw_only=True, rename={"max_surge": "maxSurge", "max_unavailable": "maxUnavailable"}
):
    max_surge: int | str | None = None
    max_unavailable: int | str | None = None


class DeploymentStrategy(View, frozen=True, kw_only=True, rename={"rolling_update": "rollingUpdate"}):
    rolling_update: RollingUpdateDeployment | None = None
    type: str = ""


class DeploymentSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "min_ready_seconds": "minReadySeconds",
        "progress_deadline_seconds": "progressDeadlineSeconds",
        "revision_history_limit": "revisionHistoryLimit",
    },
):
    min_ready_seconds: int = 0
    paused: bool = False
    progress_deadline_seconds: int | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector | None = None
    strategy: DeploymentStrategy = DeploymentStrategy()
    template: core_v1.PodTemplateSpec = core_v1.PodTemplateSpec()


class DeploymentCondition(
    View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime", "last_update_time": "lastUpdateTime"}
):
    last_transition_time: Nullable[str] = ""
    last_update_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")
        if self.last_update_time is None:
            force_setattr(self, "last_update_time", "")


class DeploymentStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "available_replicas": "availableReplicas",
        "collision_count": "collisionCount",
        "observed_generation": "observedGeneration",
        "ready_replicas": "readyReplicas",
        "terminating_replicas": "terminatingReplicas",
        "unavailable_replicas": "unavailableReplicas",
        "updated_replicas": "updatedReplicas",
    },
):
    available_replicas: int = 0
    collision_count: int | None = None
    conditions: tuple[DeploymentCondition, ...] = ()
    observed_generation: int = 0
    ready_replicas: int = 0
    replicas: int = 0
    terminating_replicas: int | None = None
    unavailable_replicas: int = 0
    updated_replicas: int = 0


class Deployment(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class DeploymentList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[Deployment, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ReplicaSetSpec(View, frozen=True, kw_only=True, rename={"min_ready_seconds": "minReadySeconds"}):
    min_ready_seconds: int = 0
    replicas: int | None = None
    selector: meta_v1.LabelSelector | None = None
    template: core_v1.PodTemplateSpec = core_v1.PodTemplateSpec()


class ReplicaSetCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class ReplicaSetStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "available_replicas": "availableReplicas",
        "fully_labeled_replicas": "fullyLabeledReplicas",
        "observed_generation": "observedGeneration",
        "ready_replicas": "readyReplicas",
        "terminating_replicas": "terminatingReplicas",
    },
):
    available_replicas: int = 0
    conditions: tuple[ReplicaSetCondition, ...] = ()
    fully_labeled_replicas: int = 0
    observed_generation: int = 0
    ready_replicas: int = 0
    replicas: int = 0
    terminating_replicas: int | None = None


class ReplicaSet(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class ReplicaSetList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ReplicaSet, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class RollingUpdateStatefulSetStrategy(View, frozen=True, kw_only=True, rename={"max_unavailable": "maxUnavailable"}):
    max_unavailable: int | str | None = None
    partition: int | None = None


class StatefulSetOrdinals(View, frozen=True, kw_only=True):
    start: int = 0


class StatefulSetPersistentVolumeClaimRetentionPolicy(
    View, frozen=True, kw_only=True, rename={"when_deleted": "whenDeleted", "when_scaled": "whenScaled"}
):
    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetUpdateStrategy(View, frozen=True, kw_only=True, rename={"rolling_update": "rollingUpdate"}):
    rolling_update: RollingUpdateStatefulSetStrategy | None = None
    type: str = ""


class StatefulSetSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "min_ready_seconds": "minReadySeconds",
        "persistent_volume_claim_retention_policy": "persistentVolumeClaimRetentionPolicy",
        "pod_management_policy": "podManagementPolicy",
        "revision_history_limit": "revisionHistoryLimit",
        "service_name": "serviceName",
        "update_strategy": "updateStrategy",
        "volume_claim_templates": "volumeClaimTemplates",
    },
):
    min_ready_seconds: int = 0
    ordinals: StatefulSetOrdinals | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    pod_management_policy: str = ""
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: meta_v1.LabelSelector | None = None
    service_name: str = ""
    template: core_v1.PodTemplateSpec = core_v1.PodTemplateSpec()
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    volume_claim_templates: tuple[core_v1.PersistentVolumeClaim, ...] = ()


class StatefulSetCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class StatefulSetStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "available_replicas": "availableReplicas",
        "collision_count": "collisionCount",
        "current_replicas": "currentReplicas",
        "current_revision": "currentRevision",
        "observed_generation": "observedGeneration",
        "ready_replicas": "readyReplicas",
        "update_revision": "updateRevision",
        "updated_replicas": "updatedReplicas",
    },
):
    available_replicas: int = 0
    collision_count: int | None = None
    conditions: tuple[StatefulSetCondition, ...] = ()
    current_replicas: int = 0
    current_revision: str = ""
    observed_generation: int = 0
    ready_replicas: int = 0
    replicas: int = 0
    update_revision: str = ""
    updated_replicas: int = 0


class StatefulSet(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class StatefulSetList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[StatefulSet, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


CONTROLLERREVISIONS: Resource[ControllerRevision] = Resource(
    "apps", "v1", "controllerrevisions", "ControllerRevision", True, ControllerRevision
)
DAEMONSETS: Resource[DaemonSet] = Resource("apps", "v1", "daemonsets", "DaemonSet", True, DaemonSet)
DEPLOYMENTS: Resource[Deployment] = Resource("apps", "v1", "deployments", "Deployment", True, Deployment)
REPLICASETS: Resource[ReplicaSet] = Resource("apps", "v1", "replicasets", "ReplicaSet", True, ReplicaSet)
STATEFULSETS: Resource[StatefulSet] = Resource("apps", "v1", "statefulsets", "StatefulSet", True, StatefulSet)
