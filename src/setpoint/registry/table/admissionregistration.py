"""The resources of admissionregistration.k8s.io."""

from __future__ import annotations

from setpoint.registry.admissionregistration.mutating_policy import MutatingBindingStrategy, MutatingPolicyStrategy
from setpoint.registry.admissionregistration.validating_policy import (
    ValidatingBindingStrategy,
    ValidatingPolicyStrategy,
    validating_policy_status,
)
from setpoint.registry.admissionregistration.webhooks import MutatingWebhooksStrategy, ValidatingWebhooksStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="mutatingadmissionpolicies",
        singular="mutatingadmissionpolicy",
        kind="MutatingAdmissionPolicy",
        namespaced=False,
        strategy=MutatingPolicyStrategy(),
        definitions=definitions("admissionregistration", "MutatingAdmissionPolicy"),
        categories=("api-extensions",),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="mutatingadmissionpolicybindings",
        singular="mutatingadmissionpolicybinding",
        kind="MutatingAdmissionPolicyBinding",
        namespaced=False,
        strategy=MutatingBindingStrategy(),
        definitions=definitions("admissionregistration", "MutatingAdmissionPolicyBinding"),
        categories=("api-extensions",),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="mutatingwebhookconfigurations",
        singular="mutatingwebhookconfiguration",
        kind="MutatingWebhookConfiguration",
        namespaced=False,
        strategy=MutatingWebhooksStrategy(),
        definitions=definitions("admissionregistration", "MutatingWebhookConfiguration"),
        categories=("api-extensions",),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="validatingadmissionpolicies",
        singular="validatingadmissionpolicy",
        kind="ValidatingAdmissionPolicy",
        namespaced=False,
        strategy=ValidatingPolicyStrategy(),
        definitions=definitions("admissionregistration", "ValidatingAdmissionPolicy"),
        categories=("api-extensions",),
        subresources=(status("ValidatingAdmissionPolicy", validating_policy_status()),),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="validatingadmissionpolicybindings",
        singular="validatingadmissionpolicybinding",
        kind="ValidatingAdmissionPolicyBinding",
        namespaced=False,
        strategy=ValidatingBindingStrategy(),
        definitions=definitions("admissionregistration", "ValidatingAdmissionPolicyBinding"),
        categories=("api-extensions",),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="validatingwebhookconfigurations",
        singular="validatingwebhookconfiguration",
        kind="ValidatingWebhookConfiguration",
        namespaced=False,
        strategy=ValidatingWebhooksStrategy(),
        definitions=definitions("admissionregistration", "ValidatingWebhookConfiguration"),
        categories=("api-extensions",),
    ),
)
