"""policy/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from collections.abc import Mapping

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class Eviction(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion", "delete_options": "deleteOptions"}):
    api_version: str = ""
    delete_options: meta_v1.DeleteOptions | None = None
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()


class PodDisruptionBudgetSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "max_unavailable": "maxUnavailable",
        "min_available": "minAvailable",
        "unhealthy_pod_eviction_policy": "unhealthyPodEvictionPolicy",
    },
):
    max_unavailable: int | str | None = None
    min_available: int | str | None = None
    selector: meta_v1.LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "current_healthy": "currentHealthy",
        "desired_healthy": "desiredHealthy",
        "disrupted_pods": "disruptedPods",
        "disruptions_allowed": "disruptionsAllowed",
        "expected_pods": "expectedPods",
        "observed_generation": "observedGeneration",
    },
):
    conditions: tuple[meta_v1.Condition, ...] = ()
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted_pods: Mapping[str, str] = {}
    disruptions_allowed: int = 0
    expected_pods: int = 0
    observed_generation: int = 0


class PodDisruptionBudget(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PodDisruptionBudgetList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[PodDisruptionBudget, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


PODDISRUPTIONBUDGETS: Resource[PodDisruptionBudget] = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, PodDisruptionBudget
)
