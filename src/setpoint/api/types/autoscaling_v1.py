"""autoscaling/v1: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class CrossVersionObjectReference(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "max_replicas": "maxReplicas",
        "min_replicas": "minReplicas",
        "scale_target_ref": "scaleTargetRef",
        "target_cpu_utilization_percentage": "targetCPUUtilizationPercentage",
    },
):
    max_replicas: int = 0
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()
    target_cpu_utilization_percentage: int | None = None


class HorizontalPodAutoscalerStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "current_cpu_utilization_percentage": "currentCPUUtilizationPercentage",
        "current_replicas": "currentReplicas",
        "desired_replicas": "desiredReplicas",
        "last_scale_time": "lastScaleTime",
        "observed_generation": "observedGeneration",
    },
):
    current_cpu_utilization_percentage: int | None = None
    current_replicas: int = 0
    desired_replicas: int = 0
    last_scale_time: str | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscaler(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: HorizontalPodAutoscalerSpec = HorizontalPodAutoscalerSpec()
    status: HorizontalPodAutoscalerStatus = HorizontalPodAutoscalerStatus()


class HorizontalPodAutoscalerList(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    items: Nullable[tuple[HorizontalPodAutoscaler, ...]] = ()
    kind: str = ""
    metadata: meta_v1.ListMeta = meta_v1.ListMeta()

    def __post_init__(self) -> None:
        if self.items is None:
            force_setattr(self, "items", ())


class ScaleSpec(View, frozen=True, kw_only=True):
    replicas: int = 0


class ScaleStatus(View, frozen=True, kw_only=True):
    replicas: int = 0
    selector: str = ""


class Scale(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    metadata: meta_v1.ObjectMeta = meta_v1.ObjectMeta()
    spec: ScaleSpec = ScaleSpec()
    status: ScaleStatus = ScaleStatus()


HORIZONTALPODAUTOSCALERS: Resource[HorizontalPodAutoscaler] = Resource(
    "autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True, HorizontalPodAutoscaler
)
