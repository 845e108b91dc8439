"""What is wrong with the arguments of a plugin, in the words of Kubernetes' `ValidateXArgs`; paths are below the given one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.api.types.core_v1 import TopologySpreadConstraint
from setpoint.scheduler import durations
from setpoint.scheduler.plugin_config import (
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    UtilizationShape,
    VolumeBindingArgs,
)

RATIO = "RequestedToCapacityRatio"
STRATEGIES = ("LeastAllocated", "MostAllocated", RATIO)
DEFAULTING = ("System", "List")
ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
Errors = Iterator[FieldError]


def _within(path: str, value: int, lowest: int, highest: int) -> Errors:
    if not lowest <= value <= highest:
        yield invalid(path, value, f"not in valid range [{lowest}, {highest}]")


def _default_preemption(path: str, args: DefaultPreemptionArgs) -> Errors:
    part, count = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    of_part, of_count = f"{path}minCandidateNodesPercentage", f"{path}minCandidateNodesAbsolute"
    yield from _within(of_part, part, 0, 100)
    if count < 0:
        yield invalid(of_count, count, "not in valid range [0, inf)")
    if part == 0 and count == 0:
        yield invalid(of_part, part, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield invalid(of_count, count, "cannot be zero at the same time as minCandidateNodesPercentage")


def _inter_pod_affinity(path: str, args: InterPodAffinityArgs) -> Errors:
    yield from _within(f"{path}hardPodAffinityWeight", args.hard_pod_affinity_weight, 0, 100)


def _pod_topology_spread(path: str, args: PodTopologySpreadArgs) -> Errors:
    kind, constraints = args.defaulting_type or "System", args.default_constraints
    if kind not in DEFAULTING:
        yield not_supported(f"{path}defaultingType", kind, DEFAULTING)
    elif kind == "System" and constraints:
        yield invalid(f"{path}defaultingType", kind, "when .defaultConstraints are not empty")
    known: set[tuple[str, str]] = set()
    for index, each in enumerate(constraints):
        where = f"{path}defaultConstraints[{index}]"
        yield from _constraint(where, each)
        mark = (each.topology_key, each.when_unsatisfiable)
        if mark in known:
            yield duplicate(where, f"{{{each.topology_key}, {each.when_unsatisfiable}}}")
        known.add(mark)


def _constraint(path: str, constraint: TopologySpreadConstraint) -> Errors:
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    if not constraint.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from _label_name(f"{path}.topologyKey", constraint.topology_key)
    if not constraint.when_unsatisfiable:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif constraint.when_unsatisfiable not in ACTIONS:
        yield not_supported(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable, ACTIONS)
    if constraint.label_selector is not None:
        yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")


def _label_name(path: str, value: str) -> Errors:
    for message in names.qualified_name(value):
        yield invalid(path, value, message)


def _balanced_allocation(path: str, args: NodeResourcesBalancedAllocationArgs) -> Errors:
    known: set[str] = set()
    for index, each in enumerate(args.resources):
        where = f"{path}resources[{index}]"
        if each.name in known:
            yield duplicate(f"{where}.name", each.name)
        known.add(each.name)
        if each.weight not in (0, 1):  # 0 means the default, which is 1
            yield invalid(f"{where}.weight", each.weight, "must be 1")


def _fit(path: str, args: NodeResourcesFitArgs) -> Errors:
    for index, name in enumerate(args.ignored_resources):
        yield from _label_name(f"{path}ignoredResources[{index}]", name)
    for index, group in enumerate(args.ignored_resource_groups):
        where = f"{path}ignoredResourceGroups[{index}]"
        if "/" in group:
            yield invalid(where, group, "resource group name can't contain '/'")
        yield from _label_name(where, group)
    strategy, where = args.scoring_strategy, f"{path}scoringStrategy"
    if strategy.type not in STRATEGIES:
        yield not_supported(f"{where}.type", strategy.type, STRATEGIES)
    for index, each in enumerate(strategy.resources):
        if not 0 <= each.weight <= 100:  # 0 means the default, which is 1
            detail = f"resource weight of {each.name} not in valid range (0, 100]"
            yield invalid(f"{where}.resources[{index}].weight", each.weight, detail)
    ratio, where = strategy.requested_to_capacity_ratio, f"{where}.requestedToCapacityRatio"
    if strategy.type != RATIO:
        if ratio is not None:
            yield forbidden(where, f"must be nil when type is not {RATIO}")
    elif ratio is None:
        yield required(where, f"must be specified when type is {RATIO}")
    else:
        yield from _shape(f"{where}.shape", ratio.shape)


def _shape(path: str, shape: Sequence[UtilizationShape]) -> Errors:
    if not shape:
        yield required(path, "at least one point must be specified")
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            yield invalid(f"{path}[{index}].utilization", shape[index].utilization, "values must be sorted in increasing order")
            break
    for index, point in enumerate(shape):
        yield from _within(f"{path}[{index}].utilization", point.utilization, 0, 100)
        yield from _within(f"{path}[{index}].score", point.score, 0, 10)


def _volume_binding(path: str, args: VolumeBindingArgs) -> Errors:
    if args.bind_timeout_seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}bindTimeoutSeconds", args.bind_timeout_seconds, detail)


def _dynamic_resources(path: str, args: DynamicResourcesArgs) -> Errors:
    if args.filter_timeout.startswith("-"):
        yield invalid(f"{path}filterTimeout", args.filter_timeout, "must be zero or positive")
    if args.binding_timeout.startswith("-") or durations.seconds_of(args.binding_timeout) < 1:
        yield invalid(f"{path}bindingTimeout", args.binding_timeout, "must be at least 1 second")


_CHECKS: Mapping[type, Callable[[str, Any], Errors]] = {
    DefaultPreemptionArgs: _default_preemption,
    InterPodAffinityArgs: _inter_pod_affinity,
    PodTopologySpreadArgs: _pod_topology_spread,
    NodeResourcesBalancedAllocationArgs: _balanced_allocation,
    NodeResourcesFitArgs: _fit,
    VolumeBindingArgs: _volume_binding,
    DynamicResourcesArgs: _dynamic_resources,
}


def errors_of(path: str, args: Any) -> Errors:
    """All that is wrong with `args`. Raises ValueError for a duration that is none."""
    check = _CHECKS.get(type(args))
    if check is not None:
        yield from check(f"{path}." if path else "", args)
