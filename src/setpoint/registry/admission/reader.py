"""Other objects as they are now: what admission may look at, and whoever checks tokens or looks for a pod's node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson

from setpoint.api.machinery import compact
from setpoint.storage.protocol import Conflict, Encoded, NotFound, Record, Store

_REMEMBERED = 1024
_LISTS, _FEW = 512, 8  # lists that are kept, and how many objects one may have


class Getter(Protocol):
    """One current object as plain JSON, None if there is none; it is shared and must not be changed."""

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None: ...


class Reader(Getter, Protocol):
    """Current objects, one or many."""

    async def list(self, group_resource: str, namespace: str = "") -> Sequence[Mapping[str, Any]]: ...


class StoreReader:
    """Reads the store; what has been decoded once is kept while it does not change.

    As Kubernetes' admission reads informers, so this reads what is known here: other servers' writes of the last moment may be
    missing, but an object that is not known here is asked for before it is said not to be there.

    Namespaces, service accounts and priority classes are asked for with every pod, so decoding them each time would be the
    larger part of admission's cost; and so would looking for a namespace's quotas with every write, where there are few or none.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoded: dict[str, tuple[Record, Mapping[str, Any]]] = {}
        self._listed: dict[str, tuple[int, Sequence[Mapping[str, Any]]]] = {}

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        key = f"{group_resource}/{namespace}/{name}" if namespace else f"{group_resource}/{name}"
        record = self._store.known(key)
        if record is None:
            try:
                record = await self._store.get(key)
            except NotFound:
                self._decoded.pop(key, None)
                return None
        return self._object(record)

    async def list(self, group_resource: str, namespace: str = "") -> Sequence[Mapping[str, Any]]:
        prefix = f"{group_resource}/{namespace}/" if namespace else f"{group_resource}/"
        newest = self._store.newest(prefix)
        listed = self._listed.get(prefix)
        if listed is not None and listed[0] == newest:
            return listed[1]
        page = await self._store.list(prefix, revision=self._store.revision)
        found = [self._object(record) for record in page.records]
        if len(found) <= _FEW:
            if len(self._listed) >= _LISTS:
                self._listed.clear()
            self._listed[prefix] = (newest, found)
        return found

    async def replace(self, group_resource: str, namespace: str, name: str, obj: Mapping[str, Any]) -> bool:
        """Store a namespaced object in place of the version that its resourceVersion names; False if that is not the present
        one, or it is gone. Labels and selectable fields must be as they were.
        """
        key = f"{group_resource}/{namespace}/{name}"
        expected = int(obj["metadata"]["resourceVersion"])
        present = await self._store.head(key)
        if present is None or present.revision != expected:
            await self._store.settle(key)  # so that the next look shows what was in the way
            return False

        def encode(revision: int) -> Encoded:
            metadata = {**obj["metadata"], "resourceVersion": str(revision)}
            return Encoded(compact.dumps({**obj, "metadata": metadata}), present.selection)

        try:
            await self._store.update(key, encode, expect=expected)
        except (Conflict, NotFound):
            return False
        return True

    def _object(self, record: Record) -> Mapping[str, Any]:
        known = self._decoded.get(record.key)
        if known is not None and known[0].revision == record.revision:
            return known[1]
        if len(self._decoded) >= _REMEMBERED:
            self._decoded.clear()
        obj: Mapping[str, Any] = orjson.loads(record.value)
        self._decoded[record.key] = (record, obj)
        return obj
