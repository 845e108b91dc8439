"""The resources of policy."""

from __future__ import annotations

from setpoint.registry.policy.pod_disruption_budget import PodDisruptionBudgetStrategy, pod_disruption_budget_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="policy",
        versions=("v1",),
        plural="poddisruptionbudgets",
        singular="poddisruptionbudget",
        kind="PodDisruptionBudget",
        namespaced=True,
        strategy=PodDisruptionBudgetStrategy(),
        definitions=definitions("policy", "PodDisruptionBudget"),
        short_names=("pdb",),
        subresources=(status("PodDisruptionBudget", pod_disruption_budget_status()),),
    ),
)
