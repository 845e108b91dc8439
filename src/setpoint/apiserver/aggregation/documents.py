"""What other servers say of themselves: their resources for discovery, their schemas for OpenAPI.

They are asked after each look at whether they answer. Of one that does not, discovery keeps what it last said, marked as stale.
Sources: apiserver `endpoints/discovery/aggregated`, kube-aggregator `pkg/apiserver/handler_discovery.go`, `controllers/openapi*`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.aggregation.backend import Unreachable, identity
from setpoint.apiserver.aggregation.proxy import Proxy
from setpoint.kit import logs
from setpoint.kit.tasks import Tasks

if TYPE_CHECKING:
    import aiohttp

    from setpoint.apiserver.aggregation.backend import Backend
    from setpoint.apiserver.aggregation.following import APIServices
    from setpoint.apiserver.aggregation.registration import Registration
    from setpoint.apiserver.request import Request, Response

log = logs.get_logger("apiserver.aggregation")

_SECONDS = 5
_LIMIT = 16 * 1024 * 1024
_DISCOVERY_USER = UserInfo("system:kube-aggregator", groups=("system:masters",))
_OPENAPI_USER = UserInfo("system:aggregator", groups=("system:authenticated",))
_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)

Place = tuple[str, str]


class Documents:
    """The last answers. `on_change` is called when any of them differs from the one before."""

    def __init__(self, services: APIServices, backend: Backend, on_change: Callable[[], None]) -> None:
        self._services = services
        self._backend = backend
        self._changed = on_change
        #: a version's entry of the aggregated discovery document, by group and version
        self.resources: dict[Place, Mapping[str, Any]] = {}
        #: the hash of each OpenAPI v3 document, by group and version
        self.marks: dict[Place, str] = {}
        #: whole OpenAPI v2 documents, by group and version
        self.swagger: dict[Place, Mapping[str, Any]] = {}

    def handler(self, place: Place) -> Callable[[Request], Awaitable[Response]] | None:
        """What passes requests for a document on to its server."""
        server = self._services.remote.get(place)
        return Proxy(self._backend, server).handle if server is not None else None

    async def refresh(self, answering: Collection[Place]) -> None:
        """Ask the servers of all that answer."""
        before = (dict(self.resources), dict(self.marks), dict(self.swagger))
        remote = dict(self._services.remote)
        for place in self.resources.keys() - remote.keys():
            del self.resources[place]
        for held in (self.marks, self.swagger):
            for place in held.keys() - remote.keys():
                del held[place]
        async with Tasks("documents") as tasks:
            for place, server in remote.items():
                if place in answering:
                    tasks.start(server.name, self._of(place, server))
                else:
                    self._stale(place)
        if before != (self.resources, self.marks, self.swagger):
            self._changed()

    def _stale(self, place: Place) -> None:
        self.resources[place] = {"version": place[1], **self.resources.get(place, {}), "freshness": "Stale"}

    async def _of(self, place: Place, server: Registration) -> None:
        entry = await self._discovery(server)
        if entry is not None:
            self.resources[place] = {**entry, "freshness": "Current"}
        else:
            self._stale(place)
        index = await self._json(server, "/openapi/v3", _OPENAPI_USER)
        found = ((index or {}).get("paths") or {}).get(server.path.removeprefix("/")) or {}
        if mark := parse_qs(urlsplit(found.get("serverRelativeURL") or "").query).get("hash"):
            self.marks[place] = mark[0]
        elif entry is not None:
            self.marks.pop(place, None)
        swagger = await self._json(server, "/openapi/v2", _OPENAPI_USER)
        if swagger is not None:
            self.swagger[place] = swagger

    async def _discovery(self, server: Registration) -> Mapping[str, Any] | None:
        """The version's entry, from the server's aggregated document or made of its plain one."""
        document = await self._json(server, "/apis", _DISCOVERY_USER, accept=_AGGREGATED)
        if document is not None and document.get("kind") == "APIGroupDiscoveryList":
            for group in document.get("items") or ():
                if (group.get("metadata") or {}).get("name") == server.group:
                    return next((each for each in group.get("versions") or () if each.get("version") == server.version), None)
            return None
        plain = await self._json(server, server.path, _DISCOVERY_USER)
        return _converted(server, plain) if plain is not None and plain.get("kind") == "APIResourceList" else None

    async def _json(
        self, server: Registration, path: str, user: UserInfo, accept: str = "application/json"
    ) -> Mapping[str, Any] | None:
        headers = [("Accept", accept), *identity(user)]
        try:
            async with asyncio.timeout(_SECONDS), self._backend.request(server, "GET", path, headers=headers) as answer:
                if answer.status != 200:
                    return None
                found = orjson.loads(await _whole(answer))
        except (Unreachable, TimeoutError, ValueError):
            return None
        return found if isinstance(found, dict) else None


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    """A document, if it is not too large; a ValueError if it is."""
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > _LIMIT:
            raise ValueError("too large")
    return bytes(body)


def _converted(server: Registration, plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """A plain list of resources as an entry of the aggregated document."""
    resources: dict[str, dict[str, Any]] = {}
    parts: list[tuple[str, dict[str, Any]]] = []
    for row in plain.get("resources") or ():
        name, _, part = row["name"].partition("/")
        kind = {"group": row.get("group") or server.group, "version": row.get("version") or server.version, "kind": row["kind"]}
        if part:
            parts.append((name, {"subresource": part, "responseKind": kind, "verbs": row.get("verbs") or []}))
            continue
        resources[name] = {
            "resource": name,
            "responseKind": kind,
            "scope": "Namespaced" if row.get("namespaced") else "Cluster",
            "singularResource": row.get("singularName") or "",
            "verbs": row.get("verbs") or [],
            **{field: row[field] for field in ("shortNames", "categories") if row.get(field)},
        }
    for name, entry in parts:
        if name in resources:
            resources[name].setdefault("subresources", []).append(entry)
    return {"version": server.version, "resources": list(resources.values())}
