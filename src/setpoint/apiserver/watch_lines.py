"""The lines of a watch: one JSON object per event, made once per event and form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.selecting import Matcher
from setpoint.storage.protocol import Event, Record

_INITIAL_END = "k8s.io/initial-events-end"
_VERSION = "@version@"  # stands in a bookmark for its version
#: what a Table's rows may hold besides the metadata that they hold without a word
_CONTENTS = ("None", "Object")


def transition(matched_now: bool, matched_before: bool) -> str:
    """What an event is for a watcher: ADDED, MODIFIED, DELETED, or nothing."""
    if matched_now:
        return "MODIFIED" if matched_before else "ADDED"
    return "DELETED" if matched_before else ""


class Lines:
    """Encodes events for one watch, in its version and form."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._codec = call.store.codec
        self._version = call.version
        self._form = call.form
        content = call.request.parameter("includeObject") if call.form.kind == "Table" else ""
        self._key = (call.version, call.form.kind, call.form.version, content if content in _CONTENTS else "")
        self._table_started = False
        self._bookmark: list[bytes] = []

    def added(self, records: Sequence[Record]) -> bytes:
        """Records that are there already, as ADDED."""
        return b"".join([self._line("ADDED", self._object(record)) for record in records])

    def events(self, events: Sequence[Event], matches: Matcher | None) -> bytes:
        """What of `events` concerns this watch."""
        lines = []
        for event in events:
            if matches is None:
                kind = "DELETED" if event.record is None else "ADDED" if event.previous is None else "MODIFIED"
            else:
                kind = transition(self._matched(event.record, matches), self._matched(event.previous, matches))
            if kind:
                lines.append(self._event(event, kind))
        return lines[0] if len(lines) == 1 else b"".join(lines)

    def _matched(self, record: Record | None, matches: Matcher) -> bool:
        return record is not None and matches(self._codec.selection(record))

    def _event(self, event: Event, kind: str) -> bytes:
        if self._form.kind == "Table" and not self._table_started:
            return self._line(kind, self._object(self._record(event, kind)))
        if event.lines is None:
            event.lines = {}
        key = (kind, *self._key)
        line = event.lines.get(key)
        if line is None:
            line = event.lines[key] = self._line(kind, self._object(self._record(event, kind)))
        return line

    def _record(self, event: Event, kind: str) -> Record:
        """The state that the event shows: the new one, or for DELETED the last with the version of the event."""
        if kind != "DELETED" and event.record is not None:
            return event.record
        previous = event.previous
        if previous is None:
            raise AssertionError("a deletion without a previous state")
        return self._codec.deleted(previous, event.revision)

    def _object(self, record: Record) -> bytes:
        form = self._form
        if not form.kind:
            return self._codec.json(record, self._version)
        if form.kind == "Table":
            from setpoint.apiserver import tables

            table = tables.table(self._call, [record], record.revision, headers=not self._table_started)
            self._table_started = True
            return orjson.dumps(table)
        from setpoint.apiserver import partial

        if self._codec.reads_plainly:
            return partial.of_json(record.value, form.version)
        return orjson.dumps(partial.one(self._codec.decode(record)["metadata"], form.version))

    @staticmethod
    def _line(kind: str, value: bytes) -> bytes:
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), value)

    def bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        """Tells that everything up to `revision` has been sent; `initial_end` marks the end of the state at the start."""
        if initial_end or self._form.kind == "Table":
            metadata: dict[str, Any] = {"resourceVersion": str(revision)}
            if initial_end:
                metadata["annotations"] = {_INITIAL_END: "true"}
            return self._line("BOOKMARK", orjson.dumps(self._empty(metadata)))
        if not self._bookmark:  # made once a watch, but for the version: every watch has one a minute
            line = self._line("BOOKMARK", orjson.dumps(self._empty({"resourceVersion": _VERSION})))
            self._bookmark = line.split(_VERSION.encode())
        return str(revision).encode().join(self._bookmark)

    def _empty(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """An object that has nothing but this metadata, in the form of the watch: in a Table it is a row as any other."""
        form, call, resource = self._form, self._call, self._call.resource
        if form.kind not in ("", "Table"):
            return {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{form.version}", "metadata": metadata}
        obj = {"kind": resource.kind, "apiVersion": api_version(resource, self._version), "metadata": metadata}
        obj = call.bodies.canonical(obj, resource, self._version)
        if not form.kind:
            return obj
        from setpoint.apiserver import tables

        listed = {"resourceVersion": metadata["resourceVersion"]}
        table = tables.of_objects(call, tables.layout_of(call), [obj], listed, headers=not self._table_started)
        self._table_started = True
        return table

    def error(self, error: StatusError) -> bytes:
        return self._line("ERROR", orjson.dumps(error.status()))
