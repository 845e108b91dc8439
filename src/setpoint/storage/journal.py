"""What a local backend is made of: the thing that makes writes durable. Everything else is the same for all (`local.LocalStore`).

Rows are the writes themselves, in the order of their revisions, superseded ones and deletions (value None) included: so
history outlives a restart and watches resume.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from setpoint.storage.protocol import Describe, Record, StoreError


class Row(NamedTuple):
    """One write: `expires` is seconds since the epoch, 0 for never; `value` is None for a deletion."""

    revision: int
    key: str
    created: int
    expires: float
    value: bytes | None


class StoredRecord(Record):
    """A record read from disk: its selection is computed when first asked for."""

    __slots__ = ("_describe",)

    def __init__(self, key: str, value: bytes, revision: int, created: int, describe: Describe) -> None:
        self.key = key
        self.value = value
        self.revision = revision
        self.created = created
        self.forms = None
        self._describe = describe

    def __getattr__(self, name: str) -> object:
        # Reached only while the slot is empty.
        if name != "selection":
            raise AttributeError(name)
        self.selection = self._describe(self.key, self.value)
        return self.selection


class Recovered(Struct, frozen=True):
    """What an opened journal holds: all rows by revision; history before `floor` has been erased."""

    rows: Iterable[Row]
    floor: int


Done = Callable[[StoreError | None], None]


class Journal(Protocol):
    """Makes batches durable, one after the other. `done` callbacks run on the event loop, in the order of the calls."""

    async def open(self) -> Recovered:
        """Raises StoreError with one clear line when the data cannot be used."""

    def append(self, rows: Sequence[Row], done: Done) -> None:
        """Make all `rows` durable, or none: then `done` gets the error."""

    def check(self, done: Done) -> None:
        """Make something durable that changes nothing: whether writes succeed again after one that failed."""

    def erase(self, revisions: Sequence[int], floor: int) -> None:
        """Remove rows (perhaps none) that nothing needs any more; history now begins at `floor`.

        Errors are logged: the rows stay, harmless.
        """

    async def close(self) -> None:
        """Finish what was asked for, then let go of the data."""
