"""The extension points: one protocol each, as in Kubernetes' scheduler framework. A plugin implements those it needs.

    PreEnqueue ─▶ (QueueSort) ─▶ PreFilter ─▶ Filter* ─▶ PostFilter        when no node is left
                                                    └──▶ PreScore ─▶ Score* ─▶ Normalize ─▶ Reserve ─▶ Permit
                                                             ─▶ PreBind ─▶ Bind ─▶ PostBind      in the binding cycle

Up to Permit everything is synchronous and reads the snapshot; the binding cycle may wait. Plugins answer `None` for success. A
plugin keeps nothing of a pod between cycles except in `CycleState`.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.types.core_v1 import Pod
from setpoint.client.client import ClientProtocol
from setpoint.client.events import EventRecorder
from setpoint.kit.clock import Clock
from setpoint.scheduler.board import Board, Budget
from setpoint.scheduler.events import ClusterEventWithHint
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.snapshot import NodeInfo, Snapshot
from setpoint.scheduler.status import Diagnosis, Status
from setpoint.scheduler.waiting_pods import WaitingPods

if TYPE_CHECKING:
    from setpoint.scheduler.nominator import Nominator
    from setpoint.scheduler.profile import Profile

T = TypeVar("T")
Work = Callable[[], Awaitable[None]]
MAX_SCORE = 100


class CycleState:
    """What plugins hand on from one extension point to the next, for one pod and one cycle."""

    __slots__ = ("_data", "board", "budget", "info", "skip_filter", "skip_score")

    def __init__(self, info: PodInfo) -> None:
        self.info = info
        self.budget = Budget(1 << 60)
        self.board = Board()
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()
        self._data: dict[type[Any], Any] = {}

    def write(self, value: object) -> None:
        """Keep `value` under its type."""
        self._data[type(value)] = value

    def read(self, kind: type[T]) -> T:
        """What was written of this type; KeyError if nothing was."""
        found: T = self._data[kind]
        return found

    def find(self, kind: type[T]) -> T | None:
        found: T | None = self._data.get(kind)
        return found

    def clone(self) -> CycleState:
        """A copy to try pods out on: what a plugin changes for that must have a `clone` of its own."""
        copy = CycleState(self.info)
        copy.skip_filter, copy.skip_score = self.skip_filter, self.skip_score
        copy.budget, copy.board = self.budget, self.board
        copy._data = {kind: value.clone() if hasattr(value, "clone") else value for kind, value in self._data.items()}
        return copy


class Lister(Protocol):
    """What is known of a collection: objects by `name` or `namespace/name`."""

    def get(self, key: str) -> Any: ...

    def list(self, namespace: str = "") -> list[Any]: ...


class Listers(Protocol):
    """The collections that plugins read; `on_change` calls back whenever one changes."""

    def of(self, resource: Resource[Any]) -> Lister: ...

    def on_change(self, resource: Resource[Any], changed: Callable[[], None]) -> None: ...


@dataclass(slots=True)
class Handle:
    """What a plugin may use. `profile` is set once its plugins are made; `waiting_pods` are those that Permit plugins hold.

    What PostFilter or Unreserve have to write goes to `later`, with a name for the log: it is done once they have returned.
    """

    client: ClientProtocol
    clock: Clock
    snapshot: Snapshot
    nominator: Nominator
    recorder: EventRecorder
    rng: random.Random
    listers: Listers
    waiting_pods: WaitingPods
    later: list[tuple[str, Work]] = field(default_factory=list)
    profile: Profile = field(init=False)


class PreFilterResult(Struct, frozen=True):
    """The only nodes worth a look."""

    nodes: frozenset[str]


class Victims(Struct, frozen=True):
    """Pods to evict from `node`, so that the pod may run there."""

    node: str
    pods: Sequence[Pod]


#: no node helps: what was promised to the pod before is taken back
NO_NODE = Victims("", ())


class Plugin(Protocol):
    """Every plugin has Kubernetes' name for it.

    A plugin with `local = True` promises that its Filter and Score go by nothing but the pod's shape (`PodInfo.shape`) and the
    node with its pods: then they are not asked again for the next pod of the same template while the node stays as it is.
    """

    name: str


def is_local(plugin: object) -> bool:
    return getattr(plugin, "local", False) is True


@runtime_checkable
class EnqueueExtensions(Protocol):
    """Says which events may help a pod that the plugin refused."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]: ...


@runtime_checkable
class PreEnqueue(Protocol):
    """May keep a pod out of the queue."""

    def pre_enqueue(self, pod: Pod) -> Status | None: ...


@runtime_checkable
class QueueSort(Protocol):
    """Orders the queue: the smaller key first, then whoever waited longer."""

    def sort_key(self, pod: Pod) -> int: ...


@runtime_checkable
class PreFilter(Protocol):
    """Looks at the pod once, before the nodes. SKIP switches the plugin's Filter off for this cycle."""

    def pre_filter(self, state: CycleState, pod: Pod) -> tuple[PreFilterResult | None, Status | None]: ...


@runtime_checkable
class Filter(Protocol):
    """Accepts or refuses one node."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None: ...


@runtime_checkable
class FilterAll(Protocol):
    """A Filter that is faster for many nodes at once (never during a trial)."""

    def filter_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[Status | None]: ...


@runtime_checkable
class PreFilterExtensions(Protocol):
    """For plugins whose Filter looks at other pods too: `other` comes to `node` on trial, or leaves it."""

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None: ...

    def remove_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> None: ...


@runtime_checkable
class PostFilter(Protocol):
    """Asked when no node is left: may make room. Its message ends the pod's; NO_NODE takes back what it was promised before."""

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[Victims | None, Status | None]: ...


@runtime_checkable
class PreScore(Protocol):
    """Looks at the feasible nodes once. SKIP switches the plugin's Score off for this cycle."""

    def pre_score(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> Status | None: ...


@runtime_checkable
class Score(Protocol):
    """Rates one feasible node, 0 to 100 (after normalising, if it does)."""

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int: ...


@runtime_checkable
class ScoreAll(Protocol):
    """A Score that is faster for many nodes at once."""

    def score_all(self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo]) -> list[int]: ...


@runtime_checkable
class Normalize(Protocol):
    """Brings the plugin's scores of all nodes to 0 to 100."""

    def normalize(self, state: CycleState, pod: Pod, scores: list[int]) -> list[int]: ...


@runtime_checkable
class Reserve(Protocol):
    """Takes something for the pod on its node; gives it back if the pod does not get there."""

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status | None: ...

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None: ...


@runtime_checkable
class Permit(Protocol):
    """The last word before binding: refuse, or hold for some seconds (code WAIT)."""

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status | None, float]: ...


@runtime_checkable
class PreBind(Protocol):
    """What must be done before the pod is bound."""

    async def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status | None: ...


@runtime_checkable
class PreFlight(Protocol):
    """A PreBind that says beforehand whether it has anything to do for the pod; then the pod's node is announced."""

    def pre_flight(self, state: CycleState, pod: Pod, node: str) -> bool: ...


@runtime_checkable
class Bind(Protocol):
    """Writes the binding; SKIP leaves it to the next plugin."""

    async def bind(self, state: CycleState, pod: Pod, node: str) -> Status | None: ...


@runtime_checkable
class PostBind(Protocol):
    """Told of a bound pod."""

    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None: ...


def default_normalize(scores: list[int], *, reverse: bool = False) -> list[int]:
    """Scale so that the greatest score is 100; `reverse` turns the order round (0 becomes 100)."""
    greatest = max(scores, default=0)
    if not greatest:
        return [MAX_SCORE] * len(scores) if reverse else scores
    scaled = [MAX_SCORE * score // greatest for score in scores]
    return [MAX_SCORE - score for score in scaled] if reverse else scaled
