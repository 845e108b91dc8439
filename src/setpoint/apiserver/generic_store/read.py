"""Lists: records in key order, all as of one version."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from setpoint.apiserver.generic_store.objects import Codec, Selection
from setpoint.storage.protocol import Page, Record, Store

#: how many records are looked at between two looks at the event loop
SLICE = 500


class Found(Struct):
    """What a list found. `start` is the key to go on from (empty at the end), `remaining` how many follow (-1: unknown)."""

    records: Sequence[Record]
    revision: int
    start: str = ""
    remaining: int = 0


async def find(
    store: Store,
    codec: Codec,
    prefix: str,
    *,
    revision: int,
    start: str,
    limit: int,
    matches: Callable[[Selection], bool] | None,
) -> Found:
    """Up to `limit` records (0: all) under `prefix` that match, from `start` on. Raises Compacted, Future."""
    if matches is None:
        page = await store.list(prefix, revision=revision, start=start, limit=limit)
        return Found(page.records, page.revision, _following(page), page.remaining)
    found: list[Record] = []
    while True:
        page = await store.list(prefix, revision=revision, start=start, limit=SLICE if limit else 0)
        revision = page.revision
        for index, record in enumerate(page.records):
            if index % SLICE == SLICE - 1:
                await asyncio.sleep(0)
            if not matches(codec.selection(record)):
                continue
            found.append(record)
            if len(found) == limit:
                more = page.more or index + 1 < len(page.records)
                return Found(found, revision, record.key + "\0" if more else "", -1)
        if not page.more:
            return Found(found, revision)
        start = _following(page)


def _following(page: Page) -> str:
    return page.records[-1].key + "\0" if page.more and page.records else ""
