"""The arguments of plugins (`pluginConfig` of a KubeSchedulerConfiguration), with Kubernetes' defaults."""

from __future__ import annotations

from msgspec import Struct

from setpoint.api.types.core_v1 import NodeAffinity, TopologySpreadConstraint


class Args(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What all arguments have."""

    api_version: str = "kubescheduler.config.k8s.io/v1"
    kind: str = ""


class InterPodAffinityArgs(Args, frozen=True):
    """How much required affinity of standing pods weighs; whether their preferences are left out."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class PodTopologySpreadArgs(Args, frozen=True):
    """Constraints for pods without (type List), or Kubernetes' own (type System)."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class ResourceWeight(Struct, frozen=True):
    """A resource that scoring looks at."""

    name: str
    weight: int = 1


class UtilizationShape(Struct, frozen=True):
    """At this utilization (percent) a node scores so much (0 to 10)."""

    utilization: int
    score: int


class RequestedToCapacityRatio(Struct, frozen=True):
    """The points of a line."""

    shape: tuple[UtilizationShape, ...] = ()


CPU_AND_MEMORY = (ResourceWeight("cpu"), ResourceWeight("memory"))


class ScoringStrategy(Struct, frozen=True, rename="camel"):
    """LeastAllocated, MostAllocated or RequestedToCapacityRatio: one that is written down has to say which."""

    type: str = ""
    resources: tuple[ResourceWeight, ...] = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatio | None = None


class NodeResourcesFitArgs(Args, frozen=True):
    """Extended resources that the filter leaves to others; how nodes score."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy("LeastAllocated")


class NodeResourcesBalancedAllocationArgs(Args, frozen=True):
    """The resources to balance."""

    resources: tuple[ResourceWeight, ...] = CPU_AND_MEMORY


class NodeAffinityArgs(Args, frozen=True):
    """Affinity that every pod of the profile has besides its own."""

    added_affinity: NodeAffinity | None = None


class DefaultPreemptionArgs(Args, frozen=True):
    """How many nodes are tried: this part of all (percent), but so many at least."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


class VolumeBindingArgs(Args, frozen=True):
    """How long a pod waits for its volumes; how storage capacity scores."""

    bind_timeout_seconds: int = 600
    shape: tuple[UtilizationShape, ...] = ()


class DynamicResourcesArgs(Args, frozen=True):
    """How long a pod waits for devices to be made ready; the filter's time is of no consequence: its steps are counted."""

    filter_timeout: str = "10s"
    binding_timeout: str = "600s"
