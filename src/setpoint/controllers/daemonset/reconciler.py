"""Observe, diff, act for one DaemonSet."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.client.owners import is_controlled_by
from setpoint.client.store import Store
from setpoint.controllers.claims import Claims, own_and_orphans
from setpoint.controllers.daemonset import diff as decision
from setpoint.controllers.daemonset import status
from setpoint.controllers.daemonset.failures import Failures
from setpoint.controllers.daemonset.nodes import tolerations
from setpoint.controllers.daemonset.plan import Observed, Plan
from setpoint.controllers.daemonset.versions import GENERATION_LABEL, generation_of
from setpoint.controllers.freshness import Freshness
from setpoint.controllers.history import REVISION_LABEL
from setpoint.controllers.owned_pods.control import PodControl
from setpoint.controllers.owned_pods.template import pod_body
from setpoint.controllers.revision_control import RevisionControl, Step
from setpoint.kit.clock import Clock


class DaemonSetReconciler:
    """Reads four caches; writes pods, revisions and its own status."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        daemon_sets: Store[apps_v1.DaemonSet],
        pods: Store[core_v1.Pod],
        revisions: Store[apps_v1.ControllerRevision],
        nodes: Store[core_v1.Node],
        recorder: EventRecorder,
        expectations: Expectations,
    ) -> None:
        self._client = client
        self._clock = clock
        self._daemon_sets = daemon_sets
        self._pods = pods
        self._revision_store = revisions
        self._nodes = nodes
        self._recorder = recorder
        self._expectations = expectations
        self._control = PodControl(client, recorder, expectations)
        self._failures = Failures(clock)
        self._fresh = Freshness()
        self._revisions = RevisionControl(client)
        self._pod_claims = Claims(client, apps_v1.DAEMONSETS, core_v1.PODS)
        self._revision_claims = Claims(client, apps_v1.DAEMONSETS, apps_v1.CONTROLLERREVISIONS)

    def observe(self, key: str) -> Observed | None:
        daemon_set = self._daemon_sets.get(key)
        if daemon_set is None:
            self._expectations.forget(key)
            self._failures.forget(key)
            self._fresh.forget(key)
            return None
        if self._fresh.is_stale(daemon_set):
            return None
        trusted = self._expectations.satisfied(key)  # asked before the cache is read
        pods = own_and_orphans(self._pods, daemon_set.metadata)
        revisions = own_and_orphans(self._revision_store, daemon_set.metadata)
        nodes = sorted(self._nodes.list(), key=lambda node: node.metadata.name)
        return Observed(daemon_set, pods, revisions, nodes, self._failures.waits(key), trusted, self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        plan = decision.diff(observed)
        return None if plan.idle else plan

    async def act(self, plan: Plan) -> Result | None:
        owner = plan.daemon_set
        claimed = await self._revision_claims.settle(owner, plan.adopt_revisions, plan.release_revisions)
        if not (await self._pod_claims.settle(owner, plan.adopt, plan.release) and claimed):
            return Result(requeue_after=0.1)
        if plan.revision is not None and not await self._write_revision(owner, plan.revision):
            return Result(requeue_after=0.1)
        for event in plan.events:
            self._recorder.event(owner, event.kind, event.reason, event.message)
        for node in plan.failed:
            self._failures.count(key_of(owner), node)
        created = await self._control.create(owner, [self._body(owner, plan.hash, node) for node in plan.create])
        deleted = await self._control.delete(owner, plan.delete)
        if plan.status != owner.status:
            await self._write_status(owner, plan.status)
        for revision in plan.forget:
            await self._revisions.forget(revision)
        if (failure := created or deleted) is not None:
            raise failure
        return Result(plan.requeue_after)

    def _body(self, owner: apps_v1.DaemonSet, hash_: str, node: str) -> dict[str, Any]:
        """A pod that the scheduler can only put on `node`."""
        template = owner.spec.template
        body = pod_body(template, owner, apps_v1.DAEMONSETS)
        labels = {**body["metadata"].get("labels", {}), REVISION_LABEL: hash_}
        if (generation := generation_of(owner)) is not None:
            labels[GENERATION_LABEL] = generation
        body["metadata"]["labels"] = labels
        body["spec"]["tolerations"] = msgspec.to_builtins(tolerations(template.spec))
        only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        affinity = dict(body["spec"].get("affinity", {}))
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
        affinity["nodeAffinity"] = {**affinity.get("nodeAffinity", {}), **required}
        body["spec"]["affinity"] = affinity
        return body

    async def _write_revision(self, owner: apps_v1.DaemonSet, step: Step) -> bool:
        """False if the name was taken by another version: the next attempt counts the collision in."""

        def is_ours(there: apps_v1.ControllerRevision) -> bool:
            return is_controlled_by(there.metadata, owner)

        if await self._revisions.write(owner.metadata.namespace, step, is_ours):
            return True
        collisions = (owner.status.collision_count or 0) + 1
        await self._write_status(owner, msgspec.structs.replace(owner.status, collision_count=collisions))
        return False

    async def _write_status(self, owner: apps_v1.DaemonSet, new: apps_v1.DaemonSetStatus) -> None:
        meta = owner.metadata
        try:
            written = await self._client.patch(
                apps_v1.DAEMONSETS, meta.name, status.patch(owner, new), meta.namespace, subresource="status"
            )
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        else:
            self._fresh.note(written)
