"""The typed client: what components and users' own controllers talk to an API server with.

Objects come back as the Struct of their `Resource`. Nothing is ever written from a Struct (fields that it does not know would be
lost): writes are plain JSON for creates, patches, applies, or a `/status` patch. Refusals raise StatusError; a server that
cannot be reached raises TransportError.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import orjson
from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.client import decoding
from setpoint.client.metadata import ACCEPT, ACCEPT_LIST, PartialObjectMetadata
from setpoint.client.transport import Request, Response, Transport
from setpoint.kit.clock import Clock

T = TypeVar("T")


class ListResult(Struct, Generic[T], frozen=True):
    """A collection as of `resource_version`; `continue_token` is set when more pages follow."""

    items: Sequence[T]
    resource_version: str
    continue_token: str = ""


class WatchEvent(Struct, Generic[T], frozen=True):
    """`type` is ADDED, MODIFIED, DELETED or BOOKMARK. ERROR events are raised as StatusError."""

    type: str
    object: T


class ClientProtocol(Protocol):
    """The methods every component may rely on; `Client` (over any Transport) implements them."""

    async def get(self, resource: Resource[T], name: str, namespace: str = "") -> T: ...

    async def list(
        self,
        resource: Resource[T],
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        limit: int = 0,
        continue_token: str = "",
    ) -> ListResult[T]: ...

    def watch(
        self,
        resource: Resource[T],
        namespace: str = "",
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
        timeout_seconds: int = 0,
        bookmarks: bool = True,
    ) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        """Batches of events that arrived together; ends when the server ends it. Leave early by closing it (`aclosing`)."""

    async def create(self, resource: Resource[T], body: Mapping[str, Any], namespace: str = "", *, dry_run: bool = False) -> T:
        """POST; kind and apiVersion are filled in."""

    async def update(self, resource: Resource[T], body: Mapping[str, Any], namespace: str = "", *, subresource: str = "") -> T:
        """PUT of a whole JSON object (never of a Struct)."""

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        namespace: str = "",
        *,
        kind: str = "merge",
        subresource: str = "",
    ) -> T:
        """PATCH: `kind` is merge, strategic or json. Put metadata.resourceVersion (or uid) in it for optimistic concurrency."""

    async def apply(
        self,
        resource: Resource[T],
        body: Mapping[str, Any],
        namespace: str = "",
        *,
        force: bool = False,
        subresource: str = "",
        manager: str = "",
    ) -> T:
        """Server-side apply under a field manager, else the client's."""

    async def delete(
        self,
        resource: Resource[Any],
        name: str,
        namespace: str = "",
        *,
        grace_seconds: int | None = None,
        propagation: str = "",
        uid: str = "",
        resource_version: str = "",
    ) -> None:
        """DELETE with preconditions. NotFound is raised like any other refusal."""

    async def create_subresource(
        self, resource: Resource[Any], name: str, subresource: str, body: Mapping[str, Any], namespace: str = ""
    ) -> Mapping[str, Any]:
        """POST to `binding`, `eviction`, `token` …; the answer as plain JSON."""


_PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
_JSON = "application/json"
_RETRIES = 10  # of calls that the server asks to repeat
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class Client:
    """`ClientProtocol` over a transport. One per component: `user_agent` (`<component>/<version>`) names it to the server.

    `field_manager` owns what `apply` sets; other writes are owned by the user agent's first part, as the server reads it.
    Cancelling any call leaves its outcome unknown: observe, do not assume.
    """

    def __init__(self, transport: Transport, *, user_agent: str, clock: Clock, field_manager: str = "") -> None:
        self._transport = transport
        self._clock = clock
        self.user_agent = user_agent
        self.field_manager = field_manager or user_agent.partition("/")[0]
        self._plain: dict[str, str] = {"User-Agent": user_agent, "Accept": _JSON}
        self._sending = {kind: {**self._plain, "Content-Type": media} for kind, media in [*_PATCHES.items(), ("post", _JSON)]}

    async def get(self, resource: Resource[T], name: str, namespace: str = "") -> T:
        response = await self._call("GET", resource.path(namespace, name), headers=self._accepting(resource, ACCEPT))
        return decoding.of(resource.type).object(response.body)

    async def list(
        self,
        resource: Resource[T],
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        resource_version: str = "",
        limit: int = 0,
        continue_token: str = "",
    ) -> ListResult[T]:
        query = _given(
            labelSelector=label_selector,
            fieldSelector=field_selector,
            resourceVersion=resource_version,
            limit=str(limit) if limit else "",
        )
        if continue_token:
            query["continue"] = continue_token
        response = await self._call("GET", resource.path(namespace), query, self._accepting(resource, ACCEPT_LIST))
        return ListResult(*decoding.of(resource.type).list(response.body))

    async def watch(
        self,
        resource: Resource[T],
        namespace: str = "",
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
        timeout_seconds: int = 0,
        bookmarks: bool = True,
    ) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
        """See ClientProtocol."""
        query = _given(
            watch="true",
            resourceVersion=resource_version,
            labelSelector=label_selector,
            fieldSelector=field_selector,
            timeoutSeconds=str(timeout_seconds) if timeout_seconds else "",
            allowWatchBookmarks="true" if bookmarks else "",
        )
        request = Request("GET", resource.path(namespace), query, self._accepting(resource, ACCEPT))
        decoder = decoding.of(resource.type)
        async with await self._transport.stream(request) as stream:
            if stream.status >= 400:
                raise refusal(stream.status, await stream.read(), stream.headers)
            rest = b""
            async for chunk in stream:
                complete, rest = decoding.complete_lines(rest, chunk)
                if complete:
                    yield [WatchEvent(kind, obj) for kind, obj in decoder.events(complete)]

    async def create(self, resource: Resource[T], body: Mapping[str, Any], namespace: str = "", *, dry_run: bool = False) -> T:
        return await self._write("POST", resource, resource.path(namespace), body, {"dryRun": "All"} if dry_run else {})

    async def update(self, resource: Resource[T], body: Mapping[str, Any], namespace: str = "", *, subresource: str = "") -> T:
        namespace = namespace or body["metadata"].get("namespace", "")
        return await self._write("PUT", resource, resource.path(namespace, body["metadata"]["name"], subresource), body, {})

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        namespace: str = "",
        *,
        kind: str = "merge",
        subresource: str = "",
    ) -> T:
        path = resource.path(namespace, name, subresource)
        response = await self._call("PATCH", path, headers=self._sending[kind], body=orjson.dumps(patch))
        return decoding.of(resource.type).object(response.body)

    async def apply(
        self,
        resource: Resource[T],
        body: Mapping[str, Any],
        namespace: str = "",
        *,
        force: bool = False,
        subresource: str = "",
        manager: str = "",
    ) -> T:
        query = {"fieldManager": manager or self.field_manager, **({"force": "true"} if force else {})}
        path = resource.path(namespace, body["metadata"]["name"], subresource)
        typed = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        response = await self._call("PATCH", path, query, self._sending["apply"], orjson.dumps(typed))
        return decoding.of(resource.type).object(response.body)

    async def delete(
        self,
        resource: Resource[Any],
        name: str,
        namespace: str = "",
        *,
        grace_seconds: int | None = None,
        propagation: str = "",
        uid: str = "",
        resource_version: str = "",
    ) -> None:
        body = _delete_options(grace_seconds, propagation, _given(uid=uid, resourceVersion=resource_version))
        await self._call("DELETE", resource.path(namespace, name), headers=self._sending["post"], body=body)

    async def delete_collection(
        self, resource: Resource[Any], namespace: str = "", *, label_selector: str = "", propagation: str = ""
    ) -> None:
        """DELETE of a whole collection, or of what a selector finds in it."""
        query = _given(labelSelector=label_selector)
        body = _delete_options(None, propagation, {})
        await self._call("DELETE", resource.path(namespace), query, self._sending["post"], body)

    async def create_subresource(
        self, resource: Resource[Any], name: str, subresource: str, body: Mapping[str, Any], namespace: str = ""
    ) -> Mapping[str, Any]:
        path = resource.path(namespace, name, subresource)
        response = await self._call("POST", path, headers=self._sending["post"], body=orjson.dumps(body))
        answer: Mapping[str, Any] = orjson.loads(response.body)
        return answer

    async def raw(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: Any = None, accept: str = _JSON
    ) -> Any:
        """Any other call of the API; JSON both ways."""
        headers = {**self._sending["post"], "Accept": accept}
        response = await self._call(method, path, query or {}, headers, b"" if body is None else orjson.dumps(body))
        return orjson.loads(response.body)

    async def discovery(self) -> Sequence[Mapping[str, Any]]:
        """The groups (`APIGroupDiscovery`) of `/api` and `/apis`, core group first (aggregated discovery)."""
        core = await self.raw("GET", "/api", accept=_DISCOVERY)
        others = await self.raw("GET", "/apis", accept=_DISCOVERY)
        return [*core["items"], *others["items"]]

    async def close(self) -> None:
        await self._transport.close()

    def _accepting(self, resource: Resource[Any], accept: str) -> Mapping[str, str]:
        return {**self._plain, "Accept": accept} if resource.type is PartialObjectMetadata else self._plain

    async def _write(self, method: str, resource: Resource[T], path: str, body: Mapping[str, Any], query: Mapping[str, str]) -> T:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        response = await self._call(method, path, query, self._sending["post"], orjson.dumps(typed))
        return decoding.of(resource.type).object(response.body)

    async def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        request = Request(method, path, query or {}, headers or self._plain, body)
        left = _RETRIES
        while True:
            response = await self._transport.call(request)
            if response.status < 400:
                return response
            seconds = _retry_after(response)
            if seconds is None or not left:
                raise refusal(response.status, response.body, response.headers)
            left -= 1
            await self._clock.sleep(seconds)


def _retry_after(response: Response) -> int | None:
    """Seconds to wait before the same call again: the server is busy (429, 5xx) and says when. As client-go."""
    if response.status != 429 and response.status < 500:
        return None
    seconds = response.headers.get("Retry-After", "")
    return int(seconds) if seconds.isdigit() else None


def refusal(code: int, body: bytes, headers: Mapping[str, str]) -> StatusError:
    """The error that an answer with a code of 400 or more stands for, whether or not it is a Status."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return StatusError.parse({"code": code, **status})
    seconds = headers.get("Retry-After", "")
    details = {"retryAfterSeconds": int(seconds)} if seconds.isdigit() else None
    return StatusError(code, _REASONS.get(code, "Unknown"), body.decode(errors="replace").strip() or f"HTTP {code}", details)


_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Gone",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def _given(**query: str) -> dict[str, str]:
    return {name: value for name, value in query.items() if value}


def _delete_options(grace_seconds: int | None, propagation: str, preconditions: Mapping[str, str]) -> bytes:
    options: dict[str, Any] = {}
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    if propagation:
        options["propagationPolicy"] = propagation
    if preconditions:
        options["preconditions"] = preconditions
    return orjson.dumps({"kind": "DeleteOptions", "apiVersion": "v1", **options}) if options else b""
