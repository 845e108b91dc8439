"""The resources of authorization.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="authorization.k8s.io",
        versions=("v1",),
        plural="localsubjectaccessreviews",
        singular="localsubjectaccessreview",
        kind="LocalSubjectAccessReview",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("authorization", "LocalSubjectAccessReview"),
        verbs=("create",),
        virtual=True,
    ),
    ServedResource(
        group="authorization.k8s.io",
        versions=("v1",),
        plural="selfsubjectaccessreviews",
        singular="selfsubjectaccessreview",
        kind="SelfSubjectAccessReview",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("authorization", "SelfSubjectAccessReview"),
        verbs=("create",),
        virtual=True,
    ),
    ServedResource(
        group="authorization.k8s.io",
        versions=("v1",),
        plural="selfsubjectrulesreviews",
        singular="selfsubjectrulesreview",
        kind="SelfSubjectRulesReview",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("authorization", "SelfSubjectRulesReview"),
        verbs=("create",),
        virtual=True,
    ),
    ServedResource(
        group="authorization.k8s.io",
        versions=("v1",),
        plural="subjectaccessreviews",
        singular="subjectaccessreview",
        kind="SubjectAccessReview",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("authorization", "SubjectAccessReview"),
        verbs=("create",),
        virtual=True,
    ),
)
