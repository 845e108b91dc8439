"""What clients asked and what they were told, in the order in which they could know it.

Every moment is a number from one counter, shared by all clients of a history: if an operation returned before another was
called, its `returned` is smaller than the other's `called`. Nothing depends on wall time.

A write says what it wrote by a `token` of its own, so that wherever its content turns up it is known whose it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field

Verb = Literal["create", "update", "delete", "get"]
#: done: it happened. exists, conflict, missing: refused for what was there. failed: it is known not to have happened.
#: unknown: the answer was lost.
Outcome = Literal["done", "exists", "conflict", "missing", "failed", "unknown"]


class Version(Struct, frozen=True):
    """One write as someone saw it. `token` is "" for a deletion; `life` tells one object of a key from the next."""

    key: str
    revision: int
    token: str
    life: str

    @property
    def deleted(self) -> bool:
        return not self.token


class Operation(Struct):
    """A write or a read of one object. `expect` is the revision that a write insisted on, 0 for any.

    `found` is what a get read; `revision` the one that a write was told, 0 where the answer does not tell it (a deletion over
    the wire); `life` the object that a deletion ended, if it is known.
    """

    client: int
    verb: Verb
    key: str
    called: int
    token: str = ""
    expect: int = 0
    returned: int = 0
    outcome: Outcome = "unknown"
    revision: int = 0
    life: str = ""
    found: Version | None = None


class Listing(Struct):
    """A list, in one piece or in pages. `fresh`: it was to be as new as anything acknowledged (no resourceVersion was given).

    `remaining` is what each page but the last said is still to come (-1: it said nothing), with how many had been read.
    """

    client: int
    prefix: str
    called: int
    fresh: bool = True
    returned: int = 0
    revision: int = 0
    items: list[Version] = field(default_factory=list)
    remaining: list[tuple[int, int]] = field(default_factory=list)


class Seen(Struct, frozen=True):
    """An event of a watch: what it was called and what it brought."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    version: Version


class Watching(Struct):
    """One watch from its begin to its end: everything under `prefix` with a revision in (`after`, `until`].

    `until` is the revision up to which it said it has told everything: that of its last event or bookmark.
    """

    client: int
    prefix: str
    after: int
    until: int = 0
    events: list[Seen] = field(default_factory=list)


class History:
    """All that was recorded. Records are added when called, so one whose answer never came is there, `unknown`."""

    def __init__(self) -> None:
        self._moments = itertools.count(1)
        self.answers = 0
        self.operations: list[Operation] = []
        self.listings: list[Listing] = []
        self.watches: list[Watching] = []

    def now(self) -> int:
        return next(self._moments)

    def call(self, client: int, verb: Verb, key: str, *, token: str = "", expect: int = 0) -> Operation:
        operation = Operation(client, verb, key, self.now(), token, expect)
        self.operations.append(operation)
        return operation

    def answer(self, operation: Operation, outcome: Outcome) -> None:
        self.answers += 1
        operation.returned = self.now()
        operation.outcome = outcome

    def list_called(self, client: int, prefix: str, *, fresh: bool = True) -> Listing:
        """A list that begins; it counts once `list_answered` was called."""
        return Listing(client, prefix, self.now(), fresh)

    def list_answered(self, listing: Listing) -> None:
        listing.returned = self.now()
        self.listings.append(listing)

    def watch_called(self, client: int, prefix: str, after: int) -> Watching:
        watching = Watching(client, prefix, after, after)
        self.watches.append(watching)
        return watching

    def sightings(self) -> Sequence[Version]:
        """Every version that anyone saw."""
        gets = [operation.found for operation in self.operations if operation.found is not None]
        lists = [item for listing in self.listings for item in listing.items]
        events = [seen.version for watching in self.watches for seen in watching.events]
        return [*gets, *lists, *events]
