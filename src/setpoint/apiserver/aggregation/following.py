"""Follows the APIServices in the store: whom requests are passed on to, and how groups and versions are ordered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from setpoint.apiserver.aggregation import registration
from setpoint.apiserver.aggregation.proxy import Proxy
from setpoint.apiserver.aggregation.registration import Registration
from setpoint.apiserver.custom_resources.priority import priority
from setpoint.storage.following import Picture

if TYPE_CHECKING:
    from setpoint.apiserver.aggregation.backend import Backend
    from setpoint.apiserver.pipeline import Pipeline

GROUP, PLURAL = "apiregistration.k8s.io", "apiservices"
PREFIX = f"{PLURAL}.{GROUP}/"
#: what the APIServices of custom kinds have, which those that are not written yet will have
_CUSTOM = (1000, 100)

Groups = Sequence[tuple[str, Sequence[str]]]


class APIServices(Picture):
    """All APIServices. Each of `on_change` is called when those of other servers are no longer the same."""

    def __init__(self, pipeline: Pipeline, backend: Backend) -> None:
        super().__init__(pipeline.store, pipeline.clock, PREFIX, self._enforce)
        self._pipeline = pipeline
        self._backend = backend
        self.remote: dict[tuple[str, str], Registration] = {}
        self.on_change: list[Callable[[], None]] = []

    def _enforce(self) -> None:
        found = [read for each in self.objects.values() if (read := registration.read(each)) is not None]
        remote = {(each.group, each.version): each for each in found}
        if remote == self.remote:
            return
        self.remote = remote
        self._pipeline.aggregated = {place: Proxy(self._backend, each).handle for place, each in remote.items()}
        for tell in self.on_change:
            tell()

    def find(self, name: str) -> Mapping[str, Any] | None:
        return self.objects.get(f"{PREFIX}{name}")

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
        specs = [each.get("spec") or {} for each in self.objects.values()]
        return {
            (spec.get("group") or "", spec.get("version") or ""): (
                spec.get("groupPriorityMinimum") or 0,
                spec.get("versionPriority") or 0,
            )
            for spec in specs
        }
