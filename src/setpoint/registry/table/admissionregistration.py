"""The resources of admissionregistration.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import StatusStrategy, VersionedSpecStatusStrategy
from setpoint.registry.strategy import VersionedStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="mutatingadmissionpolicies",
        singular="mutatingadmissionpolicy",
        kind="MutatingAdmissionPolicy",
        namespaced=False,
        strategy=VersionedStrategy(),
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
        strategy=VersionedStrategy(),
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
        strategy=VersionedStrategy(),
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
        strategy=VersionedSpecStatusStrategy(),
        definitions=definitions("admissionregistration", "ValidatingAdmissionPolicy"),
        categories=("api-extensions",),
        subresources=(status("ValidatingAdmissionPolicy", StatusStrategy(VersionedSpecStatusStrategy())),),
    ),
    ServedResource(
        group="admissionregistration.k8s.io",
        versions=("v1",),
        plural="validatingadmissionpolicybindings",
        singular="validatingadmissionpolicybinding",
        kind="ValidatingAdmissionPolicyBinding",
        namespaced=False,
        strategy=VersionedStrategy(),
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
        strategy=VersionedStrategy(),
        definitions=definitions("admissionregistration", "ValidatingWebhookConfiguration"),
        categories=("api-extensions",),
    ),
)
