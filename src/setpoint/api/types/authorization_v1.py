"""authorization/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class FieldSelectorAttributes(View, frozen=True, kw_only=True, rename={"raw_selector": "rawSelector"}):
    raw_selector: str = ""
    requirements: tuple[meta_v1.FieldSelectorRequirement, ...] = ()


class LabelSelectorAttributes(View, frozen=True, kw_only=True, rename={"raw_selector": "rawSelector"}):
    raw_selector: str = ""
    requirements: tuple[meta_v1.LabelSelectorRequirement, ...] = ()


class NonResourceAttributes(View, frozen=True, kw_only=True):
    path: str = ""
    verb: str = ""


class ResourceAttributes(
    View, frozen=True, kw_only=True, rename={"field_selector": "fieldSelector", "label_selector": "labelSelector"}
):
    field_selector: FieldSelectorAttributes | None = None
    group: str = ""
    label_selector: LabelSelectorAttributes | None = None
    name: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    verb: str = ""
    version: str = ""


class SubjectAccessReviewSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={"non_resource_attributes": "nonResourceAttributes", "resource_attributes": "resourceAttributes"},
):
    extra: Mapping[str, tuple[str, ...]] = {}
    groups: tuple[str, ...] = ()
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None
    uid: str = ""
    user: str = ""


class SubjectAccessReviewStatus(View, frozen=True, kw_only=True, rename={"evaluation_error": "evaluationError"}):
    allowed: bool = False
    denied: bool = False
    evaluation_error: str = ""
    reason: str = ""


class LocalSubjectAccessReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: SubjectAccessReviewSpec = SubjectAccessReviewSpec()
    status: SubjectAccessReviewStatus = SubjectAccessReviewStatus()


class NonResourceRule(View, frozen=True, kw_only=True, rename={"non_resource_urls": "nonResourceURLs"}):
    non_resource_urls: tuple[str, ...] = ()
    verbs: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class ResourceRule(View, frozen=True, kw_only=True, rename={"api_groups": "apiGroups", "resource_names": "resourceNames"}):
    api_groups: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    verbs: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.verbs is None:
            force_setattr(self, "verbs", ())


class SelfSubjectAccessReviewSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={"non_resource_attributes": "nonResourceAttributes", "resource_attributes": "resourceAttributes"},
):
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None


class SelfSubjectAccessReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: SelfSubjectAccessReviewSpec = SelfSubjectAccessReviewSpec()
    status: SubjectAccessReviewStatus = SubjectAccessReviewStatus()


class SelfSubjectRulesReviewSpec(View, frozen=True, kw_only=True):
    namespace: str = ""


class SubjectRulesReviewStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={"evaluation_error": "evaluationError", "non_resource_rules": "nonResourceRules", "resource_rules": "resourceRules"},
):
    evaluation_error: str = ""
    incomplete: bool = False
    non_resource_rules: Nullable[tuple[NonResourceRule, ...]] = ()
    resource_rules: Nullable[tuple[ResourceRule, ...]] = ()

    def __post_init__(self) -> None:
        if self.non_resource_rules is None:
            force_setattr(self, "non_resource_rules", ())
        if self.resource_rules is None:
            force_setattr(self, "resource_rules", ())


class SelfSubjectRulesReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: SelfSubjectRulesReviewSpec = SelfSubjectRulesReviewSpec()
    status: SubjectRulesReviewStatus = SubjectRulesReviewStatus()


class SubjectAccessReview(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: SubjectAccessReviewSpec = SubjectAccessReviewSpec()
    status: SubjectAccessReviewStatus = SubjectAccessReviewStatus()


LOCALSUBJECTACCESSREVIEWS: Resource[LocalSubjectAccessReview] = Resource(
    "authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", True, LocalSubjectAccessReview
)
SELFSUBJECTACCESSREVIEWS: Resource[SelfSubjectAccessReview] = Resource(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False, SelfSubjectAccessReview
)
SELFSUBJECTRULESREVIEWS: Resource[SelfSubjectRulesReview] = Resource(
    "authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", False, SelfSubjectRulesReview
)
SUBJECTACCESSREVIEWS: Resource[SubjectAccessReview] = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", False, SubjectAccessReview
)
