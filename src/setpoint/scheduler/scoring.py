"""Rates feasible nodes: every Score plugin's mark, brought to 0 to 100, times its weight, added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from setpoint.api.types.core_v1 import Pod
from setpoint.scheduler.board import Board
from setpoint.scheduler.candidates import candidates, each_once, plus
from setpoint.scheduler.framework import CycleState, Normalize, PreScore, is_local
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Code, Status, named

ScoreOne = Callable[[CycleState, Pod, NodeInfo], int]
ScoreMany = Callable[[CycleState, Pod, Sequence[NodeInfo]], list[int]]


class _Scorer(Struct, frozen=True):
    """A Score plugin of a profile."""

    name: str
    score: ScoreOne
    score_all: ScoreMany
    normalize: Callable[[CycleState, Pod, list[int]], list[int]] | None
    weight: int
    local: bool


class Scoring:
    """See the module. Local plugins are asked once per shape and node: the board remembers."""

    def __init__(
        self, pre_scores: Sequence[tuple[str, PreScore]], scores: Sequence[tuple[str, Any]], weights: Mapping[str, int]
    ) -> None:
        self._pre_scores = pre_scores
        self._scorers = [_scorer(name, plugin, weights.get(name) or 1) for name, plugin in scores]

    def score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], board: Board) -> list[int] | Status:
        for name, pre_score in self._pre_scores:
            status = pre_score.pre_score(state, pod, nodes)
            if status is None:
                continue
            if status.code is not Code.SKIP:
                return named(status, name)
            state.skip_score.add(name)
        active = [each for each in self._scorers if each.name not in state.skip_score]
        totals, unscaled = _local_scores(state, pod, nodes, board, [each for each in active if each.local])
        for each, scores in unscaled:
            _add(totals, each, state, pod, scores)
        for each in active:
            if not each.local:
                _add(totals, each, state, pod, each.score_all(state, pod, nodes))
        return totals


def _local_scores(
    state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], board: Board, scorers: Sequence[_Scorer]
) -> tuple[list[int], list[tuple[_Scorer, list[int]]]]:
    """The sums of those that need not be normalised; and the marks of the others."""
    plain = [each for each in scorers if each.normalize is None]
    scaled = [each for each in scorers if each.normalize is not None]
    scores, unscaled = board.scores, board.unscaled
    gather = candidates(nodes).gather
    totals = [*gather(scores)]
    if None in totals:
        for index, total in enumerate(totals):
            if total is None:
                node = nodes[index]
                totals[index] = scores[node.slot] = sum(each.weight * each.score(state, pod, node) for each in plain)
                marks = tuple([each.score(state, pod, node) for each in scaled])
                unscaled[node.slot] = board.same_marks.setdefault(marks, marks)
    all_marks = gather(unscaled)
    if all_marks.count(all_marks[0]) == len(all_marks):
        return totals, []  # equal everywhere: they decide nothing
    return totals, [(each, [marks[index] for marks in all_marks]) for index, each in enumerate(scaled)]


def _add(totals: list[int], scorer: _Scorer, state: CycleState, pod: Pod, scores: list[int]) -> None:
    """Add a plugin's scores, normalised and weighted; where all are equal they decide nothing."""
    if min(scores) == max(scores):
        return
    if scorer.normalize is not None:
        scores = scorer.normalize(state, pod, scores)
    weight = scorer.weight
    totals[:] = plus(totals, scores if weight == 1 else each_once(weight.__mul__, scores))


def _scorer(name: str, plugin: Any, weight: int) -> _Scorer:
    one: ScoreOne | None = getattr(plugin, "score", None)

    def each(state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int]:
        return [plugin.score(state, pod, node) for node in nodes]

    many: ScoreMany = getattr(plugin, "score_all", each)
    return _Scorer(
        name, one or plugin.score_all, many, plugin.normalize if isinstance(plugin, Normalize) else None, weight, is_local(plugin)
    )
