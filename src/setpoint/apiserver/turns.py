"""Requests that arrive all at once are begun a few per turn of the event loop, each priority level in its turn.

Without that a burst of thousands is begun in one turn, and whoever asks meanwhile, a health check or a node's heartbeat, waits
until all of them were at least refused. Which level a request will be of is not known before it is read: that of the connection's
last one is taken for it. Exempt ones come first. Where no more arrive than fit, nothing waits.

Large answers are sent a slice at a time, and one slice in a turn: five hundred clients that list everything would hold the loop
for seconds otherwise.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE = 32  # requests begun in one turn: some 5 ms
EXEMPT = "exempt"

Begin = Callable[[], None]


class Turns:
    """The order in which the connections of one server begin to work."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._left = AT_ONCE
        self._counting = False
        self._exempt: deque[Begin] = deque()
        self._waiting: dict[str, deque[Begin]] = {}  # by level, none of them empty
        self._slices: deque[asyncio.Future[None]] = deque()
        self._slicing = False

    def take(self, level: str, begin: Begin) -> None:
        """Call `begin` now, or in a later turn."""
        if not self._counting:
            self._counting = True
            self._loop.call_soon(self._next)
        if self._left > 0:
            self._left -= 1
            begin()
        elif level == EXEMPT:
            self._exempt.append(begin)
        else:
            self._waiting.setdefault(level, deque()).append(begin)

    async def slice(self) -> None:
        """Wait for a turn of which no other large answer takes its part."""
        if self._slicing:
            waiter = self._loop.create_future()
            self._slices.append(waiter)
            await waiter
        else:
            self._slicing = True
            self._loop.call_soon(self._next_slice)

    def _next_slice(self) -> None:
        while self._slices:
            waiter = self._slices.popleft()
            if not waiter.done():  # its request was cancelled
                waiter.set_result(None)
                self._loop.call_soon(self._next_slice)
                return
        self._slicing = False

    def _next(self) -> None:
        """A new turn: those who wait go first."""
        left = AT_ONCE
        waits = self._counting = bool(self._exempt or self._waiting)
        if waits:
            self._loop.call_soon(self._next)
        while left and self._exempt:
            left -= 1
            self._exempt.popleft()()
        while left and self._waiting:
            for level, waiting in [*self._waiting.items()][:left]:
                left -= 1
                begin = waiting.popleft()
                del self._waiting[level]  # and to the end of the row
                if waiting:
                    self._waiting[level] = waiting
                begin()
        self._left = left
