"""Who owns which field (metadata.managedFields) of what is being written.

Kubernetes computes ownership on the decoded and defaulted object, before admission and before the strategy's prepare hook, and
leaves out the fields that the endpoint resets (`reset_fields`: status on the main endpoint, spec on status).
Source: apiserver `endpoints/handlers/create.go`, `update.go`; apimachinery `managedfields`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setpoint.api.machinery import decode, fields, registered
from setpoint.api.machinery.fields.tracking import Convert, Write
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.registry.resource import CustomKind
from setpoint.registry.strategy import Object, Strategy


def for_create(call: Call, manager: str) -> Callable[[Object], None]:
    """What sets managedFields of a new object."""

    def own(obj: Object) -> None:
        _own(call, obj, None, manager, call.resource.strategy)

    return own


def for_update(call: Call, manager: str) -> Callable[[Object, Object], None]:
    """What sets managedFields of a changed object."""

    def own(obj: Object, old: Object) -> None:
        _own(call, obj, old or None, manager, endpoint_strategy(call))

    return own


def for_scale(call: Call, manager: str, replicas: Callable[[Object], int | None]) -> Callable[[Object, Object], None]:
    """The same of a write of `scale`. A Scale that says zero says nothing (the field is left out), and so owns nothing."""
    update = for_update(call, manager)

    def own(obj: Object, old: Object) -> None:
        update(obj, old)
        entries = obj["metadata"].get("managedFields")
        if not entries or replicas(obj):
            return
        kept = [entry for entry in entries if (entry.get("subresource"), entry.get("operation")) != ("scale", "Update")]
        if kept:
            obj["metadata"]["managedFields"] = kept
        else:
            del obj["metadata"]["managedFields"]

    return own


def of_body(call: Call, obj: Object, node: Node | None, wanted: str, manager: str) -> None:
    """Set managedFields of an answered object that is never stored: a TokenRequest, a review."""
    if node is not None:
        time, subresource = call.store.stamp(), call.info.subresource
        fields.update(None, obj, node, Write(manager, wanted, time, kind=obj["kind"], subresource=subresource))


def endpoint_strategy(call: Call) -> Strategy:
    """The rules of the endpoint: the subresource's own, or the kind's."""
    if call.subresource is not None and call.subresource.strategy is not None:
        return call.subresource.strategy
    return call.resource.strategy


def _own(call: Call, obj: Object, old: Object | None, manager: str, strategy: Strategy) -> None:
    node = call.bodies.node(call.resource, call.version)
    if node is None:
        obj["metadata"].pop("managedFields", None)
        return
    custom = call.resource.custom
    convert = _unpruned(call, custom) if custom else _converter(call)
    _track(call, obj, old, node, _write(call, manager, strategy, convert))
    if decode.holds_empty_list(call.request.body):
        call.store.canonical(obj)


def _track(call: Call, obj: Object, old: Object | None, node: Node, write: Write) -> None:
    codec = call.store.codec
    same_version = codec.is_stored(call.version)
    new = obj if same_version else codec.served(obj, call.version)
    before = old if same_version or old is None else codec.served(old, call.version)
    fields.update(before, new, node, write)
    if new is not obj:
        entries = new["metadata"].get("managedFields")
        if entries is None:
            obj["metadata"].pop("managedFields", None)
        else:
            obj["metadata"]["managedFields"] = entries


def _converter(call: Call) -> Convert:
    """Objects in the versions of older entries. Raises 500 for a version that a custom resource does not have any more."""
    resource, codec = call.resource, call.store.codec
    if len(resource.versions) == 1 and not resource.stored_api_version and not resource.custom:
        return _unchanged(call)
    versions = {api_version(resource, version): version for version in resource.versions}

    def convert(obj: Object, wanted: str) -> tuple[Object, Any] | None:
        stored = codec.stored(obj, versions[obj["apiVersion"]]) if obj["apiVersion"] in versions else obj
        if wanted in versions:
            return codec.served(stored, versions[wanted]), call.bodies.node(resource, versions[wanted])
        if resource.custom:
            raise StatusError(500, "", f"request to convert CR to an invalid group/version: {wanted}")
        return (stored, call.pipeline.stored_node(resource)) if wanted == codec.stored_version else None

    return convert


def _unchanged(call: Call) -> Convert:
    """Of a resource of one version: what entries of former versions own has the same names, other versions there are none."""
    resource, here = call.resource, api_version(call.resource, call.version)

    def convert(obj: Object, wanted: str) -> tuple[Object, Any] | None:
        if wanted == here or registered.readable(wanted, resource.kind):
            return obj, call.bodies.node(resource, call.version)
        return None

    return convert


def _unpruned(call: Call, custom: CustomKind) -> Convert:
    """The same of a custom resource that is updated: conversions are not pruned here, and what does not fit then is an error."""
    resource = call.resource
    versions = {api_version(resource, version): version for version in resource.versions}

    def convert(obj: Object, wanted: str) -> tuple[Object, Any] | None:
        if wanted not in versions:
            raise fields.Misfit(wanted)
        try:
            converted = custom.convert(obj, wanted)
        except StatusError as error:
            raise fields.Misfit(wanted) from error
        node = call.bodies.tree(resource, versions[wanted])
        if not fields.fits(converted, node):
            raise fields.Misfit(wanted)
        return converted, node

    return convert


def apply(call: Call, live: Object | None, applied: Object, manager: str, *, force: bool) -> Object:
    """Server-side apply of a configuration to an object in the version of the URL. Raises 400, 409, 500."""
    resource, version = call.resource, call.version
    node = call.bodies.tree(resource, version)
    return fields.apply(live, applied, node, _write(call, manager, endpoint_strategy(call), _converter(call)), force=force)


def _write(call: Call, manager: str, strategy: Strategy, convert: Convert) -> Write:
    return Write(
        manager=manager,
        api_version=api_version(call.resource, call.version),
        time=call.store.stamp(),
        kind=call.resource.kind,
        subresource=call.info.subresource,
        reset=strategy.reset_fields,
        convert=convert,
    )
