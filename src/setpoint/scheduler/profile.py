"""The plugins of one scheduler, sorted by extension point, and how each point is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.board import UNKNOWN, Board, Boards
from setpoint.scheduler.candidates import Candidates, first
from setpoint.scheduler.events import ClusterEventWithHint
from setpoint.scheduler.framework import (
    Bind,
    CycleState,
    EnqueueExtensions,
    Filter,
    FilterAll,
    Handle,
    Permit,
    Plugin,
    PostBind,
    PostFilter,
    PreBind,
    PreEnqueue,
    PreFilter,
    PreFilterExtensions,
    PreFlight,
    PreScore,
    QueueSort,
    Reserve,
    Score,
    ScoreAll,
    Victims,
    is_local,
)
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.profiles import DEFAULT_PROFILE, ProfileConfig
from setpoint.scheduler.registry import PLUGINS, PluginError, Registry, make
from setpoint.scheduler.scoring import Scoring
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Code, Diagnosis, Status, failed, failed_at, named, unresolvable, unschedulable

T = TypeVar("T")
Refuse = Callable[[Pod, NodeInfo], Status | None]
Points = list[tuple[str, T]]


class Profile:
    """Runs extension points. Every Status that leaves it names its plugin."""

    def __init__(self, handle: Handle, config: ProfileConfig = DEFAULT_PROFILE, plugins: Registry = PLUGINS) -> None:
        self.config = config
        self.name = config.scheduler_name
        made = {name: make(plugins, name, handle, config.args.get(name)) for name in config.names}
        at = _Points(made, config)
        self.plugins = [*made.values()]
        self.pre_enqueue_plugins: Points[PreEnqueue] = at("preEnqueue", PreEnqueue)
        self._pre_filters: Points[PreFilter] = at("preFilter", PreFilter)
        self._filters: Points[Filter] = at("filter", Filter)
        # Only what comes before the first filter that looks further is local: the order decides which reason a node gives.
        self._local_filters: Points[Filter] = [*itertools.takewhile(lambda point: is_local(point[1]), self._filters)]
        self._other_filters = self._filters[len(self._local_filters) :]
        self._filters_all: Mapping[str, FilterAll] = dict(
            _those([(name, made[name]) for name, _ in self._other_filters], FilterAll)
        )
        self._trials: Points[PreFilterExtensions] = _those([(name, made[name]) for name, _ in self._filters], PreFilterExtensions)
        self._post_filters: Points[PostFilter] = at("postFilter", PostFilter)
        self.has_post_filters = bool(self._post_filters)
        self.scoring = Scoring(at("preScore", PreScore), at("score", Score, ScoreAll), config.weights)
        self._reserves: Points[Reserve] = at("reserve", Reserve)
        self._permits: Points[Permit] = at("permit", Permit)
        self._pre_binds: Points[PreBind] = at("preBind", PreBind)
        self._pre_flights: Points[PreFlight] = at("preBind", PreFlight)
        self._binds: Points[Bind] = at("bind", Bind)
        self._post_binds: Points[PostBind] = at("postBind", PostBind)
        sorters: Points[QueueSort] = at("queueSort", QueueSort)
        if len(sorters) != 1:
            name = f'profile with scheduler name "{self.name}"'
            raise PluginError(f"only one queue sort plugin required for {name}, but got {len(sorters)}")
        [(_, sorter)] = sorters
        self.sort_key = sorter.sort_key
        interested: Points[EnqueueExtensions] = _those([*made.items()], EnqueueExtensions)
        self.events_to_register: Mapping[str, Sequence[ClusterEventWithHint]] = {
            name: tuple(each.events_to_register()) for name, each in interested
        }
        self._boards = Boards(handle.snapshot)
        handle.profile = self

    def board(self, state: CycleState) -> Board:
        return self._boards.get(state.info.shape)

    def forget(self) -> None:
        """What local plugins said of nodes holds no more: something changed that they promised not to go by."""
        self._boards.forget()

    # ---- the scheduling cycle

    def pre_enqueue(self, pod: Pod) -> Status | None:
        for name, plugin in self.pre_enqueue_plugins:
            status = plugin.pre_enqueue(pod)
            if status is not None:
                return named(status, name)
        return None

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[frozenset[str] | None, set[str], Status | None]:
        """The nodes left (None: all), which plugins narrowed them down, and a refusal of all nodes at once."""
        nodes: frozenset[str] | None = None
        narrowed: set[str] = set()
        refusal: Status | None = None
        for name, plugin in self._pre_filters:
            result, status = plugin.pre_filter(state, pod)
            if status is not None and status.code is Code.SKIP:
                state.skip_filter.add(name)
            elif status is not None:
                refusal = named(status, name)
                if status.code is not Code.UNSCHEDULABLE:  # that one leaves room for preemption, which needs all plugins' states
                    return nodes, narrowed, refusal
            elif result is not None:
                nodes = result.nodes if nodes is None else nodes & result.nodes
                narrowed.add(name)
                if not nodes:
                    return nodes, narrowed, _disagree(narrowed)
        return nodes, narrowed, refusal

    def filters(self, state: CycleState) -> Refuse:
        """The filters that this cycle needs, as one function: the first refusal counts."""
        return _chain(state, self._filters)

    def refusals(self, state: CycleState, board: Board, nodes: Candidates) -> list[Status | None]:
        """The same for many nodes as they are. What local filters say is looked up on the board, and filled in there."""
        pod = state.info.pod
        found = [*nodes.gather(board.refusals)]
        if UNKNOWN in found:
            ask = _chain(state, self._local_filters)
            for index, status in enumerate(found):
                if status is UNKNOWN:
                    state.budget.spend()
                    node = nodes[index]
                    found[index] = board.refusals[node.slot] = ask(pod, node)
        for name, plugin in self._other_filters:
            if name not in state.skip_filter:
                found = _also(state, found, nodes, name, plugin, self._filters_all.get(name))
        return found

    def _is_needed(self, state: CycleState, filters: Points[Filter]) -> bool:
        return any(name not in state.skip_filter for name, _ in filters)

    def judges_nodes_alone(self, state: CycleState) -> bool:
        """No filter of this cycle looks beyond its node: what holds for a node holds while the node stays as it is."""
        return not self._is_needed(state, self._other_filters)

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        """On trial, on clones."""
        node.add_pod(other)
        for name, plugin in self._trials:
            if name not in state.skip_filter:
                plugin.add_pod(state, pod, other, node)

    def remove_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None:
        node.remove_pod(other.key)
        for name, plugin in self._trials:
            if name not in state.skip_filter:
                plugin.remove_pod(state, pod, other, node)

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        """The first plugin that makes room ends it; else all their reasons count."""
        reasons: list[str] = []
        result: Victims | None = None
        for name, plugin in self._post_filters:
            victims, status = plugin.post_filter(state, pod, diagnosis)
            if status is None:
                return victims, None
            if not status.rejected:
                return None, named(status, name)
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return victims, named(status, name)
            result = victims or result
            reasons += status.reasons
        return result, unschedulable(*reasons)

    def score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], board: Board) -> list[int] | Status:
        """The weighted sum of all plugins' scores, per node."""
        return self.scoring.score(state, pod, nodes, board)

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._reserves:
            status = plugin.reserve(state, pod, node)
            if status is not None:
                self.unreserve(state, pod, node)
                return failed_at("Reserve", named(status, name))
        return None

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Give back in reverse order; plugins that reserved nothing do not mind."""
        for _, plugin in reversed(self._reserves):
            plugin.unreserve(state, pod, node)

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]:
        """A refusal, or for how many seconds the pod is held."""
        held = 0.0
        for name, plugin in self._permits:
            status, seconds = plugin.permit(state, pod, node)
            if status is None:
                continue
            if status.code is not Code.WAIT:
                return failed_at("Permit", named(status, name)), 0.0
            held = max(held, seconds)
        return None, held

    # ---- the binding cycle

    def pre_flight(self, state: CycleState, pod: Pod, node: str) -> bool:
        """Whether something is to be done before the pod can be bound."""
        return any(plugin.pre_flight(state, pod, node) for _, plugin in self._pre_flights)

    async def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._pre_binds:
            status = await plugin.pre_bind(state, pod, node)
            if status is not None:
                return failed_at("PreBind", named(status, name))
        return None

    async def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._binds:
            status = await plugin.bind(state, pod, node)
            if status is None:
                return None
            if status.code is not Code.SKIP:
                return failed_at("Bind", named(status, name))
        return failed("no plugin binds this pod")

    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        for _, plugin in self._post_binds:
            plugin.post_bind(state, pod, node)


def _disagree(plugins: set[str]) -> Status:
    """The nodes that plugins have left have none in common."""
    if len(plugins) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {min(plugins)}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}] simultaneously")


def _chain(state: CycleState, filters: Points[Filter]) -> Refuse:
    active = [(name, plugin.filter) for name, plugin in filters if name not in state.skip_filter]

    def run(pod: Pod, node: NodeInfo) -> Status | None:
        for name, refuse in active:
            status = refuse(state, pod, node)
            if status is not None:
                return named(status, name)
        return None

    return run


def _also(
    state: CycleState, found: list[Status | None], nodes: Candidates, name: str, plugin: Filter, many: FilterAll | None
) -> list[Status | None]:
    """What one more filter says of the nodes that are left."""
    pod = state.info.pod
    if many is not None:
        refusals = many.filter_all(state, pod, nodes)
        if not any(refusals):
            return found
        names = {id(status): status and named(status, name) for status in refusals}  # many nodes, few objects
        return first(found, [names[id(status)] for status in refusals])
    for index, status in enumerate(found):
        if status is None:
            refusal = plugin.filter(state, pod, nodes[index])
            found[index] = refusal and named(refusal, name)
    return found


class _Points:
    """Which plugins run at an extension point, in the order that the profile says."""

    def __init__(self, made: Mapping[str, Plugin], config: ProfileConfig) -> None:
        self._made = made
        self._config = config

    def __call__(self, point: str, *protocols: Any) -> list[tuple[str, Any]]:
        """Those that implement one of the protocols."""
        plugins = [(name, self._made[name]) for name in self._config.at(point)]
        fitting = [_those(plugins, protocol) for protocol in protocols]
        return [each for each in plugins if any(each in those for those in fitting)]


def _those(plugins: Sequence[tuple[str, Plugin]], point: Any) -> list[tuple[str, Any]]:
    """The plugins that implement an extension point; `isinstance` says the same of a protocol, forty times slower."""
    methods = [name for name in vars(point) if not name.startswith("_")]
    return [(name, plugin) for name, plugin in plugins if all(hasattr(plugin, method) for method in methods)]
