"""apiextensions/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class CustomResourceColumnDefinition(View, frozen=True, kw_only=True, rename={"json_path": "jsonPath"}):
    description: str = ""
    format: str = ""
    json_path: str = ""
    name: str = ""
    priority: int = 0
    type: str = ""


class ServiceReference(View, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    path: str | None = None
    port: int | None = None


class WebhookClientConfig(View, frozen=True, kw_only=True, rename={"ca_bundle": "caBundle"}):
    ca_bundle: str = ""
    service: ServiceReference | None = None
    url: str | None = None


class WebhookConversion(
    View,
    frozen=True,
    kw_only=True,
    rename={"client_config": "clientConfig", "conversion_review_versions": "conversionReviewVersions"},
):
    client_config: WebhookClientConfig | None = None
    conversion_review_versions: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.conversion_review_versions is None:
            force_setattr(self, "conversion_review_versions", ())


class CustomResourceConversion(View, frozen=True, kw_only=True):
    strategy: str = ""
    webhook: WebhookConversion | None = None


class CustomResourceDefinitionNames(
    View, frozen=True, kw_only=True, rename={"list_kind": "listKind", "short_names": "shortNames"}
):
    categories: tuple[str, ...] = ()
    kind: str = ""
    list_kind: str = ""
    plural: str = ""
    short_names: tuple[str, ...] = ()
    singular: str = ""


class CustomResourceValidation(View, frozen=True, kw_only=True, rename={"open_api_v3_schema": "openAPIV3Schema"}):
    open_api_v3_schema: Mapping[str, Any] | None = None


class SelectableField(View, frozen=True, kw_only=True, rename={"json_path": "jsonPath"}):
    json_path: str = ""


class CustomResourceSubresourceScale(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "label_selector_path": "labelSelectorPath",
        "spec_replicas_path": "specReplicasPath",
        "status_replicas_path": "statusReplicasPath",
    },
):
    label_selector_path: str | None = None
    spec_replicas_path: str = ""
    status_replicas_path: str = ""


class CustomResourceSubresourceStatus(View, frozen=True, kw_only=True):
    pass


class CustomResourceSubresources(View, frozen=True, kw_only=True):
    scale: CustomResourceSubresourceScale | None = None
    status: CustomResourceSubresourceStatus | None = None


class CustomResourceDefinitionVersion(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "additional_printer_columns": "additionalPrinterColumns",
        "deprecation_warning": "deprecationWarning",
        "selectable_fields": "selectableFields",
    },
):
    additional_printer_columns: tuple[CustomResourceColumnDefinition, ...] = ()
    deprecated: bool = False
    deprecation_warning: str | None = None
    name: str = ""
    schema: CustomResourceValidation | None = None
    selectable_fields: tuple[SelectableField, ...] = ()
    served: bool = False
    storage: bool = False
    subresources: CustomResourceSubresources | None = None


class CustomResourceDefinitionSpec(View, frozen=True, kw_only=True, rename={"preserve_unknown_fields": "preserveUnknownFields"}):
    conversion: CustomResourceConversion | None = None
    group: str = ""
    names: CustomResourceDefinitionNames = CustomResourceDefinitionNames()
    preserve_unknown_fields: bool = False
    scope: str = ""
    versions: Nullable[tuple[CustomResourceDefinitionVersion, ...]] = ()

    def __post_init__(self) -> None:
        if self.versions is None:
            force_setattr(self, "versions", ())


class CustomResourceDefinitionCondition(
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


class CustomResourceDefinitionStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={"accepted_names": "acceptedNames", "observed_generation": "observedGeneration", "stored_versions": "storedVersions"},
):
    accepted_names: CustomResourceDefinitionNames = CustomResourceDefinitionNames()
    conditions: Nullable[tuple[CustomResourceDefinitionCondition, ...]] = ()
    observed_generation: int = 0
    stored_versions: Nullable[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.conditions is None:
            force_setattr(self, "conditions", ())
        if self.stored_versions is None:
            force_setattr(self, "stored_versions", ())


class CustomResourceDefinition(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: CustomResourceDefinitionSpec = CustomResourceDefinitionSpec()
    status: CustomResourceDefinitionStatus = CustomResourceDefinitionStatus()


class CustomResourceDefinitionList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[CustomResourceDefinition, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ExternalDocumentation(View, frozen=True, kw_only=True):
    description: str = ""
    url: str = ""


class ValidationRule(
    View,
    frozen=True,
    kw_only=True,
    rename={"field_path": "fieldPath", "message_expression": "messageExpression", "optional_old_self": "optionalOldSelf"},
):
    field_path: str = ""
    message: str = ""
    message_expression: str = ""
    optional_old_self: bool | None = None
    reason: str | None = None
    rule: str = ""


CUSTOMRESOURCEDEFINITIONS: Resource[CustomResourceDefinition] = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False, CustomResourceDefinition
)
