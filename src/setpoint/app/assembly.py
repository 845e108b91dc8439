"""The pipeline with everything that answers in it; the same for a real server and for a cluster in a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from setpoint.api.machinery.schema import trees
from setpoint.apiserver.authorization import AnyAuthenticated
from setpoint.apiserver.discovery import Discovery
from setpoint.apiserver.pipeline import Pipeline
from setpoint.kit.clock import Clock
from setpoint.registry.table import GROUPS, RESOURCES
from setpoint.storage.protocol import NotFound, Store

MINOR = "1.36"


class Objects:
    """Current objects as plain JSON, for whoever needs to look one up: tokens, admission, the kubelet proxy."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """The object, None if there is none."""
        try:
            record = await self._store.get(f"{group_resource}/{namespace}/{name}" if namespace else f"{group_resource}/{name}")
        except NotFound:
            return None
        found: dict[str, Any] = orjson.loads(record.value)
        return found


def make_pipeline(store: Store, clock: Clock, *, address: str) -> Pipeline:
    """A pipeline over `store` that serves every built-in resource; `address` is where clients reach it (`host:port`)."""
    pipeline = Pipeline(RESOURCES, store, clock, schemas=trees.load(MINOR), authorizer=AnyAuthenticated())
    discovery = Discovery(lambda: GROUPS, lambda: RESOURCES, address)
    pipeline.mount("/api", discovery.handle)
    pipeline.mount("/apis", discovery.handle)
    return pipeline
