"""One shared informer per collection and filter, for all controllers of a process."""

from __future__ import annotations

import asyncio
import random
from typing import Any, TypeVar

from setpoint.api.machinery.resource import Resource
from setpoint.client.client import ClientProtocol
from setpoint.client.informer import Informer
from setpoint.client.settled import Activity, combined
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks

T = TypeVar("T")


class InformerFactory:
    """`of` may be called before or after `run`; an informer asked for later starts at once."""

    name = "informers"

    def __init__(self, client: ClientProtocol, clock: Clock, rng: random.Random | None = None) -> None:
        self._client = client
        self._clock = clock
        self._rng = rng
        self._informers: dict[tuple[Any, ...], Informer[Any]] = {}
        self._tasks: Tasks | None = None

    def of(
        self, resource: Resource[T], namespace: str = "", *, label_selector: str = "", field_selector: str = ""
    ) -> Informer[T]:
        """The informer of a collection, made when first asked for."""
        identity = (resource.group, resource.version, resource.plural, resource.type, namespace, label_selector, field_selector)
        known = self._informers.get(identity)
        if known is None:
            known = Informer(self._client, resource, self._clock, namespace, label_selector, field_selector, rng=self._rng)
            self._informers[identity] = known
            self._start(known)
        return known

    def whole(self, resource: Resource[Any]) -> Informer[Any] | None:
        """An informer that somebody asked for already and that follows all objects of a resource, as Structs of any type."""
        collection = (resource.group, resource.version, resource.plural)
        found = (
            informer
            for key, informer in self._informers.items()
            if key[:3] == collection and key[3] is not dict and not any(key[4:])
        )
        return next(found, None)

    async def run(self, tasks: Tasks) -> None:
        """Start every informer in `tasks`, those asked for later too. Returns at once."""
        self._tasks = tasks
        for informer in self._informers.values():
            self._start(informer)

    def _start(self, informer: Informer[Any]) -> None:
        if self._tasks is not None:
            self._tasks.loop(f"informer {informer.name}", informer.run, clock=self._clock)

    async def wait_synced(self) -> None:
        """Until the first list of every informer asked for so far is in its store."""
        await asyncio.gather(*(informer.synced.wait() for informer in [*self._informers.values()]))

    @property
    def informers(self) -> list[Informer[Any]]:
        return [*self._informers.values()]

    def activity(self) -> Activity:
        return combined(informer.activity() for informer in self._informers.values())
