"""The resources of apiregistration.k8s.io."""

from __future__ import annotations

from setpoint.registry.apiregistration.api_service import APIServiceStrategy, api_service_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="apiregistration.k8s.io",
        versions=("v1",),
        plural="apiservices",
        singular="apiservice",
        kind="APIService",
        namespaced=False,
        strategy=APIServiceStrategy(),
        definitions=definitions("io.k8s.kube-aggregator.pkg.apis.apiregistration", "APIService"),
        categories=("api-extensions",),
        subresources=(status("APIService", api_service_status()),),
    ),
)
