"""What a plugin answers: `None` for success, a `Status` for everything else; and what a pod hears when no node is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import IntEnum

from msgspec import Struct, field


class Code(IntEnum):
    """The codes of Kubernetes' scheduler framework. Success is `None` in place of a Status."""

    ERROR = 1  # the scheduler's fault: try again later
    UNSCHEDULABLE = 2  # not now; evicting other pods might help
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3  # not now, whatever is evicted
    WAIT = 4  # Permit: hold the pod
    SKIP = 5  # this plugin has nothing to say of this pod (or, for Bind, does not bind it)
    PENDING = 6  # something else must happen first; no backoff when it has


REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


class Status(Struct, frozen=True):
    """A plugin's answer. `reasons` are counted per node and shown to the user, so they name no particulars of a node."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    @property
    def rejected(self) -> bool:
        return self.code in REJECTED


SKIP = Status(Code.SKIP)


def named(status: Status, plugin: str) -> Status:
    """The same status, from `plugin`. Remembered, so that the refusals of many nodes are one object."""
    if status.plugin == plugin:
        return status
    key = (status, plugin)
    found = _named.get(key)
    if found is None:
        if len(_named) >= _MAX_NAMED:
            _named.clear()
        found = _named[key] = Status(status.code, status.reasons, plugin)
    return found


_named: dict[tuple[Status, str], Status] = {}
_MAX_NAMED = 4096


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def failed(reason: str) -> Status:
    return Status(Code.ERROR, (reason,))


def failed_at(point: str, status: Status) -> Status:
    """An error says at which extension point it came about; the caller has put the plugin's name in."""
    if status.code is not Code.ERROR:
        return status
    return Status(Code.ERROR, (f'running {point} plugin "{status.plugin}": {status.message}',), status.plugin)


NO_NODES = "no nodes available to schedule pods"


class Diagnosis(Struct):
    """Why each node was refused. Nodes that no filter looked at share `absent`, if a PreFilter ruled them out."""

    nodes: dict[str, Status] = field(default_factory=dict)
    absent: Status | None = None
    plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    others: Sequence[tuple[str, Status]] = ()  # refusals that matter only when the nodes that fit are ruled out, too

    def refuse(self, node: str, status: Status) -> None:
        self.nodes[node] = status
        self.blame(status)

    def refuse_others(self) -> None:
        for node, status in self.others:
            self.refuse(node, status)

    def blame(self, status: Status) -> None:
        if status.plugin:
            (self.pending_plugins if status.code is Code.PENDING else self.plugins).add(status.plugin)

    def status_of(self, node: str) -> Status | None:
        return self.nodes.get(node, self.absent)


class FitError(Exception):
    """No node fits. The text is Kubernetes' own: reasons counted over the nodes, sorted as text."""

    def __init__(self, total: int, diagnosis: Diagnosis) -> None:
        super().__init__()
        self.total = total
        self.diagnosis = diagnosis

    def __str__(self) -> str:
        if not self.total:
            return NO_NODES
        diagnosis = self.diagnosis
        parts = [f"0/{self.total} nodes are available:"]
        if diagnosis.pre_filter_message:
            parts.append(f"{diagnosis.pre_filter_message}.")
        elif reasons := self._reasons():
            parts.append(f"{', '.join(reasons)}.")
        if diagnosis.post_filter_message:
            parts.append(diagnosis.post_filter_message)
        return " ".join(parts)

    def _reasons(self) -> list[str]:
        counts: Counter[str] = Counter()
        statuses = [*self.diagnosis.nodes.values()]
        same = Counter(map(id, statuses))  # the refusals of many nodes are few objects
        for status in {id(status): status for status in statuses}.values():
            for reason in status.reasons:
                counts[reason] += same[id(status)]
        others = self.total - len(self.diagnosis.nodes)
        if others and self.diagnosis.absent is not None:
            for reason in self.diagnosis.absent.reasons:
                counts[reason] += others
        return sorted(f"{count} {reason}" for reason, count in counts.items())


def refused_by_the_chosen(node: str, status: Status) -> str:
    """What a pod hears whose node was found, and taken from it again before the binding."""
    return str(FitError(1, Diagnosis(nodes={node: status})))
