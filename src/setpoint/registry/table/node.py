"""The resources of node.k8s.io."""

from __future__ import annotations

from setpoint.registry.node.runtime_class import RuntimeClassStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="node.k8s.io",
        versions=("v1",),
        plural="runtimeclasses",
        singular="runtimeclass",
        kind="RuntimeClass",
        namespaced=False,
        strategy=RuntimeClassStrategy(),
        definitions=definitions("node", "RuntimeClass"),
    ),
)
