"""Faults between components and the API server: what a network and a busy server do to their clients.

A `Link` is the transport of one component; `Faults` decides, from one seeded generator, what happens to its calls and watches:

- a call may be refused before it is carried out (unavailable, too many requests, conflict), or be carried out
  and its answer lost;
- a watch may break off, or hand over its events late (its client's cache is stale meanwhile);
- a component may be cut off altogether.

Events of one watch never change their order and none is left out: no real server does that either.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Self

from setpoint.api.machinery.status import StatusError
from setpoint.client.transport import Request, Response, Stream, Transport, TransportError
from setpoint.kit.clock import Clock

_RESET = "connection reset by peer"
_WRITES = {"POST", "PUT", "PATCH", "DELETE"}
_FORBIDDEN, _NO_RIGHT = 403, b" cannot "  # as authorisation says it


@dataclass(slots=True)
class Rates:
    """Chances per call, from 0 to 1, and delays in seconds at the most."""

    unavailable: float = 0.0
    lost_answer: float = 0.0
    too_many: float = 0.0
    conflict: float = 0.0
    latency: float = 0.0
    watch_break: float = 0.0
    watch_delay: float = 0.0


CALM = Rates()
WELL = Rates(latency=0.005)
"""Nothing fails, but nothing is instant: loops that go round through the server take time, as they do everywhere."""
STORMY = Rates(unavailable=0.03, lost_answer=0.02, too_many=0.02, conflict=0.03, latency=0.05, watch_break=0.02, watch_delay=2.0)


class Faults:
    """What goes wrong at present; `rates` may be changed at any time. `counts` says what was done."""

    def __init__(self, clock: Clock, rng: random.Random) -> None:
        self.clock = clock
        self.rng = rng
        self.rates = CALM
        self.down = False
        self.counts: Counter[str] = Counter()
        self.links: list[Link] = []
        self.refused: list[str] = []  # what parts asked for and have no right to
        self.lost: Callable[[Request], object] = lambda _: None  # is told of each write whose answer is lost

    def calm(self) -> None:
        """From now on everything works."""
        self.rates, self.down = WELL, False

    def break_watches(self) -> None:
        """End every open watch, as a restarted server does."""
        for link in self.links:
            link.break_watches()

    def happens(self, what: str, chance: float) -> bool:
        if chance and self.rng.random() < chance:
            self.counts[what] += 1
            return True
        return False

    def lost_creates(self, plural: str) -> int:
        """How many creates of a resource were carried out without their client knowing."""
        return self.counts[f"lost create {plural}"]


class Link:
    """A transport with faults. `calls` counts what is under way."""

    def __init__(self, inner: Transport, faults: Faults) -> None:
        self._inner = inner
        self._faults = faults
        self._streams: set[_Stream] = set()
        self.calls = 0
        faults.links.append(self)

    async def call(self, request: Request) -> Response:
        faults = self._faults
        self.calls += 1
        try:
            if faults.rates is CALM and not faults.down:
                return self._seen(request, await self._inner.call(request))
            return await self._call(request)
        finally:
            self.calls -= 1

    async def _call(self, request: Request) -> Response:
        faults, rates = self._faults, self._faults.rates
        if rates.latency:
            await faults.clock.sleep(faults.rng.random() * rates.latency)
        self._refuse(request)
        response = self._seen(request, await self._inner.call(request))
        if request.method in _WRITES and faults.happens("lost answer", rates.lost_answer):
            faults.lost(request)
            if request.method == "POST":
                faults.counts[f"lost create {request.path.rpartition('/')[2]}"] += 1
            raise TransportError(_RESET)
        if rates.latency:
            await faults.clock.sleep(faults.rng.random() * rates.latency)
        return response

    def _seen(self, request: Request, response: Response) -> Response:
        if response.status == _FORBIDDEN and _NO_RIGHT in (response.body or b""):
            self._faults.refused.append(f"{request.method} {request.path}: {(response.body or b'').decode()}")
        return response

    def _refuse(self, request: Request) -> None:
        faults, rates = self._faults, self._faults.rates
        if faults.down or faults.happens("unavailable", rates.unavailable):
            raise TransportError("connection refused")
        if faults.happens("too many", rates.too_many):
            raise StatusError(429, "TooManyRequests", "too many requests, please try again later", {"retryAfterSeconds": 1})
        if request.method in {"PUT", "PATCH"} and faults.happens("conflict", rates.conflict):
            raise StatusError(409, "Conflict", "the object has been modified; please apply your changes to the latest version")

    async def stream(self, request: Request) -> Stream:
        self._refuse(request)
        stream = _Stream(await self._inner.stream(request), self._faults, self._streams)
        self._streams.add(stream)
        return stream

    def break_watches(self) -> None:
        for stream in [*self._streams]:
            stream.break_off()

    async def close(self) -> None:
        await self._inner.close()


class _Stream:
    def __init__(self, inner: Stream, faults: Faults, streams: set[_Stream]) -> None:
        self.status = inner.status
        self.headers: Mapping[str, str] = inner.headers
        self._inner = inner
        self._faults = faults
        self._streams = streams
        self._chunks = aiter(inner)
        self._reader: asyncio.Task[object] | None = None
        self._broken = False

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._streams.discard(self)
        await self._inner.__aexit__(*error)

    def break_off(self) -> None:
        """The connection is lost now, even while nobody sends."""
        if self._reader is not None and not self._broken:
            self._reader.cancel()
        self._broken = True

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        faults = self._faults
        self._unbroken()
        self._reader = asyncio.current_task()
        try:
            chunk = await anext(self._chunks)
        except asyncio.CancelledError:
            if not self._broken or self._reader is None or self._reader.uncancel() > 0:  # somebody else's wish
                raise
            raise TransportError(_RESET) from None
        finally:
            self._reader = None
        if faults.happens("watch broken", faults.rates.watch_break):
            raise TransportError(_RESET)
        if faults.rates.watch_delay and faults.rng.random() < 0.5:
            await faults.clock.sleep(faults.rng.random() * faults.rates.watch_delay)
            self._unbroken()
        return chunk

    def _unbroken(self) -> None:
        if self._broken:
            raise TransportError(_RESET)

    async def read(self) -> bytes:
        return await self._inner.read()
