"""Stored objects: their bytes, what selectors need of them, and their other forms.

Stored JSON begins with kind and apiVersion (design, decision 4), so that a list of a built-in kind slices them off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from setpoint.api.machinery import compact
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object, Strategy
from setpoint.storage.protocol import Encode, Encoded, Record

_NOTHING: Mapping[str, str] = {}


#: brings an object of an apiVersion into the form that its Go struct writes
#: brings an object of an API version into canonical form; what it shares with another that is in it already is left out
Canonical = Callable[[Object, str, Mapping[str, Any]], Object]


class Selection(NamedTuple):
    """What selectors look at."""

    labels: Mapping[str, str]
    fields: Mapping[str, str]


def select(strategy: Strategy, obj: Object) -> Selection:
    """The labels and selectable fields of an object."""
    metadata = obj["metadata"]
    fields = {"metadata.name": metadata.get("name", ""), "metadata.namespace": metadata.get("namespace", "")}
    fields.update(strategy.fields(obj))
    return Selection(metadata.get("labels") or _NOTHING, fields)


def encoder(strategy: Strategy, obj: Object) -> Encode:
    """What the store calls with the revision that the write gets."""

    def encode(revision: int) -> Encoded:
        obj["metadata"]["resourceVersion"] = str(revision)
        return Encoded(compact.dumps(obj), select(strategy, obj))

    return encode


class Codec:
    """One resource's objects in the version that is stored and in the others that are served."""

    def __init__(self, resource: ServedResource, canonical: Canonical | None = None) -> None:
        self.resource = resource
        self._canonical = canonical
        self.stored_version = resource.stored_api_version or api_version(resource, resource.storage_version)
        self._api_versions = {version: api_version(resource, version) for version in resource.versions}
        self._heads = {version: head(resource.kind, full) for version, full in self._api_versions.items()}
        self._fields: dict[str, Callable[[Record], str]] = {}

    @property
    def reads_plainly(self) -> bool:
        """Whether a record's bytes are the object, with nothing to be done when it is read."""
        return type(self).decode is Codec.decode

    def is_stored(self, version: str) -> bool:
        """Whether objects of a served version are stored as they are."""
        return self._api_versions[version] == self.stored_version

    def decode(self, record: Record) -> Object:
        """The stored object, as a dict of the caller's own."""
        obj: Object = orjson.loads(record.value)
        return obj

    def is_current(self, record: Record) -> bool:
        """Whether the record's bytes are what writing the same object now would store; else even a no-op is written."""
        return True

    def encoder(self, strategy: Strategy, obj: Object) -> Encode:
        """What the store calls with the revision that a write of `obj` gets."""
        return encoder(strategy, obj)

    async def rehearsed(self, obj: Object, imagined: Record) -> Record:
        """The record that a write of `obj` would have left. Raises what stops such a write before it reaches the store."""
        return imagined

    def deleted(self, previous: Record, revision: int) -> Record:
        """The last state of an object with the version of its deletion."""
        return Record(previous.key, stamped(previous.value, revision), revision, previous.created, previous.selection)

    def selection(self, record: Record) -> Selection:
        """What selectors look at; computed when the store read the record from disk."""
        if record.selection is None:
            record.selection = select(self.resource.strategy, orjson.loads(record.value))
        chosen: Selection = record.selection
        return chosen

    def field(self, name: str) -> Callable[[Record], str]:
        """What reads a selectable field of a record; always the same function for one field."""
        read = self._fields.get(name)
        if read is None:
            read = self._fields[name] = lambda record: self.selection(record).fields.get(name, "")
        return read

    def stored(self, obj: Object, version: str) -> Object:
        """An object of a served version in the stored one."""
        return obj if self.is_stored(version) else self._change(obj, self.stored_version)

    def served(self, obj: Object, version: str) -> Object:
        """A stored object in a served version."""
        return obj if self.is_stored(version) else self._change(obj, self._api_versions[version])

    def json(self, record: Record, version: str) -> bytes:
        """The JSON of a record in a served version; other versions than the stored one are made once per record."""
        wanted = self._api_versions[version]
        if wanted == self.stored_version:
            return record.value
        if record.forms is None:
            record.forms = {}
        made = record.forms.get(wanted)
        if made is None:
            made = record.forms[wanted] = compact.dumps(self._change(orjson.loads(record.value), wanted))
        return made

    def item(self, record: Record, version: str) -> bytes:
        """The record as an item of a list: without kind and apiVersion."""
        value = self.json(record, version)
        start = self._heads[version]
        return b"{" + value[len(start) :] if value.startswith(start) else value

    def items(self, records: Sequence[Record], version: str) -> bytes:
        """The items of a list, joined; the bytes of records that are stored as they are served are copied once."""
        start = self._heads[version]
        if self.is_stored(version) and all(record.value.startswith(start) for record in records):
            after = len(start)
            return b"{" + b",{".join([memoryview(record.value)[after:] for record in records]) if records else b""
        return b",".join([self.item(record, version) for record in records])

    def _change(self, obj: Object, wanted: str) -> Object:
        if self.resource.convert is not None:
            obj = self.resource.convert(obj, wanted)
        changed = ordered(obj, self.resource.kind, wanted)
        return self._canonical(changed, wanted, {}) if self._canonical is not None else changed


def stamped(value: bytes, revision: int) -> bytes:
    """An object's JSON with another resourceVersion."""
    obj = orjson.loads(value)
    obj["metadata"]["resourceVersion"] = str(revision)
    return orjson.dumps(obj)


def api_version(resource: ServedResource, version: str) -> str:
    return f"{resource.group}/{version}" if resource.group else version


def head(kind: str, version: str) -> bytes:
    """How the JSON of an object begins, up to where its own fields start."""
    start: bytes = orjson.dumps({"kind": kind, "apiVersion": version})
    return start[:-1] + b","


def ordered(obj: Mapping[str, Any], kind: str, version: str) -> Object:
    """A copy of the object's top level that begins with kind and apiVersion."""
    out: Object = {"kind": kind, "apiVersion": version}
    out.update(obj)
    out["kind"], out["apiVersion"] = kind, version
    return out
