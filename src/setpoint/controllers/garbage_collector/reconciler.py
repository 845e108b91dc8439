"""Observe, diff, act for one object, by uid."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.discovery import Discovered
from setpoint.client.events import EventRecorder
from setpoint.client.metadata import ObjectMeta, OwnerReference
from setpoint.controllers.garbage_collector import plan as plans
from setpoint.controllers.garbage_collector.graph import FOREGROUND, Graph, Node, View, group_of
from setpoint.controllers.garbage_collector.plan import Dependent, Observed, Owner, Plan

_ABSENT_CAPACITY = 500
_TRIES = 5


class GarbageReconciler:
    """The graph says where to look; what is decided on is read from the server. `look` enqueues uids."""

    def __init__(
        self, client: ClientProtocol, graph: Graph, look: Callable[[Iterable[str]], None], recorder: EventRecorder
    ) -> None:
        self._client = client
        self._recorder = recorder
        self._graph = graph
        self._look = look
        self._absent: OrderedDict[tuple[str, str, str, str], None] = OrderedDict()
        self.discovered = Discovered(())

    async def observe(self, uid: str) -> Observed | None:
        node = self._graph.get(uid)
        if node is None:
            return None
        if node.deleting and not (node.deleting_dependents or node.orphaning):
            return None
        if not node.virtual and not node.deleting and self._graph.solid(node):
            return None
        resource = node.resource or self._resource(node.api_version, node.kind)
        if resource is None:
            return None  # an owner of a kind that is not served: its dependents stay
        meta = await self._get(resource, node.namespace, node.name, uid)
        if meta is None or not meta.deletion_timestamp:
            owners = [(ref, await self._owner(ref, node.namespace)) for ref in meta.owner_references] if meta else []
            self._tell_of_strangers(resource, meta)
            return Observed(uid, resource, meta, owners, self._dependents(node))
        return Observed(
            uid, resource, meta, (), self._dependents(node), foreground=node.deleting_dependents, orphaning=node.orphaning
        )

    def _tell_of_strangers(self, resource: View, meta: ObjectMeta | None) -> None:
        """Owners must be of the same namespace, or of none: one of another namespace counts as missing."""
        for ref in meta.owner_references if meta is not None else ():
            owner = self._graph.get(ref.uid)
            if meta is None or owner is None or owner.virtual or owner.namespace in ("", meta.namespace):
                continue
            about = {"kind": resource.kind, "apiVersion": resource.api_version, "name": meta.name, "uid": meta.uid}
            about |= {"namespace": meta.namespace} if meta.namespace else {}
            what = f"[{ref.api_version}/{ref.kind}, namespace: {meta.namespace}, name: {ref.name}, uid: {ref.uid}]"
            why = f'ownerRef {what} does not exist in namespace "{meta.namespace}"'
            self._recorder.event(about, "Warning", "OwnerRefInvalidNamespace", why)

    def _dependents(self, node: Node) -> list[Dependent]:
        blocking = {each.uid for each in node.blocking()}
        return [
            Dependent(each.uid, each.resource, each.namespace, each.name, each.deleting_dependents, each.uid in blocking)
            for each in node.dependents.values()
        ]

    def _resource(self, api_version: str, kind: str) -> View | None:
        return self.discovered.of_kind(api_version, kind)

    async def _get(self, resource: View, namespace: str, name: str, uid: str) -> ObjectMeta | None:
        """The metadata of the object with this uid, None if it is not there or another has its name."""
        try:
            meta = (await self._client.get(resource, name, namespace if resource.namespaced else "")).metadata
        except StatusError as error:
            if error.code != 404:
                raise
            return None
        return meta if meta.uid == uid else None

    async def _owner(self, ref: OwnerReference, namespace: str) -> Owner:
        """The state of an owner as an object in `namespace` names it."""
        known = self._graph.get(ref.uid)
        if known is not None and not known.virtual and not known.deleting and known.matches(ref, namespace):
            return Owner.SOLID
        identity = (ref.uid, f"{group_of(ref.api_version)}/{ref.kind}", namespace, ref.name)
        if identity in self._absent:
            return Owner.ABSENT
        resource = self._resource(ref.api_version, ref.kind)
        if resource is None:
            return Owner.UNKNOWN
        if resource.namespaced and not namespace:
            return Owner.IMPOSSIBLE  # an object outside namespaces cannot be owned from within one: Kubernetes leaves it alone
        meta = await self._get(resource, namespace, ref.name, ref.uid)
        if meta is None:
            self._absent[identity] = None
            if len(self._absent) > _ABSENT_CAPACITY:
                self._absent.popitem(last=False)
            return Owner.ABSENT
        return Owner.WAITING if meta.deletion_timestamp and FOREGROUND in meta.finalizers else Owner.SOLID

    def diff(self, observed: Observed) -> Plan | None:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        if plan.forget:
            self._look(self._graph.remove(plan.uid))
        resource, meta = plan.resource, plan.meta
        if resource is not None and meta is not None:
            await self._write(plan, resource, meta)
        self._look(plan.look)
        return Result(plan.wait)

    async def _write(self, plan: Plan, resource: View, meta: ObjectMeta) -> None:
        for dependent in plan.orphan:
            await self._orphan(dependent, plan.uid)
        if plan.finalizer:
            await self._remove_finalizer(resource, meta, plan.finalizer)
        if plan.release:
            await self._release(resource, meta, set(plan.release))
        if plan.unblock:
            refs = [{**_ref(ref), "blockOwnerDeletion": False} for ref in meta.owner_references]
            patched = await self._patch(resource, meta, {"ownerReferences": refs})
            meta = patched if patched is not None else meta
        if plan.delete:
            await self._delete(resource, meta, plan.delete)

    async def _delete(self, resource: View, meta: ObjectMeta, policy: str) -> None:
        """Delete exactly what was judged: another object of the name, or other owners since then, must not go."""
        try:
            await self._client.delete(
                resource,
                meta.name,
                meta.namespace,
                propagation=policy,
                uid=meta.uid,
                resource_version=meta.resource_version,
            )
        except StatusError as error:
            if error.code != 404:
                raise

    async def _orphan(self, dependent: Dependent, owner: str) -> None:
        """Take one owner out of a dependent's references."""
        resource = dependent.resource
        if resource is None:
            return

        async def attempt() -> None:
            meta = await self._get(resource, dependent.namespace, dependent.name, dependent.uid)
            if meta is not None and any(ref.uid == owner for ref in meta.owner_references):
                await self._release(resource, meta, {owner})

        await _despite_conflicts(attempt)

    async def _release(self, resource: View, meta: ObjectMeta, owners: set[str]) -> None:
        refs = [_ref(ref) for ref in meta.owner_references if ref.uid not in owners]
        await self._patch(resource, meta, {"ownerReferences": refs or None})

    async def _remove_finalizer(self, resource: View, meta: ObjectMeta, finalizer: str) -> None:
        async def attempt() -> None:
            latest = await self._get(resource, meta.namespace, meta.name, meta.uid)
            if latest is not None and finalizer in latest.finalizers:
                left = [each for each in latest.finalizers if each != finalizer]
                await self._patch(resource, latest, {"finalizers": left})

        await _despite_conflicts(attempt)

    async def _patch(self, resource: View, meta: ObjectMeta, change: dict[str, Any]) -> ObjectMeta | None:
        """Patch the version that was judged; None if it is gone. Raises StatusError 409 if there is another by now."""
        body = {"metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version, **change}}
        try:
            return (await self._client.patch(resource, meta.name, body, meta.namespace)).metadata
        except StatusError as error:
            if error.code != 404:
                raise
            return None


async def _despite_conflicts(attempt: Callable[[], Awaitable[None]]) -> None:
    """Read and write anew while others write too; after a few tries the conflict is the caller's, and is backed off from."""
    for left in reversed(range(_TRIES)):
        try:
            await attempt()
            return
        except StatusError as error:
            if error.code != 409 or not left:
                raise


def _ref(ref: OwnerReference) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(ref)
    return {name: value for name, value in plain.items() if value is not None}
