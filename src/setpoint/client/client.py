"""The typed client: what components and users' own controllers talk to an API server with.

Objects come back as the Struct of their `Resource`. Nothing is ever written from a Struct (fields that it does not know would be
lost): writes are plain JSON for creates, patches, applies, or a `/status` patch. Refusals raise StatusError; a server that
cannot be reached raises TransportError.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from setpoint.api.machinery.resource import Resource

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListResult(Generic[T]):
    """A collection as of `resource_version`; `continue_token` is set when more pages follow."""

    items: Sequence[T]
    resource_version: str
    continue_token: str = ""


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
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
    ) -> AsyncIterator[Sequence[WatchEvent[T]]]:
        """Batches of events, each batch what arrived together; ends when the server ends it."""

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
        self, resource: Resource[T], body: Mapping[str, Any], namespace: str = "", *, force: bool = False, subresource: str = ""
    ) -> T:
        """Server-side apply under the client's field manager."""

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
