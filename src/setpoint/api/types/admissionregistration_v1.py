"""admissionregistration/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class ApplyConfiguration(View, frozen=True, kw_only=True):
    expression: str = ""


class AuditAnnotation(View, frozen=True, kw_only=True, rename={"value_expression": "valueExpression"}):
    key: str = ""
    value_expression: str = ""


class ExpressionWarning(View, frozen=True, kw_only=True, rename={"field_ref": "fieldRef"}):
    field_ref: str = ""
    warning: str = ""


class JSONPatch(View, frozen=True, kw_only=True):
    expression: str = ""


class MatchCondition(View, frozen=True, kw_only=True):
    expression: str = ""
    name: str = ""


class NamedRuleWithOperations(
    View,
    frozen=True,
    kw_only=True,
    rename={"api_groups": "apiGroups", "api_versions": "apiVersions", "resource_names": "resourceNames"},
):
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str | None = None


class MatchResources(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "exclude_resource_rules": "excludeResourceRules",
        "match_policy": "matchPolicy",
        "namespace_selector": "namespaceSelector",
        "object_selector": "objectSelector",
        "resource_rules": "resourceRules",
    },
):
    exclude_resource_rules: tuple[NamedRuleWithOperations, ...] = ()
    match_policy: str | None = None
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    resource_rules: tuple[NamedRuleWithOperations, ...] = ()


class Mutation(
    View,
    frozen=True,
    kw_only=True,
    rename={"apply_configuration": "applyConfiguration", "json_patch": "jsonPatch", "patch_type": "patchType"},
):
    apply_configuration: ApplyConfiguration | None = None
    json_patch: JSONPatch | None = None
    patch_type: str = ""


class ParamKind(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""


class Variable(View, frozen=True, kw_only=True):
    expression: str = ""
    name: str = ""


class MutatingAdmissionPolicySpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "failure_policy": "failurePolicy",
        "match_conditions": "matchConditions",
        "match_constraints": "matchConstraints",
        "param_kind": "paramKind",
        "reinvocation_policy": "reinvocationPolicy",
    },
):
    failure_policy: str | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    match_constraints: MatchResources | None = None
    mutations: tuple[Mutation, ...] = ()
    param_kind: ParamKind | None = None
    reinvocation_policy: str = ""
    variables: tuple[Variable, ...] = ()


class MutatingAdmissionPolicy(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: MutatingAdmissionPolicySpec = MutatingAdmissionPolicySpec()


class ParamRef(View, frozen=True, kw_only=True, rename={"parameter_not_found_action": "parameterNotFoundAction"}):
    name: str = ""
    namespace: str = ""
    parameter_not_found_action: str | None = None
    selector: meta_v1.LabelSelector | None = None


class MutatingAdmissionPolicyBindingSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={"match_resources": "matchResources", "param_ref": "paramRef", "policy_name": "policyName"},
):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str = ""


class MutatingAdmissionPolicyBinding(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: MutatingAdmissionPolicyBindingSpec = MutatingAdmissionPolicyBindingSpec()


class MutatingAdmissionPolicyBindingList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[MutatingAdmissionPolicyBinding, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class MutatingAdmissionPolicyList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[MutatingAdmissionPolicy, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ServiceReference(View, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(View, frozen=True, kw_only=True, rename={"ca_bundle": "caBundle"}):
    ca_bundle: str = ""
    service: ServiceReference | None = None
    url: str | None = None


class RuleWithOperations(View, frozen=True, kw_only=True, rename={"api_groups": "apiGroups", "api_versions": "apiVersions"}):
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str | None = None


class MutatingWebhook(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "admission_review_versions": "admissionReviewVersions",
        "client_config": "clientConfig",
        "failure_policy": "failurePolicy",
        "match_conditions": "matchConditions",
        "match_policy": "matchPolicy",
        "namespace_selector": "namespaceSelector",
        "object_selector": "objectSelector",
        "reinvocation_policy": "reinvocationPolicy",
        "side_effects": "sideEffects",
        "timeout_seconds": "timeoutSeconds",
    },
):
    admission_review_versions: Nullable[tuple[str, ...]] = ()
    client_config: WebhookClientConfig = WebhookClientConfig()
    failure_policy: str | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    match_policy: str | None = None
    name: str = ""
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    reinvocation_policy: str | None = None
    rules: tuple[RuleWithOperations, ...] = ()
    side_effects: str | None = None
    timeout_seconds: int | None = None

    def __post_init__(self) -> None:
        if self.admission_review_versions is None:
            force_setattr(self, "admission_review_versions", ())


class MutatingWebhookConfiguration(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    webhooks: tuple[MutatingWebhook, ...] = ()


class MutatingWebhookConfigurationList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[MutatingWebhookConfiguration, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class TypeChecking(View, frozen=True, kw_only=True, rename={"expression_warnings": "expressionWarnings"}):
    expression_warnings: tuple[ExpressionWarning, ...] = ()


class Validation(View, frozen=True, kw_only=True, rename={"message_expression": "messageExpression"}):
    expression: str = ""
    message: str = ""
    message_expression: str = ""
    reason: str | None = None


class ValidatingAdmissionPolicySpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "audit_annotations": "auditAnnotations",
        "failure_policy": "failurePolicy",
        "match_conditions": "matchConditions",
        "match_constraints": "matchConstraints",
        "param_kind": "paramKind",
    },
):
    audit_annotations: tuple[AuditAnnotation, ...] = ()
    failure_policy: str | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    match_constraints: MatchResources | None = None
    param_kind: ParamKind | None = None
    validations: tuple[Validation, ...] = ()
    variables: tuple[Variable, ...] = ()


class ValidatingAdmissionPolicyStatus(
    View, frozen=True, kw_only=True, rename={"observed_generation": "observedGeneration", "type_checking": "typeChecking"}
):
    conditions: tuple[meta_v1.Condition, ...] = ()
    observed_generation: int = 0
    type_checking: TypeChecking | None = None


class ValidatingAdmissionPolicy(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ValidatingAdmissionPolicySpec = ValidatingAdmissionPolicySpec()
    status: ValidatingAdmissionPolicyStatus = ValidatingAdmissionPolicyStatus()


class ValidatingAdmissionPolicyBindingSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "match_resources": "matchResources",
        "param_ref": "paramRef",
        "policy_name": "policyName",
        "validation_actions": "validationActions",
    },
):
    match_resources: MatchResources | None = None
    param_ref: ParamRef | None = None
    policy_name: str = ""
    validation_actions: tuple[str, ...] = ()


class ValidatingAdmissionPolicyBinding(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ValidatingAdmissionPolicyBindingSpec = ValidatingAdmissionPolicyBindingSpec()


class ValidatingAdmissionPolicyBindingList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ValidatingAdmissionPolicyBinding, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ValidatingAdmissionPolicyList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ValidatingAdmissionPolicy, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ValidatingWebhook(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "admission_review_versions": "admissionReviewVersions",
        "client_config": "clientConfig",
        "failure_policy": "failurePolicy",
        "match_conditions": "matchConditions",
        "match_policy": "matchPolicy",
        "namespace_selector": "namespaceSelector",
        "object_selector": "objectSelector",
        "side_effects": "sideEffects",
        "timeout_seconds": "timeoutSeconds",
    },
):
    admission_review_versions: Nullable[tuple[str, ...]] = ()
    client_config: WebhookClientConfig = WebhookClientConfig()
    failure_policy: str | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    match_policy: str | None = None
    name: str = ""
    namespace_selector: meta_v1.LabelSelector | None = None
    object_selector: meta_v1.LabelSelector | None = None
    rules: tuple[RuleWithOperations, ...] = ()
    side_effects: str | None = None
    timeout_seconds: int | None = None

    def __post_init__(self) -> None:
        if self.admission_review_versions is None:
            force_setattr(self, "admission_review_versions", ())


class ValidatingWebhookConfiguration(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    webhooks: tuple[ValidatingWebhook, ...] = ()


class ValidatingWebhookConfigurationList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[ValidatingWebhookConfiguration, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


MUTATINGADMISSIONPOLICIES: Resource[MutatingAdmissionPolicy] = Resource(
    "admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", False, MutatingAdmissionPolicy
)
MUTATINGADMISSIONPOLICYBINDINGS: Resource[MutatingAdmissionPolicyBinding] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingadmissionpolicybindings",
    "MutatingAdmissionPolicyBinding",
    False,
    MutatingAdmissionPolicyBinding,
)
MUTATINGWEBHOOKCONFIGURATIONS: Resource[MutatingWebhookConfiguration] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    False,
    MutatingWebhookConfiguration,
)
VALIDATINGADMISSIONPOLICIES: Resource[ValidatingAdmissionPolicy] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
    False,
    ValidatingAdmissionPolicy,
)
VALIDATINGADMISSIONPOLICYBINDINGS: Resource[ValidatingAdmissionPolicyBinding] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    False,
    ValidatingAdmissionPolicyBinding,
)
VALIDATINGWEBHOOKCONFIGURATIONS: Resource[ValidatingWebhookConfiguration] = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    False,
    ValidatingWebhookConfiguration,
)
