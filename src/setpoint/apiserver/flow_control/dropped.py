"""How long a refused client shall wait: longer the more are refused, shorter when refusals cease.

Doubled at the most once per such time, up to 32 s; one second less whenever fewer were refused than it has seconds.
Source: apiserver `util/flowcontrol/dropped_requests_tracker.go`.
"""

from __future__ import annotations

from collections import deque

LONGEST = 32  # seconds


class Dropped:
    """The refusals of one priority level, second by second."""

    def __init__(self) -> None:
        self.retry_after = 1
        self._history: deque[tuple[int, int]] = deque()
        self._second = 0
        self._count = 0
        self._raised = 0

    def record(self, second: int) -> None:
        """One more was refused in `second` (since the epoch)."""
        if second == self._second:
            self._count += 1
            return
        self._history.append((self._second, self._count))
        while self._second - self._history[0][0] > LONGEST:
            self._history.popleft()
        self._second, self._count = second, 1
        self._adjust(second)

    def _adjust(self, now: int) -> None:
        wait = self.retry_after
        refused = sum(count for second, count in self._history if now - second <= wait and second < now)
        if now - self._raised >= wait and refused >= 3 * wait:
            self.retry_after, self._raised = min(2 * wait, LONGEST), now
        elif refused < wait and wait > 1:
            self.retry_after = wait - 1
