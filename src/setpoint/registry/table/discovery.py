"""The resources of discovery.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="discovery.k8s.io",
        versions=("v1",),
        plural="endpointslices",
        singular="endpointslice",
        kind="EndpointSlice",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("discovery", "EndpointSlice"),
    ),
)
