"""The codec of a kind whose versions a webhook converts: it reads the forms that `ConvertingStore` had made before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from setpoint.api.machinery import compact
from setpoint.apiserver.custom_resources.codec import CustomCodec, Family, conform
from setpoint.apiserver.custom_resources.conversion import Converter
from setpoint.apiserver.generic_store.objects import Selection, ordered, select, stamped
from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Object, Strategy
from setpoint.storage.protocol import Encode, Encoded, Record


class WebhookCodec(CustomCodec):
    """The objects of one kind, for the store of one version."""

    def __init__(self, resource: ServedResource, family: Family, converter: Converter) -> None:
        super().__init__(resource, family)
        self._converter = converter

    def decode(self, record: Record) -> Object:
        obj: Object = orjson.loads(self._form(record, self.stored_version))
        return obj

    def deleted(self, previous: Record, revision: int) -> Record:
        record = super().deleted(previous, revision)
        record.forms = {key: stamped(value, revision) for key, value in (previous.forms or {}).items()}
        return record

    async def prepare(self, records: Sequence[Record]) -> None:
        """Give records the forms that this endpoint reads, by one call for each form. Raises 500."""
        for wanted in {self.stored_version, self._family.stored}:
            key = (wanted, self._family.generation)
            pairs = [(record, obj) for record, obj in self._others(records, wanted) if key not in (record.forms or {})]
            converted = await self._converter.convert([obj for _, obj in pairs], wanted)
            for (record, _), obj in zip(pairs, converted, strict=True):
                record.forms = record.forms or {}
                record.forms[key] = compact.dumps(self._pruned(obj, wanted))

    def _others(self, records: Sequence[Record], wanted: str) -> Iterator[tuple[Record, Object]]:
        """The records that are stored in another version than the one wanted (which is asked for if it is the endpoint's own)."""
        key = (wanted, self._family.generation)
        for record in records:
            if (record.forms and key in record.forms) or (
                wanted == self._family.stored and record.value.startswith(self._stored_head)
            ):
                continue
            obj = orjson.loads(record.value)
            if obj["apiVersion"] != wanted:
                conform(obj, self._family.schemas)
                yield record, obj

    def _pruned(self, obj: Object, wanted: str) -> Object:
        changed = ordered(obj, self.resource.kind, wanted)
        conform(changed, self._family.schemas, defaults=False)
        return changed

    def encoder(self, strategy: Strategy, obj: Object) -> Encode:
        return _Writing(self, obj, select(strategy, obj))

    async def rehearsed(self, obj: Object, imagined: Record) -> Record:
        writing = _Writing(self, obj, imagined.selection)
        await writing.there_and_back()
        imagined.value = compact.dumps(writing.written)
        writing.keep(imagined)
        return imagined

    async def there_and_back(self, obj: Object) -> tuple[Object, Object]:
        """An object in the version that is stored, and in the endpoint's again."""
        wanted = self._family.stored
        written = ordered(await self.converted(obj, wanted), self.resource.kind, wanted)
        return written, await self.converted(written, self.stored_version)

    async def converted(self, obj: Object, wanted: str) -> Object:
        """One object in another version, of its own; the same if it is in it already."""
        if obj["apiVersion"] == wanted:
            return obj
        (found,) = await self._converter.convert([obj], wanted)
        return self._pruned(orjson.loads(orjson.dumps(found)), wanted)

    @property
    def storage(self) -> tuple[str, int]:
        return self._family.stored, self._family.generation


class _Writing:
    """A write of `obj`: converted before it, there and back, so that nothing remains to fail when it is done."""

    def __init__(self, codec: WebhookCodec, obj: Object, selection: Selection) -> None:
        self._codec = codec
        self._obj = obj
        self._selection = selection
        self.written = self._back = obj

    async def there_and_back(self) -> None:
        self.written, self._back = await self._codec.there_and_back(self._obj)

    def __call__(self, revision: int) -> Encoded:
        for each in (self.written, self._back, self._obj):
            each["metadata"]["resourceVersion"] = str(revision)
        return Encoded(compact.dumps(self.written), self._selection)

    def keep(self, record: Record) -> None:
        """Leave the form of the endpoint's version with the record that was written."""
        stored, generation = self._codec.storage
        if stored != self._codec.stored_version:
            record.forms = record.forms or {}
            record.forms[self._codec.stored_version, generation] = orjson.dumps(self._back)
