"""The resources of authentication.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="authentication.k8s.io",
        versions=("v1",),
        plural="selfsubjectreviews",
        singular="selfsubjectreview",
        kind="SelfSubjectReview",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("authentication", "SelfSubjectReview"),
        verbs=("create",),
        virtual=True,
    ),
    ServedResource(
        group="authentication.k8s.io",
        versions=("v1",),
        plural="tokenreviews",
        singular="tokenreview",
        kind="TokenReview",
        namespaced=False,
        strategy=Strategy(),
        definitions=definitions("authentication", "TokenReview"),
        verbs=("create",),
        virtual=True,
    ),
)
