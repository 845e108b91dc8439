"""Observe, diff, act for one Deployment."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.informer import Informer
from setpoint.client.owners import controller_reference, is_controlled_by
from setpoint.client.store import Store
from setpoint.controllers.claims import BY_CONTROLLER, Claims, orphans_of
from setpoint.controllers.deployment import conditions, revisions, status
from setpoint.controllers.deployment import diff as decision
from setpoint.controllers.deployment.own_writes import OwnWrites
from setpoint.controllers.deployment.plan import Create, Delete, Observed, Plan, Update
from setpoint.controllers.deployment.replica_sets import equal_ignoring_hash, replicas
from setpoint.controllers.deployment.rollback import Rollback
from setpoint.controllers.refusals import is_namespace_terminating
from setpoint.kit.clock import Clock


class DeploymentReconciler:
    """Reads three caches; writes ReplicaSets and its own status. ReplicaSets and pods need the index BY_CONTROLLER."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        deployments: Store[apps_v1.Deployment],
        replica_sets: Informer[apps_v1.ReplicaSet],
        pods: Store[core_v1.Pod],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._clock = clock
        self._deployments = deployments
        self._replica_sets = replica_sets.store
        self._own_writes = OwnWrites(client, replica_sets)
        self._pods = pods
        self._recorder = recorder
        self._claims = Claims(client, apps_v1.DEPLOYMENTS, apps_v1.REPLICASETS)

    def observe(self, key: str) -> Observed | None:
        deployment = self._deployments.get(key)
        if deployment is None:
            self._own_writes.forget(key)
            return None
        meta = deployment.metadata
        own = self._replica_sets.by_index(BY_CONTROLLER, meta.uid)
        orphans = self._replica_sets.by_index(BY_CONTROLLER, orphans_of(meta.namespace))
        pods = {}
        if deployment.spec.strategy.type == "Recreate":
            pods = {each.metadata.uid: self._pods.by_index(BY_CONTROLLER, each.metadata.uid) for each in own}
        behind = not self._own_writes.are_shown(key)
        return Observed(deployment, [*own, *orphans], pods, self._clock.now(), behind)

    def diff(self, observed: Observed) -> Plan | None:
        plan = decision.diff(observed)
        return None if plan.idle and not plan.selects_everything else plan

    async def act(self, plan: Plan) -> Result | None:
        if plan.selects_everything:
            message = "This deployment is selecting all pods. A non-empty selector is required."
            self._recorder.event(plan.deployment, "Warning", "SelectingAll", message)
        if not await self._claims.settle(plan.deployment, plan.adopt, plan.release):
            return Result(requeue_after=0.1)  # something went while it was claimed; the watch will say so
        await self._own_writes.find_out(plan.deployment)
        with self._own_writes.attempt(plan.deployment):
            if not await self._take(plan):
                return Result(requeue_after=0.1)  # a version has just changed by its adoption; plan anew from that
        written = plan.deployment
        if plan.writes_status:
            written = await self._write_status(plan.deployment, plan.status, plan.revision)
        if plan.rollback is not None:
            await self._roll_back(written, plan.rollback)
        return Result(plan.requeue_after)

    async def _roll_back(self, deployment: apps_v1.Deployment, rollback: Rollback) -> None:
        meta, patch, event = deployment.metadata, rollback.patch, rollback.event
        patch["metadata"]["resourceVersion"] = meta.resource_version
        await self._client.patch(apps_v1.DEPLOYMENTS, meta.name, patch, meta.namespace, kind="strategic")
        self._recorder.event(deployment, event.kind, event.reason, event.message)

    async def _take(self, plan: Plan) -> bool:
        """Take the steps in turn; False if one has to wait for what the adoption changed."""
        adopted = {each.metadata.uid for each in plan.adopt}
        versions: dict[str, str] = {}
        for step in plan.steps:
            if isinstance(step, Create):
                await self._create(plan, step)
            elif isinstance(step, Delete):
                await self._delete(step)
            elif step.replica_set.metadata.uid in adopted:
                return False
            else:
                await self._update(plan.deployment, step, versions)
        return True

    async def _create(self, plan: Plan, step: Create) -> None:
        deployment, new = plan.deployment, step.replica_set
        body = msgspec.to_builtins(new)
        body["metadata"]["ownerReferences"] = [controller_reference(deployment, apps_v1.DEPLOYMENTS)]
        try:
            self._own_writes.note(deployment, await self._client.create(apps_v1.REPLICASETS, body, new.metadata.namespace))
        except StatusError as error:
            if error.reason == "AlreadyExists":
                await self._check_collision(deployment, new, error)
                return
            if not is_namespace_terminating(error):
                await self._report_failed_create(plan, new.metadata.name, error)
            raise
        if replicas(new):
            self._scaled(deployment, new.metadata.name, 0, replicas(new))

    async def _check_collision(self, deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet, error: StatusError) -> None:
        """The name is taken: by the same version, which the cache does not show yet, or by another one with the same hash."""
        there = await self._client.get(apps_v1.REPLICASETS, new.metadata.name, new.metadata.namespace)
        same = equal_ignoring_hash(there.spec.template, deployment.spec.template)
        if same and is_controlled_by(there.metadata, deployment):
            return
        count = (deployment.status.collision_count or 0) + 1
        await self._write_status(deployment, msgspec.structs.replace(deployment.status, collision_count=count))
        raise error

    async def _report_failed_create(self, plan: Plan, name: str, error: StatusError) -> None:
        deployment = plan.deployment
        message = f'Failed to create new replica set "{name}": {error.message}'
        self._recorder.event(deployment, "Warning", "ReplicaSetCreateError", message)
        if status.has_deadline(deployment):
            condition = conditions.new(conditions.PROGRESSING, "False", "ReplicaSetCreateError", message, self._clock.now())
            listed = conditions.put(deployment.status.conditions, condition)
            if listed != deployment.status.conditions:
                await self._write_status(deployment, msgspec.structs.replace(deployment.status, conditions=listed))

    async def _update(self, deployment: apps_v1.Deployment, step: Update, versions: dict[str, str]) -> None:
        """`versions` are those that former steps made, by uid."""
        meta = step.replica_set.metadata
        patch: dict[str, Any] = {"metadata": {"resourceVersion": versions.get(meta.uid, meta.resource_version)}}
        if step.annotations:
            patch["metadata"]["annotations"] = dict(step.annotations)
        spec = {"replicas": step.replicas, "minReadySeconds": step.min_ready_seconds}
        patch["spec"] = {key: value for key, value in spec.items() if value is not None}
        written = await self._client.patch(apps_v1.REPLICASETS, meta.name, patch, meta.namespace)
        versions[meta.uid] = written.metadata.resource_version
        self._own_writes.note(deployment, written)
        if step.replicas is not None:
            former = replicas(step.replica_set) if step.former is None else step.former
            self._scaled(deployment, meta.name, former, step.replicas)

    def _scaled(self, deployment: apps_v1.Deployment, name: str, old: int, new: int) -> None:
        direction = "up" if old < new else "down"
        message = f"Scaled {direction} replica set {name} from {old} to {new}"
        self._recorder.event(deployment, "Normal", "ScalingReplicaSet", message)

    async def _delete(self, step: Delete) -> None:
        meta = step.replica_set.metadata
        try:
            await self._client.delete(
                apps_v1.REPLICASETS, meta.name, meta.namespace, uid=meta.uid, resource_version=meta.resource_version
            )
        except StatusError as error:
            if error.reason != "NotFound":
                raise

    async def _write_status(
        self, deployment: apps_v1.Deployment, new: status.Status, revision: str | None = None
    ) -> apps_v1.Deployment:
        """The revision goes along with the status: written to the main resource it would raise the generation."""
        metadata: dict[str, Any] = {"resourceVersion": deployment.metadata.resource_version}
        if revision is not None:
            metadata["annotations"] = {revisions.REVISION: revision}
        patch = {"metadata": metadata, "status": status.patch(new)}
        return await self._client.patch(
            apps_v1.DEPLOYMENTS, deployment.metadata.name, patch, deployment.metadata.namespace, subresource="status"
        )
