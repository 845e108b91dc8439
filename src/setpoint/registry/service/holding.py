"""What one write of a Service takes and gives back. To create the holder's object is to take what it stands for."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import orjson
from msgspec import Struct, field

from setpoint.api.machinery.status import FieldError, StatusError, invalid_object
from setpoint.registry.strategy import Object
from setpoint.storage.protocol import Encoded, Exists, NotFound, Store

_ATTEMPTS = 64
_random = random.SystemRandom()


class Holding(Struct):
    """`taken` is given back if the write fails, `released` if it succeeds: keys of the store. `now` is in seconds (epoch).

    A dry run takes nothing, it only remembers what it would take.
    """

    store: Store
    service: Object
    now: float
    dry_run: bool
    taken: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)

    async def hold(self, key: str, holder: Object) -> bool:
        """Take `key`; False if someone has it."""
        if self.dry_run:
            if key in self.taken or await self.store.head(key) is not None:
                return False
            self.taken.append(key)
            return True

        def encode(revision: int) -> Encoded:
            holder["metadata"]["resourceVersion"] = str(revision)
            return Encoded(orjson.dumps(holder))

        try:
            await self.store.create(key, encode)
        except Exists:
            return False
        self.taken.append(key)
        return True

    async def end(self, *, success: bool) -> None:
        if not self.dry_run:
            await release(self.store, self.released if success else self.taken)

    @property
    def parent(self) -> Object:
        """The Service, as a holder refers to it."""
        metadata: Mapping[str, str] = self.service["metadata"]
        return {
            "group": "",
            "resource": "services",
            "namespace": metadata.get("namespace", ""),
            "name": metadata.get("name", ""),
        }

    def refused(self, error: FieldError) -> StatusError:
        return invalid_object("", "Service", self.service["metadata"].get("name", ""), [error])


async def release(store: Store, keys: Iterable[str]) -> None:
    """Give back what is held; what is not, is left."""
    for key in keys:
        try:
            await store.delete(key)
        except NotFound:
            continue


def in_any_order(low: int, high: int) -> list[int]:
    """All numbers from `low` to `high`: some by chance first, then, in case all of those are taken, one after the other."""
    if high < low:
        return []
    count = high - low + 1
    first = [_random.randint(low, high) for _ in range(min(_ATTEMPTS, count))]
    start = _random.randrange(count)
    return first + [low + (start + i) % count for i in range(count)]
