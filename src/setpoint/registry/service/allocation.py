"""Cluster addresses and node ports, as objects that can be created once.

Creating the holder is the allocation, so two servers, or one that crashed between two steps, never give the same away twice.
What is held without need after a crash is given back at the next start (`repair`), and by whoever runs (`keep_repaired`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import orjson
from msgspec.structs import replace

from setpoint.api.machinery.status import invalid_object
from setpoint.kit.clock import Clock
from setpoint.registry.resource import ServedResource
from setpoint.registry.service import ip_allocator, port_allocator
from setpoint.registry.service.addresses import settle_families
from setpoint.registry.service.holding import Holding, release
from setpoint.registry.strategy import Context, Object
from setpoint.storage.protocol import Conflict, NotFound, Store

_REPAIR_SECONDS = 180.0
_MANAGED = b'"ipaddress.kubernetes.io/managed-by":"ipallocator.k8s.io"'

End = Callable[..., Awaitable[None]]


class ServiceAllocator:
    """Hooks of the generic store for Services: `begin_create`, `begin_update`, `after_delete`."""

    def __init__(self, store: Store, network: str = "10.96.0.0/16", ports: tuple[int, int] = (30000, 32767)) -> None:
        self._store = store
        self._ips = ip_allocator.IPAllocator(store, network)
        self._ports = port_allocator.PortAllocator(ports)

    def hook_into(self, resources: Iterable[ServedResource]) -> tuple[ServedResource, ...]:
        """The same table with these hooks in the row of Services."""
        hooks = {"begin_create": self.begin_create, "begin_update": self.begin_update, "after_delete": self.after_delete}
        return tuple(replace(row, **hooks) if row.group_resource == "services" else row for row in resources)

    async def begin_create(self, context: Context, obj: Object, old: Object | None) -> End:
        """Allocate what a new Service needs; what is returned gives it back unless the write succeeds."""
        return await self._begin(context, obj, {})

    async def begin_update(self, context: Context, obj: Object, old: Object | None) -> End:
        """Allocate what is new, and give back what is no longer needed once the write has succeeded."""
        return await self._begin(context, obj, (old or {}).get("spec") or {})

    async def after_delete(self, context: Context, obj: Object) -> None:
        """Give everything back."""
        await release(self._store, _needed_by(obj.get("spec") or {}))

    async def repair(self) -> int:
        """Give back what no Service has, and tell how many that were. To be called while nobody writes."""
        lost = await self._lost()
        await release(self._store, list(lost))
        return len(lost)

    async def keep_repaired(self, clock: Clock) -> None:
        """The same for ever, while this and other servers write: what is given back has been lost for longer than any request
        may take.
        """
        before: dict[str, int] = {}
        while True:
            lost = await self._lost()
            for key, revision in lost.items():
                if before.get(key) == revision:
                    with suppress(NotFound, Conflict):
                        await self._store.delete(key, expect=revision)
            before = lost
            await clock.sleep(_REPAIR_SECONDS)

    async def _lost(self) -> dict[str, int]:
        """What is held and no Service has, with its revisions. What is held is read first: a Service follows what it holds."""
        held = {record.key: record.revision for record in (await self._store.list(f"{port_allocator.PORTS}/")).records}
        for record in (await self._store.list(f"{ip_allocator.ADDRESSES}/")).records:
            if _MANAGED in record.value:
                held[record.key] = record.revision
        needed: set[str] = set()
        for record in (await self._store.list("services/")).records:
            needed.update(_needed_by(orjson.loads(record.value).get("spec") or {}))
        return {key: revision for key, revision in held.items() if key not in needed}

    async def _begin(self, context: Context, obj: Object, old: Mapping[str, Any]) -> End:
        if errors := settle_families(obj["spec"], old or None):
            raise invalid_object("", "Service", obj["metadata"].get("name", ""), errors)
        holding = Holding(self._store, obj, context.now, context.dry_run)
        try:
            await self._ips.allocate(holding, obj["spec"], old)
            await self._ports.allocate(holding, obj["spec"], old)
        except BaseException:
            await holding.end(success=False)
            raise
        return holding.end


def _needed_by(spec: Mapping[str, Any]) -> list[str]:
    """The keys of what a Service must hold."""
    addresses, ports = ip_allocator.of_spec(spec), port_allocator.of_spec(spec)
    return [*map(ip_allocator.key_of, addresses), *map(port_allocator.key_of, ports)]
