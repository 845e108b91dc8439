"""autoscaling/v2: frozen views of its kinds, and its resources (made by scripts/generate_types.py; do not edit)."""

from msgspec.structs import force_setattr

from setpoint.api.machinery.resource import Resource
from setpoint.api.types import meta_v1
from setpoint.api.types.base import Nullable, View


class MetricTarget(
    View, frozen=True, kw_only=True, rename={"average_utilization": "averageUtilization", "average_value": "averageValue"}
):
    average_utilization: int | None = None
    average_value: str | None = None
    type: str = ""
    value: str | None = None


class ContainerResourceMetricSource(View, frozen=True, kw_only=True):
    container: str = ""
    name: str = ""
    target: MetricTarget = MetricTarget()


class MetricValueStatus(
    View, frozen=True, kw_only=True, rename={"average_utilization": "averageUtilization", "average_value": "averageValue"}
):
    average_utilization: int | None = None
    average_value: str | None = None
    value: str | None = None


class ContainerResourceMetricStatus(View, frozen=True, kw_only=True):
    container: str = ""
    current: MetricValueStatus = MetricValueStatus()
    name: str = ""


class CrossVersionObjectReference(View, frozen=True, kw_only=True, rename={"api_version": "apiVersion"}):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class MetricIdentifier(View, frozen=True, kw_only=True):
    name: str = ""
    selector: meta_v1.LabelSelector | None = None


class ExternalMetricSource(View, frozen=True, kw_only=True):
    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()


class ExternalMetricStatus(View, frozen=True, kw_only=True):
    current: MetricValueStatus = MetricValueStatus()
    metric: MetricIdentifier = MetricIdentifier()


class HPAScalingPolicy(View, frozen=True, kw_only=True, rename={"period_seconds": "periodSeconds"}):
    period_seconds: int = 0
    type: str = ""
    value: int = 0


class HPAScalingRules(
    View,
    frozen=True,
    kw_only=True,
    rename={"select_policy": "selectPolicy", "stabilization_window_seconds": "stabilizationWindowSeconds"},
):
    policies: tuple[HPAScalingPolicy, ...] = ()
    select_policy: str | None = None
    stabilization_window_seconds: int | None = None
    tolerance: str | None = None


class HorizontalPodAutoscalerBehavior(View, frozen=True, kw_only=True, rename={"scale_down": "scaleDown", "scale_up": "scaleUp"}):
    scale_down: HPAScalingRules | None = None
    scale_up: HPAScalingRules | None = None


class ObjectMetricSource(View, frozen=True, kw_only=True, rename={"described_object": "describedObject"}):
    described_object: CrossVersionObjectReference = CrossVersionObjectReference()
    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()


class PodsMetricSource(View, frozen=True, kw_only=True):
    metric: MetricIdentifier = MetricIdentifier()
    target: MetricTarget = MetricTarget()


class ResourceMetricSource(View, frozen=True, kw_only=True):
    name: str = ""
    target: MetricTarget = MetricTarget()


class MetricSpec(View, frozen=True, kw_only=True, rename={"container_resource": "containerResource"}):
    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    type: str = ""


class HorizontalPodAutoscalerSpec(
    View,
    frozen=True,
    kw_only=True,
    rename={"max_replicas": "maxReplicas", "min_replicas": "minReplicas", "scale_target_ref": "scaleTargetRef"},
):
    behavior: HorizontalPodAutoscalerBehavior | None = None
    max_replicas: int = 0
    metrics: tuple[MetricSpec, ...] = ()
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = CrossVersionObjectReference()


class HorizontalPodAutoscalerCondition(View, frozen=True, kw_only=True, rename={"last_transition_time": "lastTransitionTime"}):
    last_transition_time: Nullable[str] = ""
    message: str = ""
    reason: str = ""
    status: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        if self.last_transition_time is None:
            force_setattr(self, "last_transition_time", "")


class ObjectMetricStatus(View, frozen=True, kw_only=True, rename={"described_object": "describedObject"}):
    current: MetricValueStatus = MetricValueStatus()
    described_object: CrossVersionObjectReference = CrossVersionObjectReference()
    metric: MetricIdentifier = MetricIdentifier()


class PodsMetricStatus(View, frozen=True, kw_only=True):
    current: MetricValueStatus = MetricValueStatus()
    metric: MetricIdentifier = MetricIdentifier()


class ResourceMetricStatus(View, frozen=True, kw_only=True):
    current: MetricValueStatus = MetricValueStatus()
    name: str = ""


class MetricStatus(View, frozen=True, kw_only=True, rename={"container_resource": "containerResource"}):
    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    type: str = ""


class HorizontalPodAutoscalerStatus(
    View,
    frozen=True,
    kw_only=True,
    rename={
        "current_metrics": "currentMetrics",
        "current_replicas": "currentReplicas",
        "desired_replicas": "desiredReplicas",
        "last_scale_time": "lastScaleTime",
        "observed_generation": "observedGeneration",
    },
):
    conditions: tuple[HorizontalPodAutoscalerCondition, ...] = ()
    current_metrics: Nullable[tuple[MetricStatus, ...]] = ()
    current_replicas: int = 0
    desired_replicas: int = 0
    last_scale_time: str | None = None
    observed_generation: int | None = None

    def __post_init__(self) -> None:
        if self.current_metrics is None:
            force_setattr(self, "current_metrics", ())


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


HORIZONTALPODAUTOSCALERS: Resource[HorizontalPodAutoscaler] = Resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True, HorizontalPodAutoscaler
)
