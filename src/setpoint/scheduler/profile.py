"""The plugins of one scheduler, sorted by extension point, and how each point is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.events import Interest
from setpoint.scheduler.framework import (
    Bind,
    CycleState,
    Filter,
    Handle,
    Interested,
    Normalize,
    Permit,
    Plugin,
    PostBind,
    PostFilter,
    PreBind,
    PreEnqueue,
    PreFilter,
    PreScore,
    QueueSort,
    Reserve,
    Score,
    Victims,
)
from setpoint.scheduler.registry import DEFAULT_PROFILE, PLUGINS, Enabled, Factory
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Code, Diagnosis, Status, failed, unschedulable

T = TypeVar("T")
Points = list[tuple[str, T]]


def _named(status: Status, plugin: str) -> Status:
    return status if status.plugin == plugin else Status(status.code, status.reasons, plugin)


class Profile:
    """Runs extension points. Every Status that leaves it names its plugin."""

    def __init__(
        self, handle: Handle, enabled: Sequence[Enabled] = DEFAULT_PROFILE, plugins: Mapping[str, Factory] = PLUGINS
    ) -> None:
        made = [plugins[each.name](handle) for each in enabled]
        self.plugins = made
        self.pre_enqueue_plugins: Points[PreEnqueue] = _those(made, PreEnqueue)
        self._pre_filters: Points[PreFilter] = _those(made, PreFilter)
        self._filters: Points[Filter] = _those(made, Filter)
        self._post_filters: Points[PostFilter] = _those(made, PostFilter)
        self._pre_scores: Points[PreScore] = _those(made, PreScore)
        weights = {each.name: each.weight for each in enabled}
        scores: Points[Score] = _those(made, Score)
        self._scores = [(name, plugin, weights[name]) for name, plugin in scores]
        self._reserves: Points[Reserve] = _those(made, Reserve)
        self._permits: Points[Permit] = _those(made, Permit)
        self._pre_binds: Points[PreBind] = _those(made, PreBind)
        self._binds: Points[Bind] = _those(made, Bind)
        self._post_binds: Points[PostBind] = _those(made, PostBind)
        sorters: Points[QueueSort] = _those(made, QueueSort)
        [(_, sorter)] = sorters
        self.sort_key = sorter.sort_key
        interested: Points[Interested] = _those(made, Interested)
        self.interests: Mapping[str, Sequence[Interest]] = {name: tuple(each.interests()) for name, each in interested}
        handle.profile = self

    # ---- the scheduling cycle

    def pre_enqueue(self, pod: Pod) -> Status | None:
        for name, plugin in self.pre_enqueue_plugins:
            status = plugin.pre_enqueue(pod)
            if status is not None:
                return _named(status, name)
        return None

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[frozenset[str] | None, set[str], Status | None]:
        """The nodes left (None: all), which plugins narrowed them down, and a refusal of all nodes at once."""
        nodes: frozenset[str] | None = None
        narrowed: set[str] = set()
        for name, plugin in self._pre_filters:
            result, status = plugin.pre_filter(state, pod)
            if status is not None and status.code is not Code.SKIP:
                return nodes, narrowed, _named(status, name)
            if status is not None:
                state.skip_filter.add(name)
            if result is not None:
                nodes = result.nodes if nodes is None else nodes & result.nodes
                narrowed.add(name)
        return nodes, narrowed, None

    def filters(self, state: CycleState) -> Callable[[Pod, NodeInfo], Status | None]:
        """The filters that this cycle needs, as one function: the first refusal counts."""
        active = [(name, plugin.filter) for name, plugin in self._filters if name not in state.skip_filter]

        def run(pod: Pod, node: NodeInfo) -> Status | None:
            for name, refuse in active:
                status = refuse(state, pod, node)
                if status is not None:
                    return _named(status, name)
            return None

        return run

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]:
        """The first plugin that makes room ends it; else all their reasons count."""
        reasons: list[str] = []
        for name, plugin in self._post_filters:
            victims, status = plugin.post_filter(state, pod, diagnosis)
            if status is None:
                return victims, None
            if not status.rejected or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return None, _named(status, name)
            reasons += status.reasons
        return None, unschedulable(*reasons)

    def score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int] | Status:
        """The weighted sum of all plugins' scores, per node."""
        for name, pre_score in self._pre_scores:
            status = pre_score.pre_score(state, pod, nodes)
            if status is None:
                continue
            if status.code is not Code.SKIP:
                return _named(status, name)
            state.skip_score.add(name)
        totals = [0] * len(nodes)
        for name, plugin, weight in self._scores:
            if name in state.skip_score:
                continue
            scores = [plugin.score(state, pod, node) for node in nodes]
            if isinstance(plugin, Normalize):
                scores = plugin.normalize(state, pod, scores)
            totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
        return totals

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._reserves:
            status = plugin.reserve(state, pod, node)
            if status is not None:
                self.unreserve(state, pod, node)
                return _named(status, name)
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
                return _named(status, name), 0.0
            held = max(held, seconds)
        return None, held

    # ---- the binding cycle

    async def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._pre_binds:
            status = await plugin.pre_bind(state, pod, node)
            if status is not None:
                return _named(status, name)
        return None

    async def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None:
        for name, plugin in self._binds:
            status = await plugin.bind(state, pod, node)
            if status is None:
                return None
            if status.code is not Code.SKIP:
                return _named(status, name)
        return failed("no plugin binds this pod")

    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        for _, plugin in self._post_binds:
            plugin.post_bind(state, pod, node)


def _those(plugins: Sequence[Plugin], point: Any) -> list[tuple[str, Any]]:
    """The plugins that implement an extension point."""
    return [(plugin.name, plugin) for plugin in plugins if isinstance(plugin, point)]
