"""flowcontrol/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class ExemptPriorityLevelConfiguration(
    View,
    frozen=True,
    kw_only=True,
    rename={"lendable_percent": "lendablePercent", "nominal_concurrency_shares": "nominalConcurrencyShares"},
):
    lendable_percent: int | None = None
    nominal_concurrency_shares: int | None = None


class FlowDistinguisherMethod(View, frozen=True, kw_only=True):
    type: str = ""


class PriorityLevelConfigurationReference(View, frozen=True, kw_only=True):
    name: str = ""


class NonResourcePolicyRule(View, frozen=True, kw_only=True, rename={"non_resource_urls": "nonResourceURLs"}):
    non_resource_urls: Nullable[tuple[str, ...]] = ()
    verbs: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.non_resource_urls is None:
            force_setattr(self, "non_resource_urls", ())
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class ResourcePolicyRule(View, frozen=True, kw_only=True, rename={"api_groups": "apiGroups", "cluster_scope": "clusterScope"}):
    api_groups: Nullable[tuple[str, ...]] = ()
    cluster_scope: bool = False
    namespaces: Nullable[tuple[str, ...]] = ()
    resources: Nullable[tuple[str, ...]] = ()
    verbs: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.api_groups is None:
            force_setattr(self, "api_groups", ())
        if self.namespaces is None:
            force_setattr(self, "namespaces", ())
        if self.resources is None:
            force_setattr(self, "resources", ())
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class GroupSubject(View, frozen=True, kw_only=True):
    name: str = ""


class ServiceAccountSubject(View, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""


class UserSubject(View, frozen=True, kw_only=True):
    name: str = ""


class Subject(View, frozen=True, kw_only=True, rename={"service_account": "serviceAccount"}):
    group: GroupSubject | None = None
    kind: str = ""
    service_account: ServiceAccountSubject | None = None
    user: UserSubject | None = None


class PolicyRulesWithSubjects(
    View, frozen=True, kw_only=True, rename={"non_resource_rules": "nonResourceRules", "resource_rules": "resourceRules"}
):
    non_resource_rules: tuple[NonResourcePolicyRule, ...] = ()
    resource_rules: tuple[ResourcePolicyRule, ...] = ()
    subjects: Nullable[tuple[Subject, ...]] = ()

    def __post_init__(self) -> None:
        if self.subjects is None:
            force_setattr(self, "subjects", ())


class FlowSchemaSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "distinguisher_method": "distinguisherMethod",
        "matching_precedence": "matchingPrecedence",
        "priority_level_configuration": "priorityLevelConfiguration",
    },
):
    distinguisher_method: FlowDistinguisherMethod | None = None
    matching_precedence: int = 0
    priority_level_configuration: PriorityLevelConfigurationReference = PriorityLevelConfigurationReference()
    rules: tuple[PolicyRulesWithSubjects, ...] = ()


class FlowSchemaCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class FlowSchemaStatus(View, frozen=True, kw_only=True):
    conditions: tuple[FlowSchemaCondition, ...] = ()


class FlowSchema(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: FlowSchemaSpec = FlowSchemaSpec()
    status: FlowSchemaStatus = FlowSchemaStatus()


class FlowSchemaList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[FlowSchema, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class QueuingConfiguration(
    View, frozen=True, kw_only=True, rename={"hand_size": "handSize", "queue_length_limit": "queueLengthLimit"}
):
    hand_size: int = 0
    queue_length_limit: int = 0
    queues: int = 0


class LimitResponse(View, frozen=True, kw_only=True):
    queuing: QueuingConfiguration | None = None
    type: str = ""


class LimitedPriorityLevelConfiguration(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "borrowing_limit_percent": "borrowingLimitPercent",
        "lendable_percent": "lendablePercent",
        "limit_response": "limitResponse",
        "nominal_concurrency_shares": "nominalConcurrencyShares",
    },
):
    borrowing_limit_percent: int | None = None
    lendable_percent: int | None = None
    limit_response: LimitResponse = LimitResponse()
    nominal_concurrency_shares: int | None = None


class PriorityLevelConfigurationSpec(View, frozen=True, kw_only=True):
    exempt: ExemptPriorityLevelConfiguration | None = None
    limited: LimitedPriorityLevelConfiguration | None = None
    type: str = ""


class PriorityLevelConfigurationCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class PriorityLevelConfigurationStatus(View, frozen=True, kw_only=True):
    conditions: tuple[PriorityLevelConfigurationCondition, ...] = ()


class PriorityLevelConfiguration(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PriorityLevelConfigurationSpec = PriorityLevelConfigurationSpec()
    status: PriorityLevelConfigurationStatus = PriorityLevelConfigurationStatus()


class PriorityLevelConfigurationList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PriorityLevelConfiguration, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


FLOWSCHEMAS: Resource[FlowSchema] = Resource("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", False, FlowSchema)
PRIORITYLEVELCONFIGURATIONS: Resource[PriorityLevelConfiguration] = Resource(
    "flowcontrol.apiserver.k8s.io",
    "v1",
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
    False,
    PriorityLevelConfiguration,
)
