"""What the pods of a namespace use of one quota. What has not changed since the last count is not looked into again.

Pods of one template use the same, so what one of them uses is kept once and multiplied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from setpoint.api.machinery import quantity, quota
from setpoint.api.machinery.quota import Amounts
from setpoint.api.types.core_v1 import PODS, Pod

_PODS = PODS.group_resource
_SCOPES = ("scopes", "scopeSelector")
"""What of a quota's spec, beside the names under which it counts, says which pods it is about."""
_SPARE = 64
"""Kinds of usage that are kept beside those of present pods, before all are reckoned anew."""


class PodCounts:
    """For a quota with this `spec`, under these names of it."""

    def __init__(self, spec: Mapping[str, Any], names: Iterable[str]) -> None:
        self.spec = spec
        self._names = frozenset(names)
        self._known: dict[str, tuple[Pod, int]] = {}
        self._kinds: list[Amounts] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._alike: dict[bytes, int] = {}

    def asks_for(self, spec: Mapping[str, Any], names: Iterable[str]) -> bool:
        """Whether a quota counts what this counts: how much is allowed changes nothing."""
        return all(spec.get(part) == self.spec.get(part) for part in _SCOPES) and self._names == frozenset(names)

    def total(self, pods: Iterable[Pod], now: float) -> Amounts:
        """What all of them use together."""
        known, fresh, numbers = self._known, dict[str, tuple[Pod, int]](), list[int]()
        for pod in pods:
            meta = pod.metadata
            before = known.get(meta.uid)
            number = before[1] if before is not None and _same(before[0], pod) else self._number(pod, now)
            if not meta.deletion_timestamp:  # one that is being deleted uses nothing from some moment on
                fresh[meta.uid] = (pod, number)
            numbers.append(number)
        self._known = fresh
        total = self._sum(Counter(numbers))
        if max(len(self._kinds), len(self._alike)) > len(fresh) + _SPARE:
            self._known, self._kinds, self._numbers, self._alike = {}, [], {}, {}
        return total

    def _sum(self, counts: Mapping[int, int]) -> Amounts:
        total: Amounts = {}
        for number, count in counts.items():
            for name, value in self._kinds[number].items():
                total[name] = total.get(name, quantity.ZERO) + value * count
        return total

    def _number(self, pod: Pod, now: float) -> int:
        """The number of the kind of usage that the pod has.

        Which pods are alike can be told for a fiftieth of what reckoning costs, but neither of those on their way out, which
        time decides upon, nor where scopes ask for more.
        """
        if pod.metadata.deletion_timestamp or any(self.spec.get(part) for part in _SCOPES):
            return self._reckoned(pod, now)
        asked = _asked(pod)
        number = self._alike.get(asked)
        if number is None:
            number = self._alike[asked] = self._reckoned(pod, now)
        return number

    def _reckoned(self, pod: Pod, now: float) -> int:
        used = self._usage(msgspec.to_builtins(pod), now)
        key = tuple((name, value.nanos, value.format) for name, value in used.items())
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._kinds)
            self._kinds.append(used)
        return number

    def _usage(self, pod: Mapping[str, Any], now: float) -> Amounts:
        if not quota.in_scope(self.spec, _PODS, pod):
            return {}
        return {name: value for name, value in quota.usage(_PODS, pod, now).items() if name in self._names}


def _asked(pod: Pod) -> bytes:
    """All that decides what a pod uses."""
    spec = pod.spec
    first = [(each.resources, each.restart_policy) for each in spec.init_containers]
    return msgspec.json.encode(
        (pod.status.phase, spec.resources, spec.overhead, [each.resources for each in spec.containers], first)
    )


def _same(before: Pod, pod: Pod) -> bool:
    """Whether it uses what it used before: its spec decides, whether it is over, and its class."""
    if before is pod:
        return True
    was, now = before.status, pod.status
    alike = was.phase == now.phase and was.qos_class == now.qos_class and not pod.metadata.deletion_timestamp
    return alike and before.spec == pod.spec
