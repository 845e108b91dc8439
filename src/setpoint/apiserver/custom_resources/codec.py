"""Stored custom objects.

Every served version has a generic store of its own, whose rules see objects of that version, as in Kubernetes; only what is
written is brought into the storage version. What was stored under an older schema is pruned and defaulted when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson

from setpoint.api.machinery import compact
from setpoint.api.machinery.schema import pruning
from setpoint.apiserver.generic_store.objects import Codec, Selection, api_version, head, ordered, select
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object, Strategy
from setpoint.storage.protocol import Encode, Encoded, Record


class Family(Protocol):
    """What the versions of one kind have in common (`kinds.Kind`)."""

    stored: str
    generation: int
    schemas: dict[str, Mapping[str, Any]]

    def convert(self, obj: Object, wanted: str) -> Object:
        """A new object in another apiVersion; may share parts."""


class CustomCodec(Codec):
    """The objects of one kind, for the store of one version."""

    def __init__(self, resource: ServedResource, family: Family) -> None:
        super().__init__(resource)
        self._family = family
        self._working = resource.storage_version
        self.stored_version = api_version(resource, self._working)
        self._stored_head = head(resource.kind, family.stored)

    def decode(self, record: Record) -> Object:
        return self._read(record.value, self.stored_version)

    def _read(self, value: bytes, wanted: str) -> Object:
        """A stored object as the present definition sees it, in any version of its kind."""
        family = self._family
        obj: Object = orjson.loads(value)
        conform(obj, family.schemas)
        if obj["apiVersion"] != wanted:
            obj = family.convert(obj, wanted)
            conform(obj, family.schemas, defaults=False)
        return obj

    def is_current(self, record: Record) -> bool:
        return record.value.startswith(self._stored_head) and self._form(record, self._family.stored) is record.value

    def json(self, record: Record, version: str) -> bytes:
        return self._form(record, self._api_versions[version])

    def _form(self, record: Record, wanted: str) -> bytes:
        key = (wanted, self._family.generation)
        forms = record.forms
        if forms is None:
            forms = record.forms = {}
        made = forms.get(key)
        if made is None:
            made = dumps(self._read(record.value, wanted))
            forms[key] = made = record.value if made == record.value else made
        return made

    def item(self, record: Record, version: str) -> bytes:
        return self.json(record, version)

    def items(self, records: Sequence[Record], version: str) -> bytes:
        return b",".join([self.json(record, version) for record in records])

    def selection(self, record: Record) -> Selection:
        """What selectors look at: each version of each state of the definition has selectable fields of its own."""
        key = ("selection", self._working, self._family.generation)
        forms: Any = record.forms
        if forms is None:
            forms = record.forms = {}
        chosen: Selection | None = forms.get(key)
        if chosen is None:
            chosen = forms[key] = select(self.resource.strategy, self.decode(record))
        return chosen

    def served(self, obj: Object, version: str) -> Object:
        return self._change(obj, self._api_versions[version])

    def stored(self, obj: Object, version: str) -> Object:
        return self._change(obj, self.stored_version)

    def _change(self, obj: Object, wanted: str) -> Object:
        if obj["apiVersion"] == wanted:
            return obj
        changed = self._family.convert(orjson.loads(orjson.dumps(obj)), wanted)  # pruned below, and the caller's stays whole
        conform(changed, self._family.schemas, defaults=False)
        return changed

    def encoder(self, strategy: Strategy, obj: Object) -> Encode:
        written = self._written(obj)
        selection = select(strategy, obj)

        def encode(revision: int) -> Encoded:
            written["metadata"]["resourceVersion"] = obj["metadata"]["resourceVersion"] = str(revision)
            return Encoded(dumps(written), selection)

        return encode

    async def rehearsed(self, obj: Object, imagined: Record) -> Record:
        imagined.value = dumps(self._written(obj))
        return imagined

    def _written(self, obj: Object) -> Object:
        wanted = self._family.stored
        return ordered(self._change(obj, wanted), self.resource.kind, wanted)


_LARGE = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?)([0-9])(?:\.([0-9]+))?e\+(18|19|20)(?![0-9])')


def dumps(obj: Object) -> bytes:
    """JSON in which whole numbers below 1e21 have all their digits, as Go writes them."""
    text = compact.dumps(obj)
    return _LARGE.sub(_digits, text) if b"e+" in text else text


def _digits(found: re.Match[bytes]) -> bytes:
    sign, first, rest, exponent = found.groups()
    if first is None:  # a text
        return found[0]
    return bytes(sign + first + (rest or b"").ljust(int(exponent), b"0"))


def conform(obj: Object, schemas: Mapping[str, Mapping[str, Any]], *, defaults: bool = True) -> None:
    """Prune and default an object by the schema of its version, in place."""
    schema = schemas.get(obj["apiVersion"])
    if schema is not None:
        pruning.prune(obj, schema)
        if defaults:
            pruning.default(obj, schema)


def relabelled(obj: Object, wanted: str) -> Object:
    """Conversion `None`: nothing changes but the apiVersion."""
    return ordered(obj, obj["kind"], wanted)
