"""Every plugin by name, and which of them schedule pods, in which order and with which weight: Kubernetes' default profile.

The order is that in which nodes are filtered, so it decides which reason a node gives. To add a plugin: a file in `plugins/`,
a row in each table. Not here yet: VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
InterPodAffinity (their places are between NodeResourcesFit and DynamicResources).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from setpoint.scheduler.framework import Handle, Plugin
from setpoint.scheduler.plugins.default_binder import DefaultBinder
from setpoint.scheduler.plugins.default_preemption import DefaultPreemption
from setpoint.scheduler.plugins.dynamic_resources import DynamicResources
from setpoint.scheduler.plugins.image_locality import ImageLocality
from setpoint.scheduler.plugins.node_affinity import NodeAffinity
from setpoint.scheduler.plugins.node_name import NodeName
from setpoint.scheduler.plugins.node_ports import NodePorts
from setpoint.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from setpoint.scheduler.plugins.node_resources_fit import NodeResourcesFit
from setpoint.scheduler.plugins.node_unschedulable import NodeUnschedulable
from setpoint.scheduler.plugins.priority_sort import PrioritySort
from setpoint.scheduler.plugins.scheduling_gates import SchedulingGates
from setpoint.scheduler.plugins.taint_toleration import TaintToleration

Factory = Callable[[Handle], Plugin]

PLUGINS: Mapping[str, Factory] = {
    "SchedulingGates": SchedulingGates,
    "PrioritySort": PrioritySort,
    "NodeUnschedulable": NodeUnschedulable,
    "NodeName": NodeName,
    "TaintToleration": TaintToleration,
    "NodeAffinity": NodeAffinity,
    "NodePorts": NodePorts,
    "NodeResourcesFit": NodeResourcesFit,
    "DynamicResources": DynamicResources,
    "DefaultPreemption": DefaultPreemption,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocation,
    "ImageLocality": ImageLocality,
    "DefaultBinder": DefaultBinder,
}


class Enabled(Struct, frozen=True):
    """A plugin of a profile; `weight` multiplies its score."""

    name: str
    weight: int = 1


DEFAULT_PROFILE: Sequence[Enabled] = (
    Enabled("SchedulingGates"),
    Enabled("PrioritySort"),
    Enabled("NodeUnschedulable"),
    Enabled("NodeName"),
    Enabled("TaintToleration", 3),
    Enabled("NodeAffinity", 2),
    Enabled("NodePorts"),
    Enabled("NodeResourcesFit"),
    Enabled("DynamicResources"),
    Enabled("DefaultPreemption"),
    Enabled("NodeResourcesBalancedAllocation"),
    Enabled("ImageLocality"),
    Enabled("DefaultBinder"),
)
