"""Follows the APIServices in the store: whom requests are passed on to, and how groups and versions are ordered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from setpoint.apiserver.aggregation import registration
from setpoint.apiserver.aggregation.proxy import Proxy
from setpoint.apiserver.aggregation.registration import Registration
from setpoint.apiserver.custom_resources.priority import priority
from setpoint.kit import logs
from setpoint.storage.protocol import Compacted, Lagged, Unavailable

if TYPE_CHECKING:
    from setpoint.apiserver.aggregation.backend import Backend
    from setpoint.apiserver.pipeline import Pipeline

log = logs.get_logger("apiserver.aggregation")

GROUP, PLURAL = "apiregistration.k8s.io", "apiservices"
PREFIX = f"{PLURAL}.{GROUP}/"
_PAUSE = 1.0  # seconds until the store is asked again that could not answer
#: what the APIServices of custom kinds have, which those that are not written yet will have
_CUSTOM = (1000, 100)

Groups = Sequence[tuple[str, Sequence[str]]]


class APIServices:
    """All APIServices. Each of `on_change` is called when those of other servers are no longer the same."""

    def __init__(self, pipeline: Pipeline, backend: Backend) -> None:
        self._pipeline = pipeline
        self._backend = backend
        self._objects: dict[str, Mapping[str, Any]] = {}
        self._revision = 0
        self.remote: dict[tuple[str, str], Registration] = {}
        self.on_change: list[Callable[[], None]] = []

    async def load(self) -> None:
        """Pass on what is to be passed on from now on."""
        page = await self._pipeline.store.list(PREFIX)
        self._revision = page.revision
        self._objects = {record.key: orjson.loads(record.value) for record in page.records}
        self._enforce()

    async def run(self) -> None:
        """Follow every change; never ends, and begins anew with what is there where changes were missed."""
        behind = False
        while True:
            try:
                if behind:
                    await self.load()
                behind = False
                await self._follow()
            except (Lagged, Compacted):
                behind = True
            except Unavailable:
                behind = True
                await self._pipeline.clock.sleep(_PAUSE)

    async def _follow(self) -> None:
        async with await self._pipeline.store.watch(PREFIX, after=self._revision) as watch:
            while True:
                for event in await watch.next():
                    self._revision = event.revision
                    if event.record is None:
                        self._objects.pop(event.key, None)
                    else:
                        self._objects[event.key] = orjson.loads(event.record.value)
                self._enforce()

    def _enforce(self) -> None:
        found = [read for each in self._objects.values() if (read := registration.read(each)) is not None]
        remote = {(each.group, each.version): each for each in found}
        if remote == self.remote:
            return
        self.remote = remote
        self._pipeline.aggregated = {place: Proxy(self._backend, each).handle for place, each in remote.items()}
        for tell in self.on_change:
            tell()

    def objects(self) -> Iterable[Mapping[str, Any]]:
        """The APIServices as they are; not to be changed."""
        return self._objects.values()

    def find(self, name: str) -> Mapping[str, Any] | None:
        return self._objects.get(f"{PREFIX}{name}")

    def merged(self, local: Groups) -> Groups:
        """All groups with their versions: this server's, and those of the others, each where its priority puts it."""
        if not self.remote:
            return local
        priorities = self._priorities()
        versions: dict[str, list[str]] = {group: list(served) for group, served in local}
        for group, version in self.remote:
            if version not in versions.setdefault(group, []):
                versions[group].append(version)
        changed = {group for group, _ in self.remote}
        for group in changed:
            ranks = {version: priorities.get((group, version), _CUSTOM)[1] for version in versions[group]}
            versions[group] = [version for version, _ in sorted(ranks.items(), key=lambda item: (-item[1], priority(item[0])))]
        best = {
            group: max(priorities.get((group, version), _CUSTOM)[0] for version in served) for group, served in versions.items()
        }
        known = [group for group, _ in local]
        for group in sorted(changed - set(known), key=lambda group: (-best[group], group)):
            place = next((index for index, other in enumerate(known) if other and best[other] < best[group]), len(known))
            known.insert(place, group)
        return [(group, versions[group]) for group in known]

    def _priorities(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        specs = [each.get("spec") or {} for each in self._objects.values()]
        return {
            (spec.get("group") or "", spec.get("version") or ""): (
                spec.get("groupPriorityMinimum") or 0,
                spec.get("versionPriority") or 0,
            )
            for spec in specs
        }
