"""Who makes a history: the same few calls on a store, and on an API server by way of its ConfigMaps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import orjson
from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.client.transport import Request, Stream, Transport, TransportError
from setpoint.storage.protocol import (
    Compacted,
    Conflict,
    Event,
    Exists,
    Lagged,
    NotFound,
    Record,
    Store,
    Unavailable,
    Watch,
)
from setpoint.testing.consistency.history import Outcome, Seen, Version
from setpoint.testing.storage import body


class Answered(Exception):
    """A call that was not carried out, or of which nothing is known."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Broken(Exception):
    """A watch or a list that cannot go on; `expired` when its revision lies before the history that is kept."""

    def __init__(self, *, expired: bool = False) -> None:
        super().__init__("expired" if expired else "broken")
        self.expired = expired


class Part(Struct, frozen=True):
    """A page of a list. `token` asks for the next one; `remaining` is -1 where it was not told."""

    items: Sequence[Version]
    revision: int
    token: str = ""
    remaining: int = -1


class Feed(Protocol):
    """A watch: what is new, and the revision up to which everything was told; raises Broken."""

    async def next(self) -> tuple[Sequence[Seen], int]: ...


class Subject(Protocol):
    """A client of what is under test. Calls raise Answered, lists and watches Broken."""

    async def create(self, key: str, token: str) -> Version: ...
    async def update(self, key: str, token: str, expect: int) -> Version: ...
    async def delete(self, key: str, expect: int) -> Version:
        """The deletion; its revision is 0 where the answer does not tell it."""

    async def get(self, key: str) -> Version: ...
    async def page(self, prefix: str, *, limit: int = 0, token: str = "", revision: int = 0) -> Part:
        """A list now, as of `revision`, or its continuation."""

    def watch(self, prefix: str, after: int) -> AbstractAsyncContextManager[Feed]: ...


# ---- a store


class OfStore:
    """Calls a store. `lost` is what Unavailable means there: a local store promises that nothing happened."""

    def __init__(self, store: Store, *, lost: Outcome = "failed") -> None:
        self._store = store
        self._lost: Outcome = lost

    async def create(self, key: str, token: str) -> Version:
        try:
            return _version(await self._store.create(key, body(token)))
        except (Exists, Unavailable) as error:
            raise self._answered(error) from error

    async def update(self, key: str, token: str, expect: int) -> Version:
        try:
            return _version(await self._store.update(key, body(token), expect=expect))
        except (NotFound, Conflict, Unavailable) as error:
            raise self._answered(error) from error

    async def delete(self, key: str, expect: int) -> Version:
        try:
            return _seen(await self._store.delete(key, expect=expect)).version
        except (NotFound, Conflict, Unavailable) as error:
            raise self._answered(error) from error

    async def get(self, key: str) -> Version:
        try:
            return _version(await self._store.get(key))
        except NotFound:
            raise Answered("missing") from None
        except Unavailable:
            raise Answered("unknown") from None

    def _answered(self, error: Exception) -> Answered:
        outcomes: dict[type, Outcome] = {Exists: "exists", Conflict: "conflict", NotFound: "missing"}
        return Answered(outcomes.get(type(error), self._lost))

    async def page(self, prefix: str, *, limit: int = 0, token: str = "", revision: int = 0) -> Part:
        start, _, as_of = token.rpartition("@")
        try:
            page = await self._store.list(prefix, start=start, limit=limit, revision=int(as_of or revision))
        except (Compacted, Unavailable) as error:
            raise Broken(expired=isinstance(error, Compacted)) from error
        items = [_version(record) for record in page.records]
        following = f"{items[-1].key}\0@{page.revision}" if page.more else ""
        return Part(items, page.revision, following, page.remaining if page.more else -1)

    @asynccontextmanager
    async def watch(self, prefix: str, after: int) -> AsyncIterator[Feed]:
        try:
            watch = await self._store.watch(prefix, after=after)
        except (Compacted, Unavailable) as error:
            raise Broken(expired=isinstance(error, Compacted)) from error
        async with watch:
            yield _StoreFeed(watch)


class _StoreFeed:
    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def next(self) -> tuple[Sequence[Seen], int]:
        try:
            events = await self._watch.next()
        except (Lagged, Unavailable) as error:
            raise Broken(expired=isinstance(error, Lagged)) from error
        return [_seen(event) for event in events], self._watch.progress


def _version(record: Record) -> Version:
    stored = orjson.loads(record.value)
    assert stored["resourceVersion"] == str(record.revision)
    return Version(record.key, record.revision, stored["text"], str(record.created))


def _seen(event: Event) -> Seen:
    if event.record is not None:
        return Seen("ADDED" if event.previous is None else "MODIFIED", _version(event.record))
    life = str(event.previous.created) if event.previous is not None else ""
    return Seen("DELETED", Version(event.key, event.revision, "", life))


# ---- an API server


class OfServer:
    """Calls an API server. Keys are `configmaps/<namespace>/x…`; objects with other names are not ours, and where there are such
    (not `alone`) what pages say of the rest is not recorded.
    """

    def __init__(self, transport: Transport, *, alone: bool = True) -> None:
        self._transport = transport
        self._alone = alone

    async def create_namespace(self, name: str) -> None:
        """Make sure of a namespace for keys; raises Answered, `exists` too."""
        await self._call("POST", "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    async def create(self, key: str, token: str) -> Version:
        return _object(await self._call("POST", key.rpartition("/")[0], _manifest(key, token)))

    async def update(self, key: str, token: str, expect: int) -> Version:
        return _object(await self._call("PUT", key, _manifest(key, token, expect)))

    async def delete(self, key: str, expect: int) -> Version:
        options = {"preconditions": {"resourceVersion": str(expect)}} if expect else {}
        answer = await self._call("DELETE", key, options)
        return Version(key, 0, "", answer["details"]["uid"])

    async def get(self, key: str) -> Version:
        return _object(await self._call("GET", key))

    async def _call(self, method: str, key: str, content: Any = None) -> Any:
        sent = orjson.dumps(content) if content is not None else b""
        headers = {"Content-Type": "application/json"} if sent else {}
        try:
            answer = await self._transport.call(Request(method, _path(key), {}, headers, sent))
        except TransportError:
            raise Answered("unknown") from None
        except StatusError as error:
            raise Answered(_outcome(error.code, error.reason)) from None
        found = orjson.loads(answer.body)
        if answer.status >= 400:
            raise Answered(_outcome(answer.status, found.get("reason", "")))
        return found

    async def page(self, prefix: str, *, limit: int = 0, token: str = "", revision: int = 0) -> Part:
        query = {"limit": str(limit)} if limit else {}
        if token:
            query["continue"] = token
        elif revision:
            query |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        try:
            answer = await self._transport.call(Request("GET", _path(prefix), query))
        except (TransportError, StatusError) as error:
            raise Broken from error
        if answer.status >= 400:
            raise Broken(expired=answer.status == 410)
        found = orjson.loads(answer.body)
        meta = found["metadata"]
        ours = [_object(item) for item in found["items"] if _ours(item["metadata"])]
        remaining = meta.get("remainingItemCount", -1) if self._alone else -1
        return Part(ours, int(meta["resourceVersion"]), meta.get("continue", ""), remaining)

    @asynccontextmanager
    async def watch(self, prefix: str, after: int) -> AsyncIterator[Feed]:
        query = {"watch": "1", "resourceVersion": str(after), "allowWatchBookmarks": "true"}
        try:
            stream = await self._transport.stream(Request("GET", _path(prefix), query))
            async with stream:
                if stream.status >= 400:
                    raise Broken(expired=stream.status == 410)
                yield _ServerFeed(stream)
        except (TransportError, StatusError) as error:
            raise Broken from error


class _ServerFeed:
    def __init__(self, stream: Stream) -> None:
        self._chunks = aiter(stream)

    async def next(self) -> tuple[Sequence[Seen], int]:
        try:
            chunk = await anext(self._chunks, None)
        except (TransportError, StatusError) as error:
            raise Broken from error
        if chunk is None:
            raise Broken
        told: list[Seen] = []
        until = 0
        for line in chunk.splitlines():
            event = orjson.loads(line)
            if event["type"] == "ERROR":
                raise Broken(expired=event["object"].get("code") == 410)
            meta = event["object"]["metadata"]
            until = int(meta["resourceVersion"])
            if event["type"] == "BOOKMARK" or not _ours(meta):
                continue
            version = _object(event["object"])
            if event["type"] == "DELETED":
                version = Version(version.key, version.revision, "", version.life)
            told.append(Seen(event["type"], version))
        return told, until


def _ours(meta: dict[str, Any]) -> bool:
    return str(meta["name"]).startswith("x")


def _path(key: str) -> str:
    """`configmaps/d/x` and the prefixes `configmaps/d/` and `configmaps/` as paths of the API."""
    plural, _, rest = key.partition("/")
    namespace, _, name = rest.partition("/")
    return "/".join(filter(None, ["/api/v1", f"namespaces/{namespace}" if namespace else "", plural, name]))


def _manifest(key: str, token: str, expect: int = 0) -> dict[str, Any]:
    meta = {"name": key.rpartition("/")[2], **({"resourceVersion": str(expect)} if expect else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"token": token}}


def _object(found: dict[str, Any]) -> Version:
    meta = found["metadata"]
    token = (found.get("data") or {}).get("token", "")
    return Version(f"configmaps/{meta['namespace']}/{meta['name']}", int(meta["resourceVersion"]), token, meta["uid"])


def _outcome(code: int, reason: str) -> Outcome:
    """What a refusal tells: of anything but a clear one nothing is known."""
    outcomes: dict[tuple[int, str], Outcome] = {
        (404, "NotFound"): "missing",
        (409, "AlreadyExists"): "exists",
        (409, "Conflict"): "conflict",
        (429, "TooManyRequests"): "failed",
    }
    return outcomes.get((code, reason), "unknown")
