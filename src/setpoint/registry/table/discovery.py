"""The resources of discovery.k8s.io."""

from __future__ import annotations

from setpoint.registry.discovery.endpoint_slice import EndpointSliceStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="discovery.k8s.io",
        versions=("v1",),
        plural="endpointslices",
        singular="endpointslice",
        kind="EndpointSlice",
        namespaced=True,
        strategy=EndpointSliceStrategy(),
        definitions=definitions("discovery", "EndpointSlice"),
    ),
)
