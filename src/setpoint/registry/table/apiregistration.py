"""The resources of apiregistration.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import StatusStrategy, VersionedSpecStatusStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="apiregistration.k8s.io",
        versions=("v1",),
        plural="apiservices",
        singular="apiservice",
        kind="APIService",
        namespaced=False,
        strategy=VersionedSpecStatusStrategy(),
        definitions=definitions("io.k8s.kube-aggregator.pkg.apis.apiregistration", "APIService"),
        categories=("api-extensions",),
        subresources=(status("APIService", StatusStrategy(VersionedSpecStatusStrategy())),),
    ),
)
