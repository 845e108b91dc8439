"""The resources of autoscaling."""

from __future__ import annotations

from setpoint.registry.autoscaling.conversion import convert_autoscaler
from setpoint.registry.autoscaling.horizontal_pod_autoscaler import (
    HorizontalPodAutoscalerStrategy,
    horizontal_pod_autoscaler_status,
)
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="autoscaling",
        versions=("v2", "v1"),
        plural="horizontalpodautoscalers",
        singular="horizontalpodautoscaler",
        kind="HorizontalPodAutoscaler",
        namespaced=True,
        strategy=HorizontalPodAutoscalerStrategy(),
        definitions=definitions("autoscaling", "HorizontalPodAutoscaler", "v2", "v1"),
        short_names=("hpa",),
        categories=("all",),
        convert=convert_autoscaler,
        subresources=(status("HorizontalPodAutoscaler", horizontal_pod_autoscaler_status()),),
    ),
)
