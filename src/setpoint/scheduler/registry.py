"""Every plugin by name, with the type of its arguments. To add one: a file in `plugins/`, a row here, a place in a profile.

Plugins of other packages are found by entry point, group `setpoint.scheduler.plugins`: the entry's name is the plugin's, the
object a factory that takes a Handle and the plugin's arguments as plain JSON (None without any).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.scheduler import plugin_config as config
from setpoint.scheduler.framework import Handle, Plugin
from setpoint.scheduler.plugins.default_binder import DefaultBinder
from setpoint.scheduler.plugins.default_preemption import DefaultPreemption
from setpoint.scheduler.plugins.dynamic_resources import DynamicResources
from setpoint.scheduler.plugins.image_locality import ImageLocality
from setpoint.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from setpoint.scheduler.plugins.node_affinity import NodeAffinity
from setpoint.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from setpoint.scheduler.plugins.node_name import NodeName
from setpoint.scheduler.plugins.node_ports import NodePorts
from setpoint.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from setpoint.scheduler.plugins.node_resources_fit import NodeResourcesFit
from setpoint.scheduler.plugins.node_unschedulable import NodeUnschedulable
from setpoint.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from setpoint.scheduler.plugins.pod_topology_spread import PodTopologySpread
from setpoint.scheduler.plugins.priority_sort import PrioritySort
from setpoint.scheduler.plugins.scheduling_gates import SchedulingGates
from setpoint.scheduler.plugins.taint_toleration import TaintToleration
from setpoint.scheduler.plugins.volume_binding import VolumeBinding
from setpoint.scheduler.plugins.volume_restrictions import VolumeRestrictions
from setpoint.scheduler.plugins.volume_zone import VolumeZone

ENTRY_POINTS = "setpoint.scheduler.plugins"


class PluginError(Exception):
    """A plugin is not known, or its arguments are wrong."""


class Row(Struct, frozen=True):
    """How a plugin is made: `factory(handle)`, or `factory(handle, args)` if it has arguments."""

    factory: Callable[..., Plugin]
    args: type[config.Args] | None = None


Registry = Mapping[str, Row]

PLUGINS: Registry = {
    "SchedulingGates": Row(SchedulingGates),
    "PrioritySort": Row(PrioritySort),
    "NodeUnschedulable": Row(NodeUnschedulable),
    "NodeName": Row(NodeName),
    "TaintToleration": Row(TaintToleration),
    "NodeAffinity": Row(NodeAffinity, config.NodeAffinityArgs),
    "NodePorts": Row(NodePorts),
    "NodeResourcesFit": Row(NodeResourcesFit, config.NodeResourcesFitArgs),
    "VolumeRestrictions": Row(VolumeRestrictions),
    "NodeVolumeLimits": Row(NodeVolumeLimits),
    "VolumeBinding": Row(VolumeBinding, config.VolumeBindingArgs),
    "VolumeZone": Row(VolumeZone),
    "PodTopologySpread": Row(PodTopologySpread, config.PodTopologySpreadArgs),
    "InterPodAffinity": Row(InterPodAffinity, config.InterPodAffinityArgs),
    "DynamicResources": Row(DynamicResources, config.DynamicResourcesArgs),
    "DefaultPreemption": Row(DefaultPreemption, config.DefaultPreemptionArgs),
    "NodeResourcesBalancedAllocation": Row(NodeResourcesBalancedAllocation, config.NodeResourcesBalancedAllocationArgs),
    "ImageLocality": Row(ImageLocality),
    "DefaultBinder": Row(DefaultBinder),
    "NodeDeclaredFeatures": Row(NodeDeclaredFeatures),
}


def make(plugins: Registry, name: str, handle: Handle, args: Any) -> Plugin:
    """The plugin `name` with `args`, as JSON. Raises PluginError."""
    row = plugins.get(name)
    if row is None:
        return _installed(name)(handle, args)
    if args is None or row.args is None:
        return row.factory(handle)
    return row.factory(handle, _read(name, args, row.args))


def read_args(name: str, args: Any) -> config.Args | None:
    """The arguments of a plugin of ours, typed; None without any. Raises PluginError if they cannot be the plugin's."""
    row = PLUGINS.get(name)
    return _read(name, args, row.args) if row is not None and row.args is not None and args is not None else None


def _read(name: str, args: Any, type: type[config.Args]) -> config.Args:
    try:
        return msgspec.convert(args, type)
    except msgspec.ValidationError as error:
        raise PluginError(f"decoding args for plugin {name}: {error}") from error


def _installed(name: str) -> Callable[[Handle, Any], Plugin]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS, name=name):
        factory: Callable[[Handle, Any], Plugin] = entry.load()
        return factory
    raise PluginError(f"{name} does not exist in the plugin registry")
