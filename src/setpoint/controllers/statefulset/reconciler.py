"""Observe, diff, act for one StatefulSet."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.claims import Claims, own_and_orphans
from setpoint.controllers.freshness import Freshness
from setpoint.controllers.owned_pods.slow_start import slow_start
from setpoint.controllers.refusals import is_namespace_terminating
from setpoint.controllers.revision_control import RevisionControl
from setpoint.controllers.statefulset import diff as decision
from setpoint.controllers.statefulset import status
from setpoint.controllers.statefulset.identity import claim_name, ordinal_of, ordinals
from setpoint.controllers.statefulset.plan import (
    CreatePod,
    DeletePod,
    Observed,
    Plan,
    Step,
    Storage,
    UpdatePod,
)
from setpoint.kit.clock import Clock


class Refused(StatusError):
    """A pod's claims are not as they have to be; the message is what its event says."""

    def __init__(self, message: str) -> None:
        super().__init__(500, "InternalError", message)


class StatefulSetReconciler:
    """Reads four caches; writes pods, claims, revisions and its own status."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        stateful_sets: Store[apps_v1.StatefulSet],
        pods: Store[core_v1.Pod],
        revisions: Store[apps_v1.ControllerRevision],
        claims: Store[core_v1.PersistentVolumeClaim],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._clock = clock
        self._stateful_sets = stateful_sets
        self._pods = pods
        self._revision_store = revisions
        self._claims_store = claims
        self._recorder = recorder
        self._fresh = Freshness()
        self._revisions = RevisionControl(client)
        self._pod_claims = Claims(client, apps_v1.STATEFULSETS, core_v1.PODS)
        self._revision_claims = Claims(client, apps_v1.STATEFULSETS, apps_v1.CONTROLLERREVISIONS)

    def observe(self, key: str) -> Observed | None:
        stateful_set = self._stateful_sets.get(key)
        if stateful_set is None:
            self._fresh.forget(key)
            return None
        if self._fresh.is_stale(stateful_set):
            return None
        pods = own_and_orphans(self._pods, stateful_set.metadata)
        revisions = own_and_orphans(self._revision_store, stateful_set.metadata)
        return Observed(stateful_set, pods, revisions, self._claims(stateful_set, pods), self._clock.now())

    def _claims(self, stateful_set: apps_v1.StatefulSet, pods: list[core_v1.Pod]) -> dict[str, core_v1.PersistentVolumeClaim]:
        templates = [each.metadata.name for each in stateful_set.spec.volume_claim_templates]
        if not templates:
            return {}
        numbers = {*ordinals(stateful_set), *map(ordinal_of, pods)}
        names = (claim_name(stateful_set, template, number) for number in numbers for template in templates)
        found = ((name, self._claims_store.get(key(stateful_set.metadata.namespace, name))) for name in names)
        return {name: claim for name, claim in found if claim is not None}

    def diff(self, observed: Observed) -> Plan | None:
        plan = decision.diff(observed)
        return None if plan.idle else plan

    async def act(self, plan: Plan) -> Result | None:
        """Revisions first: pods are named after them. Then the stages, and whatever came of them, the status."""
        owner = plan.stateful_set
        adopted = await self._revision_claims.settle(owner, plan.adopt_revisions, ())
        if not (await self._pod_claims.settle(owner, plan.adopt, plan.release) and adopted):
            return Result(requeue_after=0.1)
        if plan.revision is not None and not await self._revisions.write(owner.metadata.namespace, plan.revision):
            await self._count_collision(owner)
            return Result(requeue_after=0.1)
        failure = await self._run(plan)
        if plan.status != owner.status:
            await self._write_status(owner, plan.status)
        for revision in plan.forget:
            await self._revisions.forget(revision)
        if failure is not None and not is_namespace_terminating(failure):
            raise failure
        return Result(plan.requeue_after)

    async def _count_collision(self, owner: apps_v1.StatefulSet) -> None:
        collisions = (owner.status.collision_count or 0) + 1
        await self._write_status(owner, msgspec.structs.replace(owner.status, collision_count=collisions))

    # -- pods

    async def _run(self, plan: Plan) -> Exception | None:
        """All stages, up to the first failure."""
        for stage in plan.stages:
            failure = await self._run_stage([self._call(plan.stateful_set, step) for step in stage])
            if failure is not None:
                return failure
        return None

    async def _run_stage(self, calls: Sequence[Callable[[], Awaitable[None]]]) -> Exception | None:
        left = iter(calls)

        async def call_next() -> None:
            await next(left)()

        _, failure = await slow_start(len(calls), call_next)
        return failure

    def _call(self, owner: apps_v1.StatefulSet, step: Step) -> Callable[[], Awaitable[None]]:
        if isinstance(step, CreatePod):
            return lambda: self._create_pod(owner, step)
        if isinstance(step, DeletePod):
            return lambda: self._delete_pod(owner, step.pod)
        return lambda: self._update_pod(owner, step)

    async def _create_pod(self, owner: apps_v1.StatefulSet, step: CreatePod) -> None:
        try:
            await self._make_claims(owner, step.name, step.storage)
            await self._client.create(core_v1.PODS, step.body, owner.metadata.namespace)
        except StatusError as error:
            if error.reason != "AlreadyExists" and not is_namespace_terminating(error):
                self._tell_of_pod(owner, "create", step.name, error)
            raise
        self._tell_of_pod(owner, "create", step.name)
        await self._own_claims(owner, step.storage)

    async def _delete_pod(self, owner: apps_v1.StatefulSet, pod: core_v1.Pod) -> None:
        meta = pod.metadata
        try:
            await self._client.delete(core_v1.PODS, meta.name, meta.namespace, uid=meta.uid)
        except StatusError as error:
            if error.reason == "NotFound":
                return
            self._tell_of_pod(owner, "delete", meta.name, error)
            raise
        self._tell_of_pod(owner, "delete", meta.name)

    async def _update_pod(self, owner: apps_v1.StatefulSet, step: UpdatePod) -> None:
        meta = step.pod.metadata
        try:
            await self._make_claims(owner, meta.name, step.storage)
            await self._own_claims(owner, step.storage)
            if step.patch is not None:
                observed = {"uid": meta.uid, "resourceVersion": meta.resource_version}  # volumes replace those seen there
                patch = {**step.patch, "metadata": {**step.patch.get("metadata", {}), **observed}}
                await self._client.patch(core_v1.PODS, meta.name, patch, meta.namespace)
        except StatusError as error:
            if step.patch is not None or (step.told and error.reason != "Conflict"):  # claims that changed are tried again
                self._tell_of_pod(owner, "update", meta.name, error)
            raise
        if step.told:
            self._tell_of_pod(owner, "update", meta.name)

    def _tell_of_pod(self, owner: apps_v1.StatefulSet, verb: str, name: str, error: StatusError | None = None) -> None:
        told = f"{verb} Pod {name} in StatefulSet {owner.metadata.name}"
        self._tell(owner, verb, f"{told} successful" if error is None else f"{told} failed error: {error.message}", error)

    def _tell(self, owner: apps_v1.StatefulSet, verb: str, message: str, error: StatusError | None) -> None:
        kind, outcome = ("Normal", "Successful") if error is None else ("Warning", "Failed")
        self._recorder.event(owner, kind, f"{outcome}{verb.title()}", message)

    # -- claims

    async def _make_claims(self, owner: apps_v1.StatefulSet, pod: str, storage: Storage) -> None:
        for body in storage.create:
            await self._make_claim(owner, pod, body)
        if storage.refused:
            raise Refused(storage.refused)

    async def _make_claim(self, owner: apps_v1.StatefulSet, pod: str, body: Mapping[str, Any]) -> None:
        name, told = body["metadata"]["name"], owner.metadata.name
        try:
            await self._client.create(core_v1.PERSISTENTVOLUMECLAIMS, body, owner.metadata.namespace)
        except StatusError as error:
            if error.reason == "AlreadyExists":
                raise Refused(f"failed to create PVC {name}: {error.message}") from error
            if is_namespace_terminating(error):
                raise
            message = f"create Claim {name} for Pod {pod} in StatefulSet {told} failed error: {error.message}"
            self._tell(owner, "create", message, error)
            raise Refused(f"failed to create PVC {name}: {error.message}") from error
        self._tell(owner, "create", f"create Claim {name} Pod {pod} in StatefulSet {told} success", None)

    async def _own_claims(self, owner: apps_v1.StatefulSet, storage: Storage) -> None:
        for name in storage.conflicting:
            message = (
                f"PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a managing controller, "
                "the retention policy is ignored for this claim"
            )
            self._recorder.event(owner, "Warning", "ConflictingController", message)
        for claim, owners in storage.owners:
            meta = claim.metadata
            patch = {"metadata": {"resourceVersion": meta.resource_version, "ownerReferences": owners or None}}
            await self._client.patch(core_v1.PERSISTENTVOLUMECLAIMS, meta.name, patch, meta.namespace)

    # -- status

    async def _write_status(self, owner: apps_v1.StatefulSet, new: apps_v1.StatefulSetStatus) -> None:
        meta = owner.metadata
        try:
            written = await self._client.patch(
                apps_v1.STATEFULSETS, meta.name, status.patch(owner, new), meta.namespace, subresource="status"
            )
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        else:
            self._fresh.note(written)
