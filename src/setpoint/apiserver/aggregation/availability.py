"""Whether the servers behind APIServices answer: asked when anything about them changes, and every half minute.

The condition `Available` of an APIService is what the proxy goes by, and what users see.
Source: kube-aggregator `pkg/controllers/status/remote/remote_available_controller.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.aggregation.backend import Unreachable, identity
from setpoint.apiserver.aggregation.own_requests import OwnRequests
from setpoint.kit import logs
from setpoint.kit.clock import rfc3339
from setpoint.kit.tasks import Tasks
from setpoint.storage.following import Following
from setpoint.storage.protocol import NotFound, Record

if TYPE_CHECKING:
    from setpoint.apiserver.aggregation.backend import Backend
    from setpoint.apiserver.aggregation.following import APIServices
    from setpoint.apiserver.aggregation.registration import Registration
    from setpoint.apiserver.pipeline import Pipeline

log = logs.get_logger("apiserver.aggregation")

_EVERY = 30.0  # seconds between two looks at servers that answer
_FIRST_RETRY = 1.0  # seconds until a server that does not answer is asked again; then twice as long each time
_ANSWER = 6  # seconds that a server may take
_ATTEMPTS = 5
_TIMED_OUT = "timed out waiting for"
_SLICES, _SERVICE_NAME = "endpointslices.discovery.k8s.io/", "kubernetes.io/service-name"
_AGGREGATOR = UserInfo("system:kube-aggregator", groups=("system:masters",))

Finding = tuple[str, str, str]  # status, reason, message
Refresh = Callable[[Collection[tuple[str, str]]], Awaitable[None]]


class Availability:
    """The loop. `then` is called after each round with the groups' versions whose servers answer."""

    def __init__(self, pipeline: Pipeline, services: APIServices, backend: Backend, then: Refresh | None = None) -> None:
        self._pipeline = pipeline
        self._services = services
        self._backend = backend
        self._then = then
        self._own = OwnRequests(pipeline)
        self._wake = asyncio.Event()
        services.on_change.append(self._wake.set)

    async def load(self) -> None:
        """What is known already stands in the APIServices."""

    async def run(self) -> None:
        """Look again and again; never ends. While no other server is registered it only waits."""
        async with Tasks("aggregation") as tasks:
            watching: list[asyncio.Task[None]] = []
            retry = _FIRST_RETRY
            while True:
                if not self._services.remote:
                    await self._wake.wait()
                if self._services.remote and not watching:
                    watching = [tasks.start(prefix, self._watch(prefix)) for prefix in ("services/", _SLICES)]
                self._wake.clear()
                well = await self._round(tasks)
                retry = _FIRST_RETRY if well else min(retry * 2, _EVERY)
                await self._pipeline.clock.wait(self._wake, _EVERY if well else retry)

    async def _round(self, tasks: Tasks) -> bool:
        """Look at all of them; whether all answer."""
        remote = list(self._services.remote.values())
        looking = [tasks.start(each.name, self._look(each)) for each in remote]
        found = [await each for each in looking]
        if self._then is not None:
            await self._then({(each.group, each.version) for each, well in zip(remote, found, strict=True) if well})
        return all(found)

    async def _watch(self, prefix: str) -> None:
        """Wake when a service that we pass on to changes, or where it is served."""

        def take(key: str, _record: Record | None) -> None:
            namespace = key.removeprefix(prefix).partition("/")[0]
            if any(each.namespace == namespace for each in self._services.remote.values()):
                self._wake.set()

        await Following(self._pipeline.store, self._pipeline.clock, prefix, take).run()

    async def _look(self, server: Registration) -> bool:
        finding = await self._finding(server)
        obj = self._services.find(server.name)
        if obj is not None:
            await self._write(obj, finding)
        return finding[0] == "True"

    async def _write(self, obj: Mapping[str, Any], finding: Finding) -> None:
        status, reason, message = finding
        conditions = list((obj.get("status") or {}).get("conditions") or ())
        before: Mapping[str, Any] = next((each for each in conditions if each.get("type") == "Available"), {})
        if (before.get("status"), before.get("reason"), before.get("message")) == finding:
            return
        unchanged = before.get("status") == status
        since = before.get("lastTransitionTime") if unchanged else rfc3339(self._pipeline.clock.now())
        new = {"type": "Available", "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
        others = [each for each in conditions if each.get("type") != "Available"]
        try:
            await self._own.replace_status({**obj, "status": {**(obj.get("status") or {}), "conditions": [*others, new]}})
        except StatusError as error:
            if error.code == 409:  # what is known of it is old; its event is on the way
                self._wake.set()
            elif error.code != 404:
                log.warning("an APIService's status cannot be written", name=obj["metadata"]["name"], error=error.message)

    # --- what is found ---

    async def _finding(self, server: Registration) -> Finding:
        where = f'service/{server.service} in "{server.namespace}"'
        try:
            service = orjson.loads((await self._pipeline.store.get(f"services/{server.namespace}/{server.service}")).value)
        except NotFound:
            return "False", "ServiceNotFound", f"{where} is not present"
        if (service["spec"].get("type") or "ClusterIP") == "ClusterIP":
            missing = await self._missing(server, service, where)
            if missing is not None:
                return missing
        error = ""
        for _ in range(_ATTEMPTS):
            error = await self._ask(server)
            if not error:
                return "True", "Passed", "all checks passed"
            if error.startswith(_TIMED_OUT):
                break
        return "False", "FailedDiscoveryCheck", error

    async def _missing(self, server: Registration, service: Mapping[str, Any], where: str) -> Finding | None:
        """What a service lacks to be reached."""
        port = next((each for each in service["spec"].get("ports") or () if each["port"] == server.port), None)
        if port is None:
            return "False", "ServicePortError", f"{where} is not listening on port {server.port}"
        page = await self._pipeline.store.list(f"{_SLICES}{server.namespace}/")
        slices = [
            each
            for record in page.records
            if ((each := orjson.loads(record.value))["metadata"].get("labels") or {}).get(_SERVICE_NAME) == server.service
        ]
        if not slices:
            return "False", "EndpointsNotFound", f"cannot find endpointslices for {where}"
        name = port.get("name") or ""
        if not any(_serves(each, name) for each in slices):
            return "False", "MissingEndpoints", f'endpointslices for {where} have no addresses with port name "{name}"'
        return None

    async def _ask(self, server: Registration) -> str:
        """What is wrong with a server's answer to the one question that it must be able to answer."""
        url = f"{server.url}{server.path}"
        try:
            async with asyncio.timeout(_ANSWER):
                headers = identity(_AGGREGATOR)
                async with self._backend.request(server, "GET", server.path, headers=headers) as answer:
                    status = answer.status
        except TimeoutError:
            return f"{_TIMED_OUT} {url}"
        except Unreachable as error:
            return f'failing or missing response from {url}: Get "{url}": {error}'
        except ValueError as error:  # a bundle that is none
            return str(error)
        return "" if 200 <= status < 300 else f"failing or missing response from {url}: bad status from {url}: {status}"


def _serves(piece: Mapping[str, Any], port: str) -> bool:
    """Whether a slice has an address that is ready, and the port."""
    ports = any((each.get("name") or "") == port for each in piece.get("ports") or ())
    ready = any(
        each.get("addresses") and (each.get("conditions") or {}).get("ready") is not False
        for each in piece.get("endpoints") or ()
    )
    return ports and ready
