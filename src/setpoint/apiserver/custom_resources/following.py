"""Follows the CustomResourceDefinitions in the store, serves their kinds and keeps their status.

`load` serves what is established already, before the server listens; `run` follows every change, for ever. Two loops: one serves
and withdraws kinds as definitions say that they are; the other brings each definition's status (names, Established) to what it
should be, the longest waiting first, of which the first then hears.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from setpoint.api.machinery.schema.trees import Pack
from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.custom_resources import cleanup, naming, precedence
from setpoint.apiserver.custom_resources.priority import priority
from setpoint.apiserver.generic_store.store import unavailable
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.kit import logs
from setpoint.kit.tasks import Tasks
from setpoint.registry.apiextensions.conditions import is_true
from setpoint.registry.resource import ServedResource
from setpoint.storage.following import Following
from setpoint.storage.protocol import Record

if TYPE_CHECKING:
    from setpoint.apiserver.custom_resources.kinds import Kind

log = logs.get_logger("apiserver.custom_resources")

GROUP, PLURAL = "apiextensions.k8s.io", "customresourcedefinitions"
_PREFIX = f"{PLURAL}.{GROUP}/"
_USER = UserInfo("system:apiserver", groups=("system:masters", "system:authenticated"))
_AGENT = {"user-agent": "kube-apiserver", "content-type": "application/json"}

Groups = list[tuple[str, list[str]]]


class CustomResources:
    """All kinds that definitions make. Each of `on_change` is called when what is served is no longer the same."""

    def __init__(self, pipeline: Pipeline, pack: Pack) -> None:
        self._pipeline = pipeline
        self._pack = pack
        self.on_change: list[Callable[[], None]] = []
        self._definitions: dict[str, dict[str, Any]] = {}
        self._kinds: dict[str, Kind] = {}
        self._ending: set[str] = set()  # keys of definitions whose objects are being deleted
        self._watches: dict[str, set[Any]] = {}
        self._since: dict[str, int] = {}  # revisions of definitions at the last change of how their objects look
        self._unsettled: dict[str, None] = {}  # keys of definitions whose status is to be looked at, in order
        self._unserved = True  # what is served is no longer what `on_change` was told of
        self._wake = asyncio.Event()
        self._generation = 0
        self._following = Following(pipeline.store, pipeline.clock, _PREFIX, self._on_change, self._taken)

    # --- what is served ---

    def resources(self) -> Iterator[ServedResource]:
        """The rows of discovery and OpenAPI."""
        for kind in self._kinds.values():
            yield from kind.published()

    def groups(self) -> Groups:
        """Every group with its versions, the best first."""
        found: dict[str, set[str]] = {}
        for kind in self._kinds.values():
            if served := kind.served:
                found.setdefault(kind.group, set()).update(served)
        return [(group, sorted(versions, key=priority)) for group, versions in sorted(found.items())]

    def _changed(self) -> None:
        for tell in self.on_change:
            tell()

    # --- following ---

    async def load(self) -> None:
        """Serve every established kind that is there, and no other."""
        await self._following.load()

    async def run(self) -> None:
        """Work on every change; never ends."""
        async with Tasks("custom resources") as tasks:
            tasks.start("definitions", self._following.run())
            while True:
                await self._wake.wait()
                self._wake.clear()
                while key := next(iter(self._unsettled), ""):  # the oldest change first
                    del self._unsettled[key]
                    await self._settle(key, tasks)

    def _on_change(self, key: str, record: Record | None) -> None:
        if record is None:
            self._forget(key)
            self._unsettled |= dict.fromkeys(self._definitions)  # names that were taken may be free now
            self._unserved = True
        else:
            self._unserved |= self._take(key, orjson.loads(record.value))
            self._unsettled[key] = None
        self._wake.set()

    def _taken(self) -> None:
        if self._unserved:
            self._unserved = False
            self._changed()

    def _take(self, key: str, definition: dict[str, Any]) -> bool:
        """Serve a definition as it is now; whether that is another way than before."""
        before = self._definitions.get(key)
        self._definitions[key] = definition
        looks_new = before is None or _looks(before) != _looks(definition)
        if looks_new:
            self._since[key] = int(definition["metadata"]["resourceVersion"])
        changed = before is None or _shape(before) != _shape(definition)
        if changed:
            self._serve(key, definition)
        if before is not None and looks_new:
            self._end_watches(key)
        return changed

    def _forget(self, key: str) -> None:
        """A definition is gone."""
        self._definitions.pop(key, None)
        self._since.pop(key, None)
        self._withdraw(key)
        self._end_watches(key)

    def _end_watches(self, key: str) -> None:
        """Watches do not outlive the definition that they began under; clients begin anew."""
        for watch in list(self._watches.get(key, ())):
            watch.end()
        if key not in self._definitions:
            self._watches.pop(key, None)

    async def _settle(self, key: str, tasks: Tasks) -> None:
        """Bring a definition's status to what it should be; begin to delete its objects where it is being deleted."""
        definition = self._definitions.get(key)
        if definition is None:
            return
        if definition["metadata"].get("deletionTimestamp"):
            if key not in self._ending and cleanup.is_due(definition):
                self._ending.add(key)
                tasks.start(f"cleanup {key}", self._end(key))
            return
        status = naming.status_of(definition, self._definitions.values(), self._pipeline.clock.now())
        if status != definition.get("status"):
            await self._write_status(definition, status)

    async def _end(self, key: str) -> None:
        try:
            await cleanup.Cleanup(self._pipeline, self.request, key).run()
        finally:
            self._ending.discard(key)

    async def _write_status(self, definition: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        """Write a status; when another write came between, its event brings us here again."""
        body = {**definition, "status": status}
        try:
            await self.request("PUT", f"/apis/{GROUP}/v1/{PLURAL}/{definition['metadata']['name']}/status", body)
        except StatusError as error:
            if error.code not in (404, 409):
                log.warning("a definition's status cannot be written", name=definition["metadata"]["name"], error=error.message)

    async def request(self, method: str, path: str, body: Any = None, query: Mapping[str, list[str]] | None = None) -> Any:
        """A request of the server to itself. Raises StatusError."""
        content = b"" if body is None else orjson.dumps(body)
        response = await self._pipeline.handle(Request(method, path, query or {}, _AGENT, content, _USER))
        await response.gather()
        answer = orjson.loads(response.body or b"null")
        if response.status >= 400:
            raise StatusError.parse(answer) if isinstance(answer, dict) else unavailable(ValueError(response.status))
        return answer

    # --- serving ---

    def _serve(self, key: str, definition: dict[str, Any]) -> None:
        self._withdraw(key)
        if not is_true(definition, "Established"):
            return
        names = definition["status"].get("acceptedNames") or definition["spec"]["names"]
        group, plural, name = definition["spec"]["group"], names.get("plural", ""), names.get("kind", "")
        if precedence.hides(self._pipeline.stores.values(), group, plural, name):
            return
        from setpoint.apiserver.custom_resources.kinds import Kind  # a start without definitions needs none of it

        self._generation += 1
        try:
            watches, since = self._watches.setdefault(key, set()), self._since[key]
            kind = Kind(definition, names, self._pack, self._generation, self._pipeline.webhooks, watches, since)
            rows = kind.rows
        except Exception:  # a definition that was let in and cannot be served must not keep the others away
            log.exception("a definition cannot be served", key=key)
            return
        self._kinds[key] = kind
        for version in sorted(rows, key=lambda version: version == kind.storage):
            if version in kind.served or version == kind.storage:
                self._pipeline.serve(rows[version], only=(version,) if version in kind.served else ())

    def _withdraw(self, key: str) -> None:
        kind = self._kinds.pop(key, None)
        if kind is not None:
            for row in kind.rows.values():
                self._pipeline.withdraw(row)


def _looks(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    """What objects look like: a definition that is only being deleted has not changed in this."""
    return definition["metadata"]["uid"], definition["spec"], (definition.get("status") or {}).get("acceptedNames")


def _shape(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    """What serving depends on."""
    status = definition.get("status") or {}
    established, terminating = is_true(definition, "Established"), is_true(definition, "Terminating")
    return definition["spec"], status.get("acceptedNames"), established, terminating
