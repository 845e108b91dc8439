"""The plugins of one scheduler, sorted by extension point, and how each point is run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

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
    is_local,
)
from setpoint.scheduler.registry import DEFAULT_PROFILE, PLUGINS, Enabled, Factory
from setpoint.scheduler.snapshot import NodeInfo, Verdict
from setpoint.scheduler.status import Code, Diagnosis, Status, failed, unschedulable

T = TypeVar("T")
Refuse = Callable[[Pod, NodeInfo], Status | None]
Points = list[tuple[str, T]]


def _named(status: Status, plugin: str) -> Status:
    return status if status.plugin == plugin else Status(status.code, status.reasons, plugin)


class _Scorer(Struct, frozen=True):
    """A Score plugin of a profile."""

    name: str
    score: Callable[[CycleState, Pod, NodeInfo], int]
    normalize: Callable[[CycleState, Pod, list[int]], list[int]] | None
    weight: int
    local: bool


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
        # Only what comes before the first filter that looks further is local: the order decides which reason a node gives.
        locals_first = itertools.takewhile(lambda point: is_local(point[1]), _those(made, Filter))
        self._local_filters: Points[Filter] = [*locals_first]
        self._other_filters = self._filters[len(self._local_filters) :]
        self._post_filters: Points[PostFilter] = _those(made, PostFilter)
        self._pre_scores: Points[PreScore] = _those(made, PreScore)
        weights = {each.name: each.weight for each in enabled}
        self._scores = [_scorer(plugin, weights[plugin.name]) for plugin in made if isinstance(plugin, Score)]
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

    def filters(self, state: CycleState) -> Refuse:
        """The filters that this cycle needs, as one function: the first refusal counts."""
        return _chain(state, self._filters)

    def remembering_filters(self, state: CycleState) -> Refuse:
        """The same, for nodes as they are: what local filters said of the shape before is not asked again."""
        local = _chain(state, self._local_filters)
        other = _chain(state, self._other_filters) if self._other_filters else None
        shape = state.info.shape

        def run(pod: Pod, node: NodeInfo) -> Status | None:
            verdict = node.verdicts.get(shape)
            if verdict is None:
                verdict = Verdict(local(pod, node))
                node.remember(shape, verdict)
            if verdict.refusal is not None or other is None:
                return verdict.refusal
            return other(pod, node)

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
        active = [each for each in self._scores if each.name not in state.skip_score]
        plain = [each for each in active if each.local and each.normalize is None]
        scaled = [each for each in active if each.local and each.normalize is not None]
        verdicts = [_scored(state, pod, node, plain, scaled) for node in nodes]
        totals = [verdict.score or 0 for verdict in verdicts]
        for index, each in enumerate(scaled):
            _add(totals, each, state, pod, [verdict.unscaled[index] for verdict in verdicts])
        for each in active:
            if not each.local:
                _add(totals, each, state, pod, [each.score(state, pod, node) for node in nodes])
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


def _chain(state: CycleState, filters: Points[Filter]) -> Refuse:
    active = [(name, plugin.filter) for name, plugin in filters if name not in state.skip_filter]

    def run(pod: Pod, node: NodeInfo) -> Status | None:
        for name, refuse in active:
            status = refuse(state, pod, node)
            if status is not None:
                return _named(status, name)
        return None

    return run


def _scorer(plugin: Any, weight: int) -> _Scorer:
    normalize = plugin.normalize if isinstance(plugin, Normalize) else None
    return _Scorer(plugin.name, plugin.score, normalize, weight, is_local(plugin))


def _scored(state: CycleState, pod: Pod, node: NodeInfo, plain: Sequence[_Scorer], scaled: Sequence[_Scorer]) -> Verdict:
    """The node's verdict with the scores that need no other node."""
    verdict = node.verdicts.get(state.info.shape) or Verdict(None)
    if verdict.score is None:
        verdict.score = sum(each.weight * each.score(state, pod, node) for each in plain)
        verdict.unscaled = tuple(each.score(state, pod, node) for each in scaled)
    return verdict


def _add(totals: list[int], scorer: _Scorer, state: CycleState, pod: Pod, scores: list[int]) -> None:
    """Add a plugin's scores, normalised and weighted; where all are equal they decide nothing."""
    if min(scores) == max(scores):
        return
    if scorer.normalize is not None:
        scores = scorer.normalize(state, pod, scores)
    for index, score in enumerate(scores):
        totals[index] += scorer.weight * score


def _those(plugins: Sequence[Plugin], point: Any) -> list[tuple[str, Any]]:
    """The plugins that implement an extension point; `isinstance` says the same of a protocol, forty times slower."""
    methods = [name for name in vars(point) if not name.startswith("_")]
    return [(plugin.name, plugin) for plugin in plugins if all(hasattr(plugin, name) for name in methods)]
