"""Which plugins schedule pods, where, in which order and with which weight.

Kubernetes' rules: `multiPoint` enables a plugin at every extension point that it implements; a point's own list adds plugins, and
takes precedence in order and weight; `disabled` takes plugins away, `*` all that come from elsewhere.
The order is that in which nodes are filtered, so it decides which reason a node gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

DEFAULT_NAME = "default-scheduler"
EVERY = "*"
POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)


class Enabled(Struct, frozen=True):
    """A plugin of a profile; `weight` multiplies its score (0: as if it were 1)."""

    name: str
    weight: int = 0


class PluginSet(Struct, frozen=True):
    """What one extension point adds and takes away."""

    enabled: tuple[Enabled, ...] = ()
    disabled: tuple[Enabled, ...] = ()


DEFAULT_PLUGINS: Sequence[Enabled] = (
    Enabled("SchedulingGates"),
    Enabled("PrioritySort"),
    Enabled("NodeUnschedulable"),
    Enabled("NodeName"),
    Enabled("TaintToleration", 3),
    Enabled("NodeAffinity", 2),
    Enabled("NodePorts"),
    Enabled("NodeResourcesFit", 1),
    Enabled("VolumeRestrictions"),
    Enabled("NodeVolumeLimits"),
    Enabled("VolumeBinding"),
    Enabled("VolumeZone"),
    Enabled("PodTopologySpread", 2),
    Enabled("InterPodAffinity", 2),
    Enabled("DynamicResources", 2),
    Enabled("DefaultPreemption"),
    Enabled("NodeResourcesBalancedAllocation", 1),
    Enabled("ImageLocality", 1),
    Enabled("DefaultBinder"),
    Enabled("NodeDeclaredFeatures"),
)


class ProfileConfig(Struct, frozen=True):
    """One scheduler's plugins: the names at each extension point, weights, arguments."""

    scheduler_name: str = DEFAULT_NAME
    everywhere: tuple[Enabled, ...] = tuple(DEFAULT_PLUGINS)
    points: Mapping[str, PluginSet] = field(default_factory=dict)
    args: Mapping[str, Any] = field(default_factory=dict)
    percentage_of_nodes_to_score: int = 0

    def at(self, point: str) -> list[str]:
        """The plugins of an extension point in their order; some may not implement it."""
        own = self.points.get(point, PluginSet())
        mine = [each.name for each in own.enabled]
        without = {each.name for each in own.disabled}
        if EVERY in without:
            return mine
        shared = [each.name for each in self.everywhere]
        first = [name for name in mine if name in shared]
        others = [name for name in shared if name not in mine and name not in without]
        return [*first, *others, *(name for name in mine if name not in shared)]

    @property
    def names(self) -> list[str]:
        """All plugins that are used at some point."""
        named = [each.name for each in self.everywhere]
        named += [each.name for own in self.points.values() for each in own.enabled]
        return [*dict.fromkeys(named)]

    @property
    def weights(self) -> Mapping[str, int]:
        weights = {each.name: each.weight for each in self.everywhere}
        weights.update({each.name: each.weight for each in self.points.get("score", PluginSet()).enabled})
        return weights


DEFAULT_PROFILE = ProfileConfig()


def merged(own: PluginSet) -> tuple[Enabled, ...]:
    """The default plugins as `multiPoint` changes them: same places, own weights, new ones at the end."""
    without = {each.name for each in own.disabled}
    mine = {each.name: each for each in own.enabled}
    kept = [] if EVERY in without else [each for each in DEFAULT_PLUGINS if each.name not in without]
    replaced = [mine.pop(each.name, each) for each in kept]
    return (*replaced, *mine.values())
