"""Consistency: what concurrent clients did and saw is recorded, and checked against one store that does one thing at a time.

`workload` makes a history by way of `clients`, `history` keeps it, `checker` judges it by the order that `truth` puts together.
"""

from __future__ import annotations

from setpoint.testing.consistency.checker import check
from setpoint.testing.consistency.clients import OfServer, OfStore, Subject
from setpoint.testing.consistency.history import History
from setpoint.testing.consistency.workload import Workload, record

__all__ = ["History", "OfServer", "OfStore", "Subject", "Workload", "check", "record"]
