"""The resources of scheduling.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.scheduling.priority_class import PriorityClassStrategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="scheduling.k8s.io",
        versions=("v1",),
        plural="priorityclasses",
        singular="priorityclass",
        kind="PriorityClass",
        namespaced=False,
        strategy=PriorityClassStrategy(),
        definitions=definitions("scheduling", "PriorityClass"),
        short_names=("pc",),
    ),
)
