"""A rolling update of a DaemonSet: which old pods go, which nodes get a second pod. Pure.

As `rollingUpdate` in `pkg/controller/daemon/update.go`. Without a surge old pods are deleted, as many as may be unavailable, and
what is not available anyway goes at once and counts as unavailable until it is replaced; with a surge new pods are made beside
the old ones, which go when these are available, and where no pod belongs any more an old one goes when enough others are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types import apps_v1, core_v1
from setpoint.controllers.daemonset.nodes import Places
from setpoint.controllers.daemonset.status import ByNode
from setpoint.controllers.daemonset.versions import is_updated
from setpoint.controllers.owned_pods.state import is_available


class Pair(Struct, frozen=True):
    """The pods of a node that nobody has deleted, of the new version and of an older one."""

    new: core_v1.Pod | None
    old: core_v1.Pod | None


class Limits(Struct, frozen=True):
    """In pods."""

    surge: int
    unavailable: int


def limits(daemon_set: apps_v1.DaemonSet, desired: int) -> Limits:
    """Both are rounded up; if both are zero, one may be unavailable."""
    rolling = daemon_set.spec.update_strategy.rolling_update or apps_v1.RollingUpdateDaemonSet()
    surge, unavailable = _scaled(rolling.max_surge, 0, desired), _scaled(rolling.max_unavailable, 1, desired)
    return Limits(surge, 1 if desired and not surge and not unavailable else unavailable)


def allows_surge(daemon_set: apps_v1.DaemonSet) -> bool:
    rolling = daemon_set.spec.update_strategy.rolling_update
    if daemon_set.spec.update_strategy.type != "RollingUpdate" or rolling is None:
        return False
    return _scaled(rolling.max_surge, 0, 1) > 0


def _scaled(value: int | str | None, default: int, whole: int) -> int:
    if value is None:
        return default
    return value if isinstance(value, int) else math.ceil(int(value.removesuffix("%")) * whole / 100)


class Rollout:
    """One decision over all nodes, in the order of their names."""

    def __init__(self, daemon_set: apps_v1.DaemonSet, places: Places, by_node: ByNode, hash_: str, now: float) -> None:
        self._set = daemon_set
        self._places = places
        self._now = now
        self._hash = hash_
        wanted = [name for name, (run, _) in places.items() if run]
        self._limits = limits(daemon_set, len(wanted))
        self._pairs = {name: self._pair(by_node.get(name, ())) for name in sorted({*by_node, *wanted})}

    def decide(self) -> tuple[list[str], list[core_v1.Pod]]:
        """(nodes that get a pod, pods that are deleted)."""
        return self._surge() if self._limits.surge else ([], self._replace())

    def _pair(self, pods: Sequence[core_v1.Pod]) -> Pair | None:
        """None where there are several of one kind, which is to be set right first."""
        left = [pod for pod in pods if not pod.metadata.deletion_timestamp]
        new = [pod for pod in left if is_updated(self._set, pod, self._hash)]
        old = [pod for pod in left if not is_updated(self._set, pod, self._hash)]
        return Pair(new[0] if new else None, old[0] if old else None) if len(new) < 2 and len(old) < 2 else None

    def _available(self, pod: core_v1.Pod) -> bool:
        return is_available(pod, self._set.spec.min_ready_seconds, self._now)

    def _replace(self) -> list[core_v1.Pod]:
        unavailable = 0
        at_once: list[core_v1.Pod] = []
        candidates: list[core_v1.Pod] = []
        for pair in self._pairs.values():
            if pair is None or (pair.old is None) == (pair.new is None):
                unavailable += 1
            elif pair.new is not None:
                unavailable += not self._available(pair.new)
            elif pair.old is not None:
                available = self._available(pair.old)
                unavailable += not available
                (candidates if available else at_once).append(pair.old)
        return at_once + candidates[: max(0, self._limits.unavailable - unavailable)]

    def _surge(self) -> tuple[list[str], list[core_v1.Pod]]:
        surging = 0
        at_once: list[str] = []
        candidates: list[str] = []
        delete: list[core_v1.Pod] = []
        misplaced: list[core_v1.Pod] = []
        for name, pair in self._pairs.items():
            if pair is None:
                surging += 1
            elif pair.old is None:
                continue
            elif pair.new is None:
                available = self._available(pair.old)
                if self._runs(name):
                    (candidates if available else at_once).append(name)
                elif name in self._places:
                    (misplaced if available else delete).append(pair.old)
            elif self._available(pair.new):
                delete.append(pair.old)
            else:
                surging += 1
        spare = max(0, self._count_available() - sum(map(self._runs, self._places)))
        return at_once + candidates[: max(0, self._limits.surge - surging)], delete + misplaced[:spare]

    def _runs(self, node: str) -> bool:
        return self._places.get(node, (False, False))[0]

    def _count_available(self) -> int:
        """Over all nodes; where there are two, the old pod counts."""
        pods = (pair.old or pair.new for pair in self._pairs.values() if pair is not None)
        return sum(self._available(pod) for pod in pods if pod is not None)
