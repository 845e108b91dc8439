"""`scale`: `spec.replicas` of a workload, read and written as an `autoscaling/v1 Scale`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from setpoint.api.machinery import selectors
from setpoint.api.machinery.fields import applying as fields
from setpoint.api.machinery.fields import tracking
from setpoint.api.machinery.status import invalid, invalid_object
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.handlers import apply as applying
from setpoint.apiserver.handlers import patch as patching
from setpoint.apiserver.handlers.update import check_identity, check_uid
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import WriteOptions, manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.resource import ServedResource, Table
from setpoint.registry.strategy import Object, Strategy
from setpoint.storage.protocol import Record

KIND, VERSION = "Scale", "autoscaling/v1"
_DEFINITION = "io.k8s.api.autoscaling.v1.Scale"
#: the kind as patches see it; it is never stored
_SCALES = ServedResource("autoscaling", ("v1",), "scales", "scale", KIND, True, Strategy(), {"v1": _DEFINITION})
_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")

Make = Callable[[Object], Object]
Write = Callable[[Call, WriteOptions, Make], Awaitable[Response]]


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    if call.info.verb == "get":
        record = await call.store.get(call.info.namespace, call.info.name)
        return _answer(call, scale_of(call.store.codec.decode(record), call.resource))
    if call.info.verb == "update":
        options = write_options(call.request, "UpdateOptions")
        scale = read(call, options)
        return await _write(call, options, lambda _: scale)
    return await patched(call, _write, _apply)


def read(call: Call, options: WriteOptions) -> Object:
    """The Scale that a body brings. Raises 400."""
    body, media = call.request.body, body_type(call.request)
    scale, warnings = call.bodies.decode_as(body, media, _DEFINITION, KIND, VERSION, options.validation)
    call.warnings += warnings
    return scale


async def patched(call: Call, write: Write, apply: Callable[[Call], Awaitable[Response]]) -> Response:
    media = patching.patch_type(call)
    if media == patching.APPLY_YAML:
        return await apply(call)
    options = write_options(call.request, "PatchOptions")
    body, warnings = call.request.body, list[str]()
    patch = updating.anew(patching.read_patch(body, media), lambda: patching.read_patch(body, media))

    def changed(current: Object) -> Object:
        scale, warnings[:] = patching.apply_patch(call, current, patch(), media, options, other=_SCALES)
        return scale

    response = await write(call, options, changed)
    call.warnings[:0] = warnings
    return response


def applied(call: Call, options: WriteOptions) -> Object:
    """The Scale that a server-side apply brings."""
    scale = applying.read(call, options.validation)
    fields.check(scale, VERSION, KIND)
    fields.check_types(scale, tracking.root(call.bodies.tree(_SCALES, _SCALES.storage_version)))
    scale["metadata"] = fields.metadata_of(scale)
    return scale


async def _apply(call: Call) -> Response:
    """Server-side apply of a Scale: an apply of the parent's `spec.replicas` under the subresource's name."""
    options = write_options(call.request, "PatchOptions", apply=True)
    scale = applied(call, options)
    manager = manager_of(options, call.request)
    resource, store, wanted = call.resource, call.store, api_version(call.resource, call.version)

    async def compute(old: Object) -> Object:
        check_identity(call, scale)
        _check_replicas(call, scale)
        configuration = {"apiVersion": wanted, "kind": resource.kind, "metadata": {"name": call.info.name}}
        replicas = (scale.get("spec") or {}).get("replicas")
        if replicas is not None:
            configuration["spec"] = {"replicas": replicas}
        live = store.codec.served(old, call.version)
        merged = ownership.apply(call, live, configuration, manager, force=bool(options.force))
        return call.bodies.complete(merged, resource, call.version, resource.strategy, store.codec)

    change = updating.Update(name=call.info.name, compute=compute, strategy=resource.strategy, patch=True, shown=_Shown(resource))
    outcome = await updating.update(store, call.context("UPDATE", options), change)
    return _answer(call, scale_of(_object(outcome.record), resource))


class _Shown:
    """What admission sees of a workload whose Scale is written."""

    def __init__(self, resource: ServedResource) -> None:
        self._resource = resource

    def show(self, obj: Object) -> Object:
        return scale_of(obj, self._resource)

    def take(self, obj: Object, shown: Object) -> None:
        obj["spec"] = {**(obj.get("spec") or {}), "replicas": (shown.get("spec") or {}).get("replicas") or 0}


def _check_replicas(call: Call, scale: Object) -> int:
    replicas: int = (scale.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid_object("autoscaling", KIND, call.info.name, [error])
    return replicas


async def _write(call: Call, options: WriteOptions, make: Make) -> Response:
    strategy = call.resource.strategy

    async def compute(old: Object) -> Object:
        scale = make(scale_of(old, call.resource))
        check_identity(call, scale)
        check_uid(call, scale["metadata"].get("uid"), old["metadata"]["uid"])
        replicas = _check_replicas(call, scale)
        metadata = {**old["metadata"], "resourceVersion": scale["metadata"].get("resourceVersion") or ""}
        return {**old, "metadata": metadata, "spec": {**old.get("spec", {}), "replicas": replicas}}

    change = updating.Update(
        name=call.info.name,
        compute=compute,
        strategy=strategy,
        own=ownership.for_scale(call, manager_of(options, call.request), lambda obj: obj["spec"].get("replicas")),
        patch=True,
        shown=_Shown(call.resource),
    )
    outcome = await updating.update(call.store, call.context("UPDATE", options), change)
    return _answer(call, scale_of(_object(outcome.record), call.resource))


def _answer(call: Call, scale: Object) -> Response:
    if call.form.kind != "Table":
        return answers.made_answer(call, scale, f"autoscaling.{KIND}")
    from setpoint.registry.tables import TABLES

    return as_table(call, scale, TABLES["autoscaling", KIND])


def as_table(call: Call, scale: Object, layout: Table) -> Response:
    """A Scale in a Table of one row."""
    from setpoint.apiserver import tables

    version = {"resourceVersion": scale["metadata"]["resourceVersion"]}
    return answers.value_answer(call, tables.of_objects(call, layout, [scale], version))


def _object(record: Record) -> Object:
    obj: Object = orjson.loads(record.value)
    return obj


def scale_of(obj: Object, resource: ServedResource) -> Object:
    """The Scale of a workload; its selector as text."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    scale_spec = {"replicas": spec["replicas"]} if spec.get("replicas") else {}
    out: dict[str, Any] = {"replicas": status.get("replicas") or 0}
    if selector := _selector(spec, resource):
        out["selector"] = selector
    return as_scale(obj, scale_spec, out)


def as_scale(obj: Object, spec: Object, status: Object) -> Object:
    """A Scale with the identity of the object that it is of."""
    metadata = {name: obj["metadata"][name] for name in _METADATA if name in obj["metadata"]}
    return {"kind": KIND, "apiVersion": VERSION, "metadata": metadata, "spec": spec, "status": status}


def _selector(spec: Object, resource: ServedResource) -> str:
    selector = spec.get("selector")
    if not selector:
        return ""
    if resource.kind == "ReplicationController":
        return str(selectors.from_labels(selector))
    return selectors.to_string(selector)
