"""List, then watch from there, for ever: how a collection is followed without losing or doubling anything.

The list is read in pages of one consistent snapshot; the watch begins at its revision. A watch that ends is resumed at the last
revision seen (bookmarks move it on where nothing changes); 410 means that the server no longer knows it: list again. Errors wait
with exponential backoff and jitter. As client-go's `Reflector`, but for one thing: there the pauses of an outage go on from those
of the last one for two minutes, here they begin anew once a watch has brought anything.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

import msgspec

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client.backoff import Backoff
from setpoint.client.client import ClientProtocol, ListResult, WatchEvent
from setpoint.client.objects import resource_version_of
from setpoint.client.transport import TransportError
from setpoint.kit import logs
from setpoint.kit.clock import Clock

T = TypeVar("T")
log = logs.get_logger("client.reflector")

PAGE = 500  # objects of a list
WATCH_SECONDS = 300  # that a watch is asked to last at the least, twice that at the most
SHORT_WATCH = 1.0  # seconds: a watch that ends sooner, and empty, was refused
#: seconds after which a resource that the server did not have is asked for again
ABSENT = 30.0


class Sink(Protocol[T]):
    """Where a reflector puts what it reads."""

    async def replace(self, items: Sequence[T]) -> None: ...
    def apply(self, events: Sequence[WatchEvent[T]]) -> None: ...


class Reflector(Generic[T]):
    """`calm` is true while a watch is open and everything it brought is in the sink."""

    def __init__(
        self,
        client: ClientProtocol,
        resource: Resource[T],
        clock: Clock,
        sink: Sink[T],
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        *,
        rng: random.Random | None = None,
    ) -> None:
        self.resource_version = ""
        self.calm = False
        self._client = client
        self._resource = resource
        self._clock = clock
        self._sink = sink
        self._namespace = namespace
        self._labels = label_selector
        self._fields = field_selector
        self._rng = rng or random.Random()  # noqa: S311  # spreads load; keeps no secret
        self._backoff = Backoff(clock, rng=self._rng)

    async def run(self) -> None:
        """Follow the collection until cancelled."""
        while True:
            try:
                if not self.resource_version:
                    await self._list()
                await self._watch()
            except StatusError as error:
                await self._after_refusal(error)
            except msgspec.MsgspecError:
                log.exception("the server's answer cannot be read", resource=self._resource.group_resource)
                self.resource_version = ""  # an event was lost: only a list can make up for it
                await self._wait()
            except (TimeoutError, TransportError) as error:
                log.debug("server not reached", resource=self._resource.group_resource, error=str(error))
                await self._wait()

    async def _after_refusal(self, error: StatusError) -> None:
        if error.code == 410 or error.reason in {"Expired", "Gone"}:
            log.debug("history expired, lists again", resource=self._resource.group_resource)
            self.resource_version = ""
            return
        if error.code == 404:
            await self._without()
            return
        log.warning("list or watch refused", resource=self._resource.group_resource, reason=error.reason, message=error.message)
        if error.code not in {429, 500, 503, 504}:
            self.resource_version = ""
        await self._wait()

    async def _without(self) -> None:
        """The server has no such resource (another minor's): the collection is empty until it has."""
        log.debug("not served", resource=self._resource.group_resource)
        self.resource_version = ""
        await self._sink.replace(())
        self.calm = True
        await self._clock.sleep(ABSENT)

    async def _wait(self) -> None:
        self.calm = False
        await self._backoff.wait()

    async def _list(self) -> None:
        self.calm = False
        items: list[T] = []
        token, version = "", ""
        while True:
            try:
                page = await self._page(token)
            except StatusError as error:
                if not token or error.code != 410:
                    raise
                page = await self._page("", limit=0)  # pages ran out of history: all at once
                items = []
            items.extend(page.items)
            version, token = page.resource_version, page.continue_token
            if not token:
                break
        await self._sink.replace(items)
        self.resource_version = version

    async def _page(self, token: str, limit: int = PAGE) -> ListResult[T]:
        return await self._client.list(
            self._resource,
            self._namespace,
            label_selector=self._labels,
            field_selector=self._fields,
            limit=limit,
            continue_token=token,
        )

    async def _watch(self) -> None:
        started, seen = self._clock.monotonic(), 0
        events = self._client.watch(
            self._resource,
            self._namespace,
            resource_version=self.resource_version,
            label_selector=self._labels,
            field_selector=self._fields,
            timeout_seconds=WATCH_SECONDS + self._rng.randrange(WATCH_SECONDS),
        )
        self.calm = True
        async with aclosing(events) as batches:
            async for batch in batches:
                seen += len(batch)
                self._take(batch)
        if not seen and self._clock.monotonic() - started < SHORT_WATCH:
            await self._wait()  # a server that closes watches at once must not be asked in a tight loop

    def _take(self, batch: Sequence[WatchEvent[T]]) -> None:
        changes = [event for event in batch if event.type != "BOOKMARK"]
        if changes:
            self._sink.apply(changes)
        if batch:
            self.resource_version = resource_version_of(batch[-1].object)
            self._backoff.reset()  # what failed before says nothing of how long the next trouble lasts
