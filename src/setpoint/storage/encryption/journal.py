"""A journal that keeps what it is given sealed: between the local store, which sees plain values, and the disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from setpoint.storage.encryption.transformers import SEALED
from setpoint.storage.encryption.values import Unreadable, Values
from setpoint.storage.journal import Done, Journal, Recovered, Row


class SealedJournal:
    """Implements `journal.Journal` over another one; see the module."""

    def __init__(self, journal: Journal, values: Values) -> None:
        self._journal = journal
        self._values = values
        self.check = journal.check
        self.erase = journal.erase
        self.close = journal.close

    async def open(self) -> Recovered:
        """Raises Unreadable when a current object cannot be opened: the journal is left as it was.

        Old states that cannot be opened any more, since their key was taken away after everything had been written anew, only
        shorten history.
        """
        recovered = await self._journal.open()
        try:
            await self._values.prepare(row[4] for row in recovered.rows if row[4])
            return self._opened(recovered)
        except Unreadable:
            await self._journal.close()
            raise

    def _opened(self, recovered: Recovered) -> Recovered:
        rows: list[Any] = []
        lost: dict[str, tuple[int, Unreadable]] = {}
        erased: list[int] = []
        floor = recovered.floor
        for row in recovered.rows:
            revision, key, *_ = row
            if lost and key in lost:  # superseded by this row
                erased.append(lost.pop(key)[0])
                floor = max(floor, revision)
            try:
                rows.append(self._plain(row))
            except Unreadable as error:
                lost[key] = (revision, error)
        if lost:
            raise next(iter(lost.values()))[1]
        if erased:
            self._journal.erase(erased, floor)
        return Recovered(rows, floor)

    def _plain(self, row: Any) -> Any:
        revision, key, created, expires, value = row
        if value is None:
            self._values.forget(key)
            return row
        if not self._values.on and not value.startswith(SEALED):
            return row
        opened = self._values.open(key, value, key.encode())
        return row if opened is value else Row(revision, key, created, expires, opened)

    def append(self, rows: Sequence[Row], done: Done) -> None:
        self._journal.append(list(self._sealed(rows)) if self._values.on else rows, done)

    def _sealed(self, rows: Iterable[Row]) -> Iterable[Row]:
        values = self._values
        for row in rows:
            value = row.value
            if value is None:
                values.forget(row.key)
                yield row
                continue
            sealed = values.seal(row.key, value, row.key.encode())
            yield row if sealed is value else row._replace(value=sealed)
