"""What a profile's local plugins said of one shape of pods, node by node: the next pod of the shape need not ask again.

Columns by the nodes' slots. The snapshot's journal says which nodes changed since; only these are asked again, and only when a
search comes to them. So a pod of a known template costs one comparison per node that it looks at.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from setpoint.scheduler.snapshot import Snapshot
from setpoint.scheduler.status import Code, Status

UNKNOWN: Final = Status(Code.ERROR, ("not asked yet",))
BOARDS = 64  # shapes of pods remembered
MARKS = 1000  # and two for each node: different marks remembered
FRESH = 200  # nodes that one slice of work may ask for the first time: with every plugin some 2 ms


class Unfinished(Exception):
    """The slice of work has been long enough; go on in the next one. What was found out is kept."""


class Budget:
    """How many more nodes this slice may ask; `again` in a slice that goes on with what an earlier one began."""

    __slots__ = ("again", "left")

    def __init__(self, left: int = FRESH, *, again: bool = False) -> None:
        self.left = left
        self.again = again

    def spend(self, amount: int = 1) -> None:
        """Raises Unfinished when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Unfinished


class Board:
    """See the module. In `refusals` None fits; `scores` and `unscaled` are of local Score plugins, `notes` whatever else."""

    __slots__ = ("_position", "notes", "refusals", "same_marks", "scores", "unscaled")

    def __init__(self) -> None:
        self._position = -1
        self.refusals: list[Status | None] = []
        self.scores: list[int | None] = []
        self.unscaled: list[tuple[int, ...]] = []
        self.same_marks: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal marks are one object: quick to compare
        self.notes: dict[int, dict[Hashable, Any]] = {}

    def catch_up(self, snapshot: Snapshot) -> None:
        journal = snapshot.journal
        changes = journal.since(self._position) if self._position >= 0 else None
        self._position = journal.end
        if changes is None:
            self.refusals, self.scores, self.unscaled, self.notes = [], [], [], {}
        if len(self.same_marks) > MARKS + 2 * len(snapshot.slots):
            self.same_marks = {}
        missing = len(snapshot.slots) - len(self.refusals)
        if missing > 0:
            self.refusals += [UNKNOWN] * missing
            self.scores += [None] * missing
            self.unscaled += [()] * missing
        for slot, _, _ in changes or ():
            self.refusals[slot] = UNKNOWN
            self.scores[slot] = None
            self.notes.pop(slot, None)

    def notes_on(self, slot: int) -> dict[Hashable, Any]:
        """They are gone when the node, its pods, or whom it is promised to change."""
        return self.notes.setdefault(slot, {})


class Boards:
    """The boards of one profile, by shape; the ones used longest ago go."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._kept: dict[bytes, Board] = {}

    def forget(self) -> None:
        self._kept.clear()

    def get(self, shape: bytes) -> Board:
        """As of now."""
        board = self._kept.pop(shape, None)
        if board is None:
            if len(self._kept) >= BOARDS:
                del self._kept[next(iter(self._kept))]
            board = Board()
        self._kept[shape] = board
        board.catch_up(self._snapshot)
        return board
