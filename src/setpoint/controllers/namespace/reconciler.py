"""Observe, diff, act for one namespace."""

from __future__ import annotations

import asyncio
from typing import Any

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import NAMESPACES, PODS, Namespace
from setpoint.client.client import Client
from setpoint.client.controller import Result
from setpoint.client.discovery import Served, discover
from setpoint.client.metadata import PartialObjectMetadata
from setpoint.client.store import Store
from setpoint.controllers.namespace import conditions
from setpoint.controllers.namespace import plan as plans
from setpoint.controllers.namespace.plan import FINALIZER, Contents, Observed, Plan
from setpoint.kit.clock import Clock

_AS_JSON: Resource[dict[str, Any]] = Resource("", "v1", "namespaces", "Namespace", namespaced=False, type=dict)
_PAGE = 500
_AT_ONCE = 8
_ENDED = {"Succeeded", "Failed"}


class NamespaceReconciler:
    """Reads contents from the server itself: what is forgotten in a cache would be left behind for ever."""

    def __init__(self, client: Client, clock: Clock, namespaces: Store[Namespace]) -> None:
        self._client = client
        self._clock = clock
        self._namespaces = namespaces

    async def observe(self, name: str) -> Observed | None:
        namespace = self._namespaces.get(name)
        if namespace is None or not namespace.metadata.deletion_timestamp or FINALIZER not in namespace.spec.finalizers:
            return None
        found = await discover(self._client)
        deletable = [served for served in found.served if served.resource.namespaced and served.can("list", "delete")]
        turns = asyncio.Semaphore(_AT_ONCE)
        listed = await asyncio.gather(*(self._contents(served, name, turns) for served in deletable))
        contents = [each for each in listed if isinstance(each, Contents)]
        failures = [each for each in listed if isinstance(each, str)]
        grace = await self._grace(name) if any(each.is_pods and each.objects for each in contents) else 0.0
        return Observed(namespace, contents, found.stale, failures, grace, self._clock.now())

    async def _contents(self, served: Served, namespace: str, turns: asyncio.Semaphore) -> Contents | str:
        """The objects of one resource, or why they could not be read."""
        objects: list[PartialObjectMetadata] = []
        token = ""
        async with turns:
            try:
                while True:
                    page = await self._client.list(served.resource, namespace, limit=_PAGE, continue_token=token)
                    objects.extend(page.items)
                    token = page.continue_token
                    if not token:
                        return Contents(served, objects)
            except StatusError as error:
                # Some resources cannot be listed, or are gone since discovery: then nothing of theirs is in the way.
                return Contents(served, ()) if error.code in {404, 405} else error.message

    async def _grace(self, namespace: str) -> float:
        pods = await self._client.list(PODS, namespace)
        running = (pod for pod in pods.items if pod.status.phase not in _ENDED)
        return max((float(pod.spec.termination_grace_period_seconds or 0) for pod in running), default=0.0)

    def diff(self, observed: Observed) -> Plan | None:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        name = plan.namespace.metadata.name
        for contents in plan.delete:
            await self._delete(contents, name)
        if not plan.delete:
            await self._say(plan)
        if plan.finalize:
            await self._finalize(name, plan.namespace.metadata.uid)
            return None
        return Result(requeue_after=plan.wait)

    async def _delete(self, contents: Contents, namespace: str) -> None:
        resource = contents.served.resource
        if contents.served.can("deletecollection"):
            await self._client.delete_collection(resource, namespace, propagation="Background")
            return
        for obj in contents.objects:
            try:
                await self._client.delete(resource, obj.metadata.name, namespace, propagation="Background")
            except StatusError as error:
                if error.code != 404:
                    raise

    async def _say(self, plan: Plan) -> None:
        written = conditions.merged(plan.namespace.status.conditions, plan.conditions, self._clock.now())
        if written is None and plan.namespace.status.phase == "Terminating":
            return
        status: dict[str, Any] = {"phase": "Terminating"}
        if written is not None:
            status["conditions"] = written
        await self._client.patch(NAMESPACES, plan.namespace.metadata.name, {"status": status}, subresource="status")

    async def _finalize(self, name: str, uid: str) -> None:
        """Take our finalizer away; the server then removes the namespace if it was the last."""
        try:
            namespace = await self._client.get(_AS_JSON, name)
            if namespace["metadata"]["uid"] != uid:
                return
            finalizers = [each for each in namespace["spec"].get("finalizers") or () if each != FINALIZER]
            namespace["spec"] = {**namespace["spec"], "finalizers": finalizers}
            await self._client.update(_AS_JSON, namespace, subresource="finalize")
        except StatusError as error:
            if error.code != 404:
                raise
