"""What every store must do: derive from `StoreConformance`, say how your store is built, and let pytest collect it.

    class TestMine(StoreConformance):
        def build(self, directory, clock):
            return Subject(MyStore(directory, clock))

Give `faults` (a `FaultyJournal` under your store) to have group commit and its failures tested too; set `persistent` to have
the store opened a second time.
"""

from __future__ import annotations

from setpoint.testing.storage.faults import FaultyJournal
from setpoint.testing.storage.group_commit import GroupCommitConformance
from setpoint.testing.storage.lives import LifeConformance
from setpoint.testing.storage.reads import ReadConformance
from setpoint.testing.storage.rig import Subject, body, settle, until
from setpoint.testing.storage.watches import WatchConformance
from setpoint.testing.storage.writes import WriteConformance

__all__ = ["FaultyJournal", "StoreConformance", "Subject", "body", "settle", "until"]


class StoreConformance(WriteConformance, GroupCommitConformance, ReadConformance, WatchConformance, LifeConformance):
    """Derive and implement `build`."""
