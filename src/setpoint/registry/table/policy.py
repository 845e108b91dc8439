"""The resources of policy."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="policy",
        versions=("v1",),
        plural="poddisruptionbudgets",
        singular="poddisruptionbudget",
        kind="PodDisruptionBudget",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("policy", "PodDisruptionBudget"),
        short_names=("pdb",),
        subresources=(status("PodDisruptionBudget", StatusStrategy(SpecStatusStrategy())),),
    ),
)
