"""The resources of autoscaling."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="autoscaling",
        versions=("v2", "v1"),
        plural="horizontalpodautoscalers",
        singular="horizontalpodautoscaler",
        kind="HorizontalPodAutoscaler",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("autoscaling", "HorizontalPodAutoscaler", "v2", "v1"),
        short_names=("hpa",),
        categories=("all",),
        subresources=(status("HorizontalPodAutoscaler", StatusStrategy(SpecStatusStrategy())),),
    ),
)
