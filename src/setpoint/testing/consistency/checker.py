"""Whether a history could come from one store that does one thing at a time.

The model: a map from keys to objects and one counter. A write happens at one moment between its call and its answer, judges what
is there, and takes the next number. A read shows the map as it is at one moment between call and answer. A list shows the
whole map at the revision that it names, all its pages the same one. A watch tells every write after its begin, once, in order.

Since the store numbers its writes, their order need not be guessed; what is left to find is a moment for every read and every
refusal. Each takes the earliest that what was known at its call allows, which leaves the most room for those that follow,
so a history for which this fails has no explanation.

    history of three clients            numbers     moments
    1: create a ──────────── done 7        7           7
    2:       get a ── a@7                             7     its moment is 7 or later, before any later write of a
    3:               get a ── missing                 ✗     called after 2 had seen a@7, and nothing deleted a: stale
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from itertools import pairwise

from setpoint.testing.consistency.history import History, Listing, Operation, Version, Watching
from setpoint.testing.consistency.truth import Truth

Place = Callable[[Version | None], bool]


def check(history: History) -> list[str]:
    """Everything that is wrong with a history, each in a line; empty when it is consistent."""
    truth = Truth(history)
    faults = list(truth.faults)
    faults += _writes(truth)
    faults += _Moments(history, truth).check()
    for listing in history.listings:
        faults += _listing(listing, truth)
    for watching in history.watches:
        faults += _watch(watching, truth)
    return faults


# ---- each write against what it found


def _writes(truth: Truth) -> Iterable[str]:
    for revision, version in truth.by_revision.items():
        before = truth.at(version.key, revision - 1)
        writer = truth.writers.get(revision)
        verb = writer.verb if writer is not None else "delete" if version.deleted else ""
        if writer is not None and writer.key != version.key:
            yield f"{writer.token or writer.verb} of {writer.key} came out as {version}"
        if verb == "create" and before is not None:
            yield f"{version.key} was created at {revision}, though it was there since {before.revision}"
        elif verb in ("update", "delete") and before is None:
            yield f"{version.key} was {verb}d at {revision}, though it was not there"
        elif writer is not None and writer.expect and before is not None and before.revision != writer.expect:
            yield f"{version.key} was {verb}d at {revision} from {before.revision}, though {writer.expect} was expected"
        if before is not None and verb in ("update", "delete") and before.life != version.life:
            yield f"{version.key} changed its identity at {revision}: {before.life}, then {version.life}"


# ---- a moment for everything


class _Moments:
    """Finds a revision for each operation, in the order of their calls."""

    def __init__(self, history: History, truth: Truth) -> None:
        self._history = history
        self._truth = truth
        self._faults: list[str] = []
        #: what was known when: moments of answers, and the highest revision that must have been reached by then
        self._answered: list[tuple[int, int]] = []

    def check(self) -> list[str]:
        pending: list[tuple[int, int]] = []  # (returned, revision) of those placed, not yet merged
        latest = self._last_moments()
        floor = 0
        for called, work in self._in_order():
            pending.sort()
            while pending and pending[0][0] < called:
                floor = max(floor, pending.pop(0)[1])
            ceiling = latest(work.returned)
            revision = self._list(work, floor, ceiling) if isinstance(work, Listing) else self._place(work, floor, ceiling)
            if work.returned and revision:
                pending.append((work.returned, revision))
        return self._faults

    def _in_order(self) -> list[tuple[int, Operation | Listing]]:
        work: list[Operation | Listing] = [*self._history.operations, *(each for each in self._history.listings if each.fresh)]
        return sorted(((each.called, each) for each in work), key=lambda pair: pair[0])

    def _last_moments(self) -> Callable[[int], int]:
        """For a moment: the revision below which everything is that had returned by then, since later calls wrote it."""
        writes = sorted((writer.called, revision) for revision, writer in self._truth.writers.items())
        lowest: list[int] = []
        for _, revision in reversed(writes):
            lowest.append(min(revision, lowest[-1]) if lowest else revision)
        lowest.reverse()

        def before(returned: int) -> int:
            place = bisect_left(writes, (returned, 0)) if returned else len(writes)
            return lowest[place] - 1 if place < len(writes) else 1 << 62

        return before

    def _place(self, operation: Operation, floor: int, ceiling: int) -> int:
        """The operation's revision, 0 if it has none; a fault when there is no place for it."""
        if operation.verb != "get" and operation.outcome in ("done", "unknown"):
            revision = operation.revision or self._truth.written(operation.token)
            if revision and not floor < revision <= ceiling:
                self._faults.append(
                    f"{_name(operation)} has revision {revision}, though {floor} was known before its call"
                    + (f" and {ceiling + 1} was written after its answer" if revision > ceiling else "")
                )
            return revision
        wanted = _wanted(operation)
        if wanted is None:
            return 0
        for begin, end, version in self._truth.spans(operation.key, floor):
            if begin > ceiling:
                break
            if end >= floor and wanted(version):
                return begin
        self._faults.append(
            f"{_name(operation)} answered {operation.found or operation.outcome}, which was not so at any revision from {floor}"
            + (f" to {ceiling}" if ceiling < 1 << 62 else " on")
        )
        return 0

    def _list(self, listing: Listing, floor: int, ceiling: int) -> int:
        if not floor <= listing.revision <= ceiling:
            self._faults.append(
                f"client {listing.client} listed {listing.prefix} at {listing.revision}, though {floor} was known before"
                + (f", and {ceiling + 1} was written after" if listing.revision > ceiling else "")
            )
        return listing.revision


def _wanted(operation: Operation) -> Place | None:
    """What must have been there for this answer; None when anything may have."""
    if operation.verb == "get":
        if operation.outcome == "done":
            return lambda version: version == operation.found
        return (lambda version: version is None) if operation.outcome == "missing" else None
    places: dict[str, Place] = {
        "exists": lambda version: version is not None,
        "missing": lambda version: version is None,
        "conflict": lambda version: version is not None and version.revision != operation.expect,
    }
    return places.get(operation.outcome)


def _name(operation: Operation) -> str:
    return f"client {operation.client}'s {operation.verb} of {operation.key} (called at {operation.called})"


# ---- lists and watches


def _listing(listing: Listing, truth: Truth) -> Iterable[str]:
    expected = truth.snapshot(listing.prefix, listing.revision)
    where = f"the list of {listing.prefix} at {listing.revision}"
    if listing.items != expected:
        missing = [version for version in expected if version not in listing.items]
        strange = [version for version in listing.items if version not in expected]
        yield (
            f"{where} is no snapshot: it lacks {missing} and has {strange}" if missing or strange else f"{where} is not in order"
        )
    for read, remaining in listing.remaining:
        if remaining >= 0 and remaining != len(expected) - read:
            yield f"{where} said that {remaining} remain after {read} of {len(expected)}"


def _watch(watching: Watching, truth: Truth) -> Iterable[str]:
    told = [seen.version for seen in watching.events]
    where = f"client {watching.client}'s watch of {watching.prefix} after {watching.after}"
    for one, next_one in pairwise([watching.after, *(version.revision for version in told)]):
        if next_one <= one:
            yield f"{where} told {next_one} after {one}"
    expected = truth.events(watching.prefix, watching.after, watching.until)
    heard = set(told)
    for version in expected:
        if version not in heard:
            yield f"{where} left out {version}, though it went on to {watching.until}"
    for seen in watching.events:
        version = seen.version
        before = truth.at(version.key, version.revision - 1)
        kind = "DELETED" if version.deleted else "ADDED" if before is None else "MODIFIED"
        if seen.type != kind:
            yield f"{where} called {version} {seen.type}, which is {kind}"
        if not version.key.startswith(watching.prefix):
            yield f"{where} told of {version}"
