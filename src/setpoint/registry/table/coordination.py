"""The resources of coordination.k8s.io."""

from __future__ import annotations

from setpoint.registry.coordination.lease import LeaseStrategy
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="coordination.k8s.io",
        versions=("v1",),
        plural="leases",
        singular="lease",
        kind="Lease",
        namespaced=True,
        strategy=LeaseStrategy(),
        definitions=definitions("coordination", "Lease"),
    ),
)
