"""How many pods of some kind stand in each domain of a topology key, kept up to date from the snapshot's journal.

What a count costs is what changed since it was last asked for, not how many pods there are: of those that are there already
only groups are looked at (pods with the same namespace and labels). Counts that nobody asked for lately are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from setpoint.scheduler.board import Budget
from setpoint.scheduler.node_info import NodeInfo
from setpoint.scheduler.pods import GroupKey, PodInfo
from setpoint.scheduler.snapshot import Snapshot

KEPT = 256  # counts
_MEMOS = 4096
COST = 20  # so many nodes are counted in the time in which one is asked for the first time

Means = Callable[[str, Any, bool], bool]
DomainOf = Callable[[NodeInfo], str | None]


class DomainCounts:
    """`means` says of namespace, labels and leaving which pods count; `domain_of` in which domain a node is, if in any."""

    def __init__(self, snapshot: Snapshot, means: Means, domain_of: DomainOf, *, with_empty: bool = False) -> None:
        self._snapshot = snapshot
        self._means = means
        self._domain_of = domain_of
        self._with_empty = with_empty
        self._memo: dict[GroupKey, bool] = {}
        self._epoch = -1
        self._position = 0
        self._domains: list[str] = [""]
        self._index: dict[str, int] = {}
        self._having: Counter[int] = Counter()  # how many domains have so many pods
        self.ids: list[int] = []  # by the nodes' slots: the number of the domain, 0 for none
        self.values: list[int] = [0]  # by the number of the domain
        self.counts: dict[str, int] = {}
        self.total = 0

    def catch_up(self) -> bool:
        """True if all had to be counted anew."""
        journal = self._snapshot.journal
        if self._epoch == self._snapshot.epoch:
            if self._position == journal.end:
                return False
            changes = journal.since(self._position)
            if changes is not None:
                for slot, sign, info in changes:
                    if info is not None and self.counts_pod(info):
                        self._add(slot, sign)
                self._position = journal.end
                return False
        self._recount()
        return True

    def _recount(self) -> None:
        self._epoch, self._position = self._snapshot.epoch, self._snapshot.journal.end
        self.counts, self.total, self._domains, self.values, self._index = {}, 0, [""], [0], {}
        self.ids = [0] * len(self._snapshot.slots)
        for node in self._snapshot.nodes:
            domain = self._domain_of(node)
            if domain is not None:
                self.ids[node.slot] = self._number(domain)
        if self._with_empty:
            self.counts = dict.fromkeys(self._index, 0)
        self._having = Counter({0: len(self._index)})
        for group, places in self._snapshot.groups:
            if self._means_group(group):
                for slot, count in places.items():
                    self._add(slot, count)

    def _number(self, domain: str) -> int:
        found = self._index.get(domain)
        if found is None:
            found = self._index[domain] = len(self._domains)
            self._domains.append(domain)
            self.values.append(0)
        return found

    def _add(self, slot: int, number: int) -> None:
        domain = self.ids[slot]
        if not domain:
            return
        before = self.values[domain]
        self.values[domain] = self.counts[self._domains[domain]] = before + number
        self.total += number
        self._having[before] -= 1
        if not self._having[before]:
            del self._having[before]
        self._having[before + number] += 1

    def counts_pod(self, info: PodInfo) -> bool:
        return self._means_group(info.group)

    def _means_group(self, group: GroupKey) -> bool:
        known = self._memo.get(group)
        if known is None:
            if len(self._memo) >= _MEMOS:
                self._memo.clear()
            namespace, labels, leaving = group
            known = self._memo[group] = self._means(namespace, dict(labels), leaving)
        return known

    def domain(self, node: NodeInfo) -> str | None:
        return self._domains[self.ids[node.slot]] if self.ids[node.slot] else None

    def lowest_but(self, domain: str | None, changed: int) -> int:
        """The smallest count of any domain, were that of `domain` greater by `changed`."""
        lowest = min(self._having)
        if not changed or domain is None or domain not in self.counts:
            return lowest
        mine = self.counts[domain]
        if len(self.counts) == 1:
            return mine + changed
        if mine == lowest and self._having[lowest] == 1:
            return min((*(count for count in self._having if count != lowest), mine + changed))
        return min(lowest, mine + changed)


class CountKeeper:
    """All counts of one snapshot, by what they count."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._kept: dict[Hashable, DomainCounts] = {}

    def get(self, key: Hashable, means: Means, domain_of: DomainOf, budget: Budget, *, with_empty: bool = False) -> DomainCounts:
        """The counts known as `key`, as of now; the functions are used if they are new. Counting anew is charged to `budget`."""
        found = self._kept.pop(key, None)
        if found is None:
            if len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            found = DomainCounts(self._snapshot, means, domain_of, with_empty=with_empty)
        self._kept[key] = found  # the newest at the end
        if found.catch_up():
            budget.spend(len(self._snapshot.slots) // COST)
        return found
