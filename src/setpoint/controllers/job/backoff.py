"""How long a Job waits before it replaces failed pods: 10 s, doubling with each failure since the last success, to 10 minutes.

As `pkg/controller/job/backoff_utils.go`. The record lives in memory: after a restart waiting begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from setpoint.api.types import core_v1
from setpoint.controllers.job.pods import failures, finished_time, ignored_failures

FIRST, LONGEST = 10.0, 600.0


class Record(Struct, frozen=True):
    """Failures after the last success, and when the latest was."""

    failures: int = 0
    last: float = 0.0

    def after(self, succeeded: Sequence[core_v1.Pod], failed: Sequence[core_v1.Pod]) -> Record:
        """The record once these pods are counted too."""
        ends = sorted(map(finished_time, failed))
        if not succeeded:
            return Record(self.failures + len(ends), ends[-1]) if ends else self
        latest = max(map(finished_time, succeeded))
        since = [end for end in ends if end > latest]
        return Record(len(since), since[-1]) if since else Record()

    def remaining(self, now: float) -> float:
        """Seconds until a pod may be made; 0 for now."""
        return _remaining(self.failures, self.last, now)


def remaining_for_index(pod: core_v1.Pod | None, now: float) -> float:
    """Seconds until the failed `pod` of an index may be replaced; 0 for now."""
    if pod is None:
        return 0.0
    return _remaining(failures(pod) + ignored_failures(pod) + 1, finished_time(pod), now)


def _remaining(count: int, last: float, now: float) -> float:
    if not count:
        return 0.0
    delay: float = min(FIRST * 2 ** min(count - 1, 30), LONGEST)
    return max(0.0, last + delay - now)
