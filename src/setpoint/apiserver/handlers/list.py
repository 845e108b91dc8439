"""GET of a collection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.status import bad_request, expired
from setpoint.apiserver import answers, continuation, versions
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import read
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.negotiation import JSON, accepted
from setpoint.apiserver.options import ListOptions, list_options
from setpoint.apiserver.request import JSON_HEADERS, Response
from setpoint.apiserver.selecting import Scope, scope_of
from setpoint.storage.protocol import Compacted, Future, Record

_LONG = 1024 * 1024  # bytes of objects whose list is made while it is sent
_PIECE = 512 * 1024  # bytes of objects that are sent at a time


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.OBJECT_FORMS, collection=True)
    options = list_options(call.request.query, watch=False)
    scope = scope_of(call, options)
    found = await find(call, options, scope)
    return await list_answer(call, found.records, found.revision, metadata_of(found, scope))


def metadata_of(found: read.Found, scope: Scope) -> dict[str, Any]:
    """The metadata of a list: its version, and where the next page begins."""
    metadata: dict[str, Any] = {"resourceVersion": str(found.revision)}
    if found.start:
        metadata["continue"] = continuation.encode(found.start, scope.prefix, found.revision)
        if found.remaining > 0 and not scope.selective:
            metadata["remainingItemCount"] = found.remaining
    return metadata


async def find(call: Call, options: ListOptions, scope: Scope) -> read.Found:
    """The records that a list is about, at the version it asks for. Raises 400, 410, 504."""
    store = call.store.store
    start, revision, limit = await _where(call, options, scope)
    if scope.key and not start:
        return await _one(call, scope, revision)
    try:
        return await read.find(
            store, call.store.codec, scope.prefix, revision=revision, start=start, limit=limit, matches=scope.matches
        )
    except Compacted:
        if options.continue_token:
            raise continuation.too_old(start, scope.prefix) from None
        raise expired("The resourceVersion for the provided list is too old.") from None
    except Future as error:
        raise versions.too_large(revision, error.current) from None


async def _where(call: Call, options: ListOptions, scope: Scope) -> tuple[str, int, int]:
    """Start key, version (0: now) and limit."""
    text, limit = options.resource_version, options.limit
    if options.continue_token:
        start, revision = continuation.decode(options.continue_token, scope.prefix)
        if text not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
        return start, max(0, revision), limit
    wanted = versions.parse_for_list(text)
    if text == "0":
        return "", 0, 0
    if not wanted:
        return "", 0, limit
    await versions.catch_up(call.store.store, wanted)
    exact = options.match == "Exact" or (limit and not options.match)
    return "", wanted if exact else 0, limit


async def _one(call: Call, scope: Scope, revision: int) -> read.Found:
    """The list of the one object that a selector on metadata.name leaves."""
    page = await call.store.store.list(scope.key, revision=revision, limit=1)
    codec, matches = call.store.codec, scope.matches
    records = [
        record for record in page.records if record.key == scope.key and (matches is None or matches(codec.selection(record)))
    ]
    return read.Found(records, page.revision)


async def list_answer(call: Call, records: Sequence[Record], revision: int, metadata: dict[str, Any]) -> Response:
    """A list in the form that was asked for."""
    form = call.form
    if form.kind == "Table":
        from setpoint.apiserver import tables

        return answers.value_answer(call, tables.table(call, records, revision, metadata))
    if form.kind == "PartialObjectMetadata":
        raise answers.is_list(call)
    if form.kind:
        from setpoint.apiserver import partial

        metadatas = [call.store.codec.decode(record)["metadata"] for record in records]
        return answers.value_answer(call, partial.many(metadatas, form.version, metadata))
    response = Response(200, JSON_HEADERS, pieces=pieces(call, records, metadata), warnings=call.warnings)
    plain = form.media == JSON and not form.pretty
    if not plain or sum(len(record.value) for record in records) < _LONG:
        await response.gather()
    return response if plain else answers.value_answer(call, orjson.loads(response.body or b""))


async def pieces(call: Call, records: Sequence[Record], metadata: dict[str, Any]) -> AsyncGenerator[bytes]:
    """The JSON of a list, made from the records' bytes; leaves the loop to others between two pieces."""
    resource, codec, version = call.resource, call.store.codec, call.version
    kind = resource.list_kind or f"{resource.kind}List"
    if resource.custom:  # written from free JSON, which leaves nothing out
        metadata = {"continue": "", **metadata}
    top = orjson.dumps({"kind": kind, "apiVersion": api_version(resource, version), "metadata": metadata})
    custom = resource.custom
    yield top[:-1] + b',"items":['
    comma = b""
    for some in _slices(records):
        if comma:
            await asyncio.sleep(0)
        yield comma + (b",".join([codec.json(record, version) for record in some]) if custom else codec.items(some, version))
        comma = b","
    yield b"]}"


def _slices(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    """Records in their order, so many at a time as make a piece."""
    first = size = 0
    for index, record in enumerate(records):
        size += len(record.value)
        if size >= _PIECE or index - first == read.SLICE - 1:
            yield records[first : index + 1]
            first, size = index + 1, 0
    if first < len(records):
        yield records[first:]
