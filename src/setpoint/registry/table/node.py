"""The resources of node.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import VersionedStrategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="node.k8s.io",
        versions=("v1",),
        plural="runtimeclasses",
        singular="runtimeclass",
        kind="RuntimeClass",
        namespaced=False,
        strategy=VersionedStrategy(),
        definitions=definitions("node", "RuntimeClass"),
    ),
)
