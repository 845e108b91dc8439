"""One write as webhooks are told of it: what was asked for, by whom, and the object in whatever version a webhook wants.

Sources: apiserver `pkg/admission/plugin/webhook/generic/conversion.go`, `pkg/endpoints/handlers/create.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct, structs

from setpoint.registry.admission.matching import Target
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.resource import Subresource
from setpoint.registry.strategy import Object

if TYPE_CHECKING:
    from setpoint.apiserver.pipeline import Pipeline
    from setpoint.apiserver.routing import Served

#: what the server sets only after mutating admission
_UNSET = ("uid", "creationTimestamp")
_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}


class Kind(Struct, frozen=True):
    """A group, version and kind."""

    group: str
    version: str
    kind: str

    def as_json(self) -> dict[str, str]:
        return {"group": self.group, "version": self.version, "kind": self.kind}


class Seen(Struct, frozen=True):
    """The object and the old one, as one version shows them."""

    obj: Object | None
    old: Object | None


class Subject:
    """A write. `hide` leaves out what mutating webhooks cannot see yet."""

    def __init__(self, request: AdmissionRequest, pipeline: Pipeline, *, hide: bool = False) -> None:
        self.request = request
        self.pipeline = pipeline
        self._hide = hide and request.operation == "CREATE" and not request.subresource
        resource = request.resource
        is_namespace = resource.plural == "namespaces" and not resource.group
        self.name = "" if hide and request.generated_name else request.name
        self.namespace = self.name if is_namespace else request.namespace
        self.target = Target(
            resource.group,
            request.request_version,
            resource.plural,
            request.subresource,
            namespaced=bool(self.namespace) and not is_namespace,
        )
        self._seen: dict[Target, Seen] = {}
        self._others: list[Target] | None = None

    @property
    def kind(self) -> Kind:
        return self.kind_of(self.target)

    def kind_of(self, target: Target) -> Kind:
        """The kind that a place answers with: of subresources with a body of their own, that."""
        resource, part = self.request.resource, self._part()
        if part is None or not part.kind:
            return Kind(target.group, target.version, resource.kind)
        group = target.group if part.group is None else part.group
        return Kind(group, part.version or target.version, part.kind)

    def _part(self) -> Subresource | None:
        return next((each for each in self.request.resource.subresources if each.name == self.request.subresource), None)

    def equivalents(self) -> Sequence[Target]:
        """The other places where the same objects are served."""
        if self._others is None:
            self._others = list(self._elsewhere())
        return self._others

    def _elsewhere(self) -> Iterator[Target]:
        for group, version, plural in places(self.pipeline, self.request.resource.collection, self.request.subresource):
            other = structs.replace(self.target, group=group, version=version, plural=plural)
            if other != self.target:
                yield other

    # --- objects ---

    async def seen(self, target: Target) -> Seen:
        """The objects as they are seen at a place. Raises StatusError when they cannot be converted."""
        found = self._seen.get(target)
        if found is None:
            request = self.request
            obj = self._hidden(await self._in(target, request.obj)) if request.obj is not None else None
            old = await self._in(target, request.old) if request.old is not None else None
            found = self._seen[target] = Seen(obj, old)
        return found

    def changed(self) -> None:
        """The object is no longer the same."""
        self._seen.clear()

    async def _in(self, target: Target, obj: Object) -> Object:
        copy: Object = orjson.loads(orjson.dumps(obj))
        request = self.request
        if request.shown is not None:
            return request.shown.show(copy)
        if not self.is_whole():
            return copy
        own = self.served(self.target)
        if own is not None:
            copy = own.store.canonical(copy)
        served = self.served(target)
        return copy if served is None else await as_served(served, copy)

    def is_whole(self) -> bool:
        """Whether the object is the resource's own, not a subresource's body."""
        part = self._part()
        return part is None or part.kind in ("", self.request.resource.kind)

    def served(self, target: Target) -> Served | None:
        return self.pipeline.router.find(target.group, target.version, target.plural)

    def _hidden(self, obj: Object) -> Object:
        if self._hide:
            metadata = obj["metadata"]
            for name in (*_UNSET, "name") if self.request.generated_name else _UNSET:
                metadata.pop(name, None)
        return obj

    def as_request(self, target: Target) -> dict[str, Any]:
        """`AdmissionRequest` without objects, as reviews and expressions have it."""
        own, request = self.target, self.request
        asked: dict[str, Any] = {"kind": self.kind_of(target).as_json(), "resource": _place(target)}
        if own.subresource:
            asked["subResource"] = own.subresource
        asked |= {"requestKind": self.kind.as_json(), "requestResource": _place(own)}
        if own.subresource:
            asked["requestSubResource"] = own.subresource
        if self.name:
            asked["name"] = self.name
        if self.namespace:
            asked["namespace"] = self.namespace
        asked |= {"operation": request.operation, "userInfo": request.context.user.as_json()}
        return asked

    def seen_request(self, target: Target) -> dict[str, Any]:
        """The request as expressions see it."""
        asked = {**self.as_request(target), "dryRun": self.dry_run}
        if (options := self.options()) is not None:
            asked["options"] = options
        return asked

    def options(self) -> Mapping[str, Any] | None:
        """The options of what the write comes to: a patch creates or updates."""
        given = self.request.options
        kind = _OPTIONS.get(self.request.operation)
        if not given or kind is None or given.get("kind") == kind:
            return given or None
        return {name: kind if name == "kind" else value for name, value in given.items() if name != "force"}

    @property
    def dry_run(self) -> bool:
        return self.request.context.dry_run


def places(pipeline: Pipeline, collection: str, subresource: str) -> list[tuple[str, str, str]]:
    """Where the objects of a collection are served: group, version and plural."""
    return [
        (served.resource.group, served.version, served.resource.plural)
        for served in pipeline.router.served()
        if served.resource.collection == collection and (not subresource or subresource in served.subresources)
    ]


def _place(target: Target) -> dict[str, str]:
    return {"group": target.group, "version": target.version, "resource": target.plural}


async def as_served(served: Served, obj: Object) -> Object:
    """A stored object in the version of a place, which a webhook may have to convert it to. Raises StatusError."""
    codec = served.store.codec
    if (convert := getattr(codec, "converted", None)) is not None:
        converted: Object = await convert(obj, served.api_version)
        return converted
    shown: Object = codec.served(obj, served.version)
    return shown
