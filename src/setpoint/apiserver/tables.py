"""Tables: how a server prints objects for `kubectl get` (KEP-1555, `meta.k8s.io/v1 Table`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setpoint.api.machinery.schema import times
from setpoint.api.machinery.status import bad_request
from setpoint.apiserver import partial
from setpoint.apiserver.call import Call
from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object
from setpoint.registry.tables import TABLES
from setpoint.storage.protocol import Record

_NAME = Column(
    "Name",
    "string",
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to "
    "request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and "
    "configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
    "name",
)
_CREATED = Column(
    "Created At",
    "date",
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set "
    "in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and "
    "is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
)


def _default_cells(obj: Object, _now: float) -> list[Any]:
    metadata = obj["metadata"]
    return [metadata.get("name", ""), metadata.get("creationTimestamp") or times.ZERO]


#: what a kind without columns of its own shows
DEFAULT = Table((_NAME, _CREATED), _default_cells)


def layout_of(call: Call) -> Table:
    """The columns of the resource: its own, the built-in kind's, or name and creation."""
    resource = call.resource
    return resource.table or TABLES.get((resource.group, resource.kind), DEFAULT)


def table(
    call: Call, records: Sequence[Record], revision: int, metadata: dict[str, Any] | None = None, *, headers: bool = True
) -> dict[str, Any]:
    """A Table of `records`; `headers` off leaves the columns out, as in a watch after the first event."""
    layout, now, content = layout_of(call), call.clock.now(), content_of(call)
    if (order := layout.order) is not None:
        records = sorted(records, key=lambda record: order(call.store.codec.decode(record)))
    rows = [_row(call, layout, record, content, now) for record in records]
    if metadata is None:
        metadata = {"resourceVersion": str(revision)} if revision else {}
    return {
        **empty(metadata, call.form.version, call, headers=headers),
        "rows": rows or (None if layout is DEFAULT else rows),  # null where nobody wrote a printer for the kind
    }


def of_objects(
    call: Call, layout: Table, objects: Sequence[Object], metadata: dict[str, Any], *, headers: bool = True
) -> dict[str, Any]:
    """A Table of objects that are made and not stored (a Scale, the parts of the control plane, bookmarks)."""
    now, content = call.clock.now(), content_of(call)
    rows = []
    for obj in objects:
        shown = {"Object": obj, "None": None}.get(content, partial.one(obj["metadata"], call.form.version))
        rows.append({"cells": layout.cells(obj, now), "object": shown})
    columns = [_definition(column) for column in layout.columns] if headers else None
    version = f"meta.k8s.io/{call.form.version}"
    return {"kind": "Table", "apiVersion": version, "metadata": metadata, "columnDefinitions": columns, "rows": rows}


def content_of(call: Call) -> str:
    """What rows hold of their objects; raises 400 for a word that says nothing."""
    content = call.request.parameter("includeObject") or "Metadata"
    if content not in ("Metadata", "Object", "None"):
        why = f"includeObject: Invalid value: \"{content}\": must be 'Metadata', 'Object', 'None', or empty"
        raise bad_request(f"Unable to convert to Table as requested: {why}")
    return content


def empty(metadata: dict[str, Any], version: str, call: Call, *, headers: bool = True) -> dict[str, Any]:
    """A Table without rows."""
    layout = layout_of(call)
    return {
        "kind": "Table",
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata,
        "columnDefinitions": [_definition(column) for column in layout.columns] if headers else None,
        "rows": [],
    }


def _definition(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.text(),
        "priority": column.priority,
    }


def _row(call: Call, layout: Table, record: Record, content: str, now: float) -> dict[str, Any]:
    obj = call.store.codec.decode(record)
    row: dict[str, Any] = {"cells": layout.cells(obj, now)}
    if layout.conditions is not None and (conditions := layout.conditions(obj)):
        row["conditions"] = conditions
    if content == "Object":
        row["object"] = call.store.codec.served(obj, call.version)
    elif content == "None":
        row["object"] = None
    else:
        row["object"] = partial.one(obj["metadata"], call.form.version)
    return row
