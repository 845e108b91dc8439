"""From bodies to objects: decoding, the schema of a kind, defaults, versions."""

from __future__ import annotations

from typing import Any, Protocol

import orjson

from setpoint.api.machinery.status import bad_request
from setpoint.apiserver.generic_store.objects import Codec, api_version, ordered
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object, Strategy


class Schemas(Protocol):
    """`api.machinery.schema.trees`: the tree of a definition, made when first asked for."""

    def tree(self, definition: str) -> Any: ...


class Bodies:
    """Decodes request bodies for any served resource."""

    def __init__(self, schemas: Schemas | None) -> None:
        self._schemas = schemas
        self._nodes: dict[str, Any] = {}

    def node(self, resource: ServedResource, version: str) -> Any:
        """The schema tree of a kind in a version; None where there is none."""
        own = resource.extra.get("node")
        if own is not None:
            return own(version)
        definition = resource.definitions.get(version)
        return self.definition(definition) if definition else None

    def definition(self, name: str) -> Any:
        """A tree by the name of its definition."""
        if name in self._nodes:
            return self._nodes[name]
        try:
            node = self._schemas.tree(name) if self._schemas is not None else None
        except KeyError:
            node = None
        self._nodes[name] = node
        return node

    def decode(
        self, body: bytes, media: str, resource: ServedResource, version: str, validation: str, *, kind: str = ""
    ) -> tuple[Object, list[str]]:
        """An object of the URL's kind and version, canonical, beginning with kind and apiVersion; and warnings. Raises 400."""
        wanted, kind = api_version(resource, version), kind or resource.kind
        obj, warnings = _decode(body, media, self.node(resource, version), validation)
        return settle(obj, kind, wanted), warnings

    def decode_as(
        self, body: bytes, media: str, definition: str, kind: str, api_version: str, validation: str
    ) -> tuple[Object, list[str]]:
        """A body of another kind than the resource's: a Scale, a Binding, a TokenRequest."""
        obj, warnings = _decode(body, media, self.definition(definition), validation)
        return settle(obj, kind, api_version), warnings

    def canonical(self, obj: Object, resource: ServedResource, version: str) -> Object:
        """A built-in kind's object as its Go struct writes it; changed in place."""
        node = self.node(resource, version)
        if node is None or resource.extra.get("custom"):
            return obj
        from setpoint.api.machinery.schema.canonical import canonicalise

        return canonicalise(obj, node)

    def patched(
        self, patched: Any, resource: ServedResource, version: str, validation: str, warnings: list[str], patch: bytes
    ) -> Object:
        """What a JSON or merge patch made, decoded as Kubernetes does: from its JSON. Raises 422."""
        obj, found = _decode(orjson.dumps(patched), "application/json", self.node(resource, version), validation)
        warnings += found
        return settle(obj, resource.kind, api_version(resource, version))

    def restored(
        self,
        patched: Object,
        resource: ServedResource,
        version: str,
        validation: str,
        warnings: list[str],
        patch: Any,
        body: bytes,
    ) -> Object:
        """What a strategic merge patch made. Raises 422."""
        obj, found = _decode(orjson.dumps(patched), "application/json", self.node(resource, version), validation)
        warnings += found
        return settle(obj, resource.kind, api_version(resource, version))

    def complete(self, obj: Object, resource: ServedResource, version: str, strategy: Strategy, codec: Codec) -> Object:
        """A decoded object in the stored version with its defaults set."""
        obj = codec.stored(obj, version)
        strategy.default(obj)
        return obj


def settle(obj: Object, kind: str, wanted: str) -> Object:
    """The object as one of `kind` and apiVersion `wanted`, which stand first; raises 400 when it says it is another."""
    given_kind, given_version = obj.get("kind") or kind, obj.get("apiVersion") or wanted
    if given_kind != kind or given_version != wanted:
        version = given_version.rpartition("/")[2]
        why = f'no kind "{given_kind}" is registered for version "{given_version}" in scheme "pkg/api/legacyscheme/scheme.go:30"'
        if given_version.count("/") <= 1 and version in _KNOWN_VERSIONS:
            why = f"converting ({version}.{given_kind}) to ({_internal(wanted)}.{kind}): unknown conversion"
        raise bad_request(f'{given_kind} in version "{version}" cannot be handled as a {kind}: {why}')
    obj = ordered(obj, kind, wanted)
    if not isinstance(obj.get("metadata"), dict):
        obj["metadata"] = {}
    return obj


_KNOWN_VERSIONS = ("v1",)


def _internal(api_version: str) -> str:
    """The Go package of a group's internal types: `core`, `apps`, `rbac`."""
    return api_version.rpartition("/")[0].partition(".")[0] or "core"


def _decode(body: bytes, media: str, node: Any, validation: str) -> tuple[Object, list[str]]:
    if node is not None and (decode := _decoder()) is not None:
        obj, warnings = decode(body, media, node, validation=validation)
        return obj, list(warnings)
    obj = orjson.loads(body)
    return obj if isinstance(obj, dict) else {}, []


def _decoder() -> Any:
    """`api.machinery.decode.decode`."""
    try:
        from setpoint.api.machinery import decode
    except ImportError:
        return None
    return decode.decode
