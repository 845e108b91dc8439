"""The resources of coordination.k8s.io."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Strategy
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="coordination.k8s.io",
        versions=("v1",),
        plural="leases",
        singular="lease",
        kind="Lease",
        namespaced=True,
        strategy=Strategy(),
        definitions=definitions("coordination", "Lease"),
    ),
)
