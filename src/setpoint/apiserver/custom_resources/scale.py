"""`scale` of custom resources: an `autoscaling/v1 Scale` read from, and written to, the paths of the definition.

Source: apiextensions-apiserver `pkg/registry/customresource/etcd.go` (ScaleREST).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.jsonpath import JsonPath
from setpoint.api.machinery.status import StatusError, bad_request, internal_error
from setpoint.apiserver import answers, ownership
from setpoint.apiserver.call import Call
from setpoint.apiserver.custom_resources import columns
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.generic_store.objects import api_version
from setpoint.apiserver.generic_store.store import Outcome
from setpoint.apiserver.handlers.subresources import scale as scales
from setpoint.apiserver.handlers.update import check_identity, check_uid
from setpoint.apiserver.negotiation import accepted
from setpoint.apiserver.options import WriteOptions, manager_of, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object

_UNCONVERTIBLE = (
    "failed to convert new object (/{}; autoscaling/v1, Kind=Scale) to proper version: "
    "request to convert CR to an invalid group/version: autoscaling/v1"
)
_UNREADABLE = (
    "no kind is registered for the type v1.Scale in scheme "
    '"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"'
)


class Scaling:
    """The paths of one version's `subresources.scale`."""

    def __init__(self, paths: Mapping[str, Any]) -> None:
        self._where: str = paths["specReplicasPath"]
        self._steps = [step for step in self._where.split(".") if step]
        self._spec = JsonPath(self._where)
        self._status = JsonPath(paths["statusReplicasPath"])
        self._selector = JsonPath(paths["labelSelectorPath"]) if paths.get("labelSelectorPath") else None

    async def handle(self, call: Call) -> Response:
        call.form = accepted(call.request, answers.OBJECT_FORMS)
        if call.info.verb == "get":
            record = await call.store.get(call.info.namespace, call.info.name)
            obj = call.store.codec.decode(record)
            if _integer(self._spec.find(obj)) is None:
                raise internal_error(f'the spec replicas field "{self._where}" does not exist')
            return self._answer(call, obj)
        if call.info.verb == "update":
            options = write_options(call.request, "UpdateOptions")
            scale = _read(call, options)
            return await self._write(call, options, lambda _: scale)
        return await scales.patched(call, self._write, self._apply)

    def scale_of(self, obj: Object) -> Object:
        """The Scale of an object."""
        replicas = _integer(self._spec.find(obj))
        status: dict[str, Any] = {"replicas": _integer(self._status.find(obj)) or 0}
        selector = self._selector.find(obj) if self._selector is not None else []
        if selector and isinstance(selector[0], str) and selector[0]:
            status["selector"] = selector[0]
        return scales.as_scale(obj, {"replicas": replicas} if replicas else {}, status)

    def show(self, obj: Object) -> Object:
        """What admission sees of an object whose Scale is written."""
        return self.scale_of(obj)

    def take(self, obj: Object, shown: Object) -> None:
        obj.update(self._with_replicas(obj, (shown.get("spec") or {}).get("replicas") or 0))

    async def _write(self, call: Call, options: WriteOptions, make: scales.Make) -> Response:
        async def compute(old: Object) -> Object:
            scale = make(self.scale_of(old))
            check_identity(call, scale)
            check_uid(call, scale["metadata"].get("uid"), old["metadata"]["uid"])
            new = self._with_replicas(old, (scale.get("spec") or {}).get("replicas") or 0)
            new["metadata"] = {**old["metadata"], "resourceVersion": scale["metadata"].get("resourceVersion") or ""}
            return new

        manager = manager_of(options, call.request)
        own = ownership.for_scale(call, manager, lambda obj: _integer(self._spec.find(obj)))
        return await self._change(call, options, updating.Update(call.info.name, compute, call.store.strategy, own, patch=True))

    async def _apply(self, call: Call) -> Response:
        """An apply finds conflicts and takes shares, but changes nothing: Kubernetes cannot convert the Scale that it makes."""
        options = write_options(call.request, "PatchOptions", apply=True)
        scale = scales.applied(call, options)
        manager = manager_of(options, call.request)

        async def compute(old: Object) -> Object:
            check_identity(call, scale)
            wanted = api_version(call.resource, call.version)
            named: Object = {"apiVersion": wanted, "kind": call.resource.kind, "metadata": {"name": call.info.name}}
            replicas = (scale.get("spec") or {}).get("replicas")
            configuration = named if replicas is None else self._with_replicas(named, replicas)
            try:
                merged = ownership.apply(call, old, configuration, manager, force=bool(options.force))
            except StatusError as error:
                raise self._of_scale(error) from error
            if self._spec.find(merged) != self._spec.find(old):
                raise StatusError(500, "", _UNCONVERTIBLE.format(call.info.name))
            return call.bodies.complete(merged, call.resource, call.version, call.store.strategy, call.store.codec)

        return await self._change(call, options, updating.Update(call.info.name, compute, call.store.strategy, patch=True))

    async def _change(self, call: Call, options: WriteOptions, change: updating.Update) -> Response:
        change.shown = self
        outcome: Outcome = await updating.update(call.store, call.context("UPDATE", options), change)
        return self._answer(call, call.store.codec.decode(outcome.record))

    def _answer(self, call: Call, obj: Object) -> Response:
        if call.form.kind == "Table":
            return scales.as_table(call, self.scale_of(obj), columns.SCALE)
        return answers.made_answer(call, self.scale_of(obj), f"v1.{scales.KIND}")

    def _of_scale(self, error: StatusError) -> StatusError:
        """A conflict about the replicas, as it is about a Scale."""
        details = dict(error.details or {})
        if causes := details.get("causes"):
            details["causes"] = [
                {**each, "field": ".spec.replicas" if each.get("field") == self._where else each.get("field", "")}
                for each in causes
            ]
        return StatusError(error.code, error.reason, error.message.replace(self._where, ".spec.replicas"), details or None)

    def _with_replicas(self, obj: Object, replicas: int) -> Object:
        """A copy of an object, along the path, with its replicas set."""
        new: Object = dict(obj)
        place = new
        for step in self._steps[:-1]:
            below = place.get(step)
            place[step] = dict(below) if isinstance(below, dict) else {}
            place = place[step]
        place[self._steps[-1]] = replicas
        return new


def _read(call: Call, options: WriteOptions) -> Object:
    """The Scale of a body; of one that is none, Kubernetes says that it cannot say what it should have been."""
    try:
        return scales.read(call, options)
    except StatusError as error:
        raise (bad_request(_UNREADABLE) if error.code == 400 else error) from error


def _integer(found: list[Any]) -> int | None:
    return found[0] if found and type(found[0]) is int else None
