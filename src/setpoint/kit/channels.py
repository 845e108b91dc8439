"""Bounded channels between tasks, with figures.

Order is first in, first out; one receiver gets each item once. When full, `send_nowait` refuses (the sender decides what
that means: a watcher is dropped, a write waits), `send` waits. Closing lets the receiver drain what is there.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Full(Exception):
    """The channel holds as many items as it may."""


class Closed(Exception):
    """Nobody will send, or receive, any more."""


class Statistics(Struct, frozen=True):
    """`used` of `capacity` places are taken; `peak` at the most so far; `sent` items in all."""

    used: int
    capacity: int
    peak: int
    sent: int


class Channel(Generic[T]):
    """A bounded queue that can be closed. Cancelling `send` or `receive` loses no item."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._items: deque[T] = deque()
        self._closed = False
        self._peak = 0
        self._sent = 0
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    def send_nowait(self, item: T) -> None:
        """Put `item` in; raises Full or Closed."""
        if self._closed:
            raise Closed
        if len(self._items) >= self.capacity:
            raise Full
        self._items.append(item)
        self._sent += 1
        self._peak = max(self._peak, len(self._items))
        self._readable.set()
        if len(self._items) >= self.capacity:
            self._writable.clear()

    async def send(self, item: T) -> None:
        """Put `item` in when there is room; raises Closed."""
        while True:
            try:
                self.send_nowait(item)
                return
            except Full:
                await self._writable.wait()

    async def receive(self) -> T:
        """Take the oldest item; raises Closed at the end."""
        while not self._items:
            if self._closed:
                raise Closed
            await self._readable.wait()
        item = self._items.popleft()
        if not self._items and not self._closed:
            self._readable.clear()
        self._writable.set()
        return item

    def close(self) -> None:
        self._closed = True
        self._readable.set()
        self._writable.set()

    @property
    def closed(self) -> bool:
        return self._closed

    def statistics(self) -> Statistics:
        return Statistics(len(self._items), self.capacity, self._peak, self._sent)
