"""Observe, diff, act for one ReplicaSet."""

from __future__ import annotations

from typing import Any, ClassVar

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1, core_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.expectations import Expectations
from setpoint.client.objects import key_of
from setpoint.client.owners import controller_of
from setpoint.client.store import Store
from setpoint.controllers.claims import BY_CONTROLLER, Claims, orphans_of
from setpoint.controllers.owned_pods.control import PodControl
from setpoint.controllers.owned_pods.template import pod_body
from setpoint.controllers.replicaset import plan as plans
from setpoint.controllers.replicaset import status as statuses
from setpoint.controllers.replicaset.plan import Observed, Plan
from setpoint.kit.clock import Clock


class ReplicaSetReconciler:
    """Reads two caches; writes pods and its own status. The stores need the index BY_CONTROLLER.

    ReplicationControllers are reconciled by the same rules (`replication_controller`): `resource` says what is owned by whom.
    """

    resource: ClassVar[Resource[Any]] = apps_v1.REPLICASETS

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        replica_sets: Store[apps_v1.ReplicaSet],
        pods: Store[core_v1.Pod],
        recorder: EventRecorder,
        expectations: Expectations,
    ) -> None:
        self._client = client
        self._clock = clock
        self._replica_sets = replica_sets
        self._pods = pods
        self._expectations = expectations
        self._control = PodControl(client, recorder, expectations)
        self._gone: dict[str, str] = {}
        """Keys and uids of ReplicaSets that the server no longer has though the cache does."""
        self._claims = Claims(client, self.resource, core_v1.PODS)

    def observe(self, key: str) -> Observed | None:
        replica_set = self._replica_sets.get(key)
        if replica_set is None:
            self._expectations.forget(key)
            self._gone.pop(key, None)
            return None
        meta = replica_set.metadata
        if self._gone.get(key) == meta.uid:
            return None  # pods made for it now would be collected at once, and their end would bring us here again
        trusted = self._expectations.satisfied(key)  # asked before the cache is read: what is seen then, counts
        own = self._pods.by_index(BY_CONTROLLER, meta.uid)
        orphans = self._pods.by_index(BY_CONTROLLER, orphans_of(meta.namespace))
        return Observed(replica_set, [*own, *orphans], self._related(replica_set), trusted, self._clock.now())

    def _related(self, replica_set: apps_v1.ReplicaSet) -> list[core_v1.Pod]:
        """The pods of all ReplicaSets that have the same controller as this one; of one without a controller nobody's."""
        ref = controller_of(replica_set.metadata)
        if ref is None:
            return []
        siblings = self._replica_sets.by_index(BY_CONTROLLER, ref.uid)
        return [pod for sibling in siblings for pod in self._pods.by_index(BY_CONTROLLER, sibling.metadata.uid)]

    def diff(self, observed: Observed) -> Plan | None:
        plan = self.plan(observed)
        idle = not (plan.adopt or plan.release or plan.create or plan.delete or plan.requeue_after)
        return None if idle and plan.status == observed.replica_set.status else plan

    def plan(self, observed: Observed) -> Plan:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        complete = await self._claims.settle(plan.replica_set, plan.adopt, plan.release)
        if not complete:
            # What was to be adopted or released is gone: the counts of this plan are wrong, and the watch will say so.
            return Result(requeue_after=0.1)
        failure = await self._scale(plan)
        await self._update_status(plan, failure)
        if failure is not None:
            raise failure
        return Result(plan.requeue_after)

    async def _scale(self, plan: Plan) -> Exception | None:
        owner = plan.replica_set
        if plan.create:
            return await self._control.create(owner, [pod_body(owner.spec.template, owner, self.resource)] * plan.create)
        return await self._control.delete(owner, plan.delete)

    async def _update_status(self, plan: Plan, failure: Exception | None) -> None:
        cause = None
        if failure is not None:
            reason = "FailedCreate" if plan.difference < 0 else "FailedDelete"
            message = getattr(failure, "message", str(failure))
            cause = (reason, message if reason == "FailedCreate" else f"unable to delete pods: {message}")
        observed = plan.replica_set.status
        # The plan has taken a former failure out; one that goes on keeps its condition, and with it the time of its beginning.
        base = plan.status if cause is None else statuses.keeping_failure(plan.status, observed)
        status = statuses.with_failure(base, cause, self._clock.now())
        if status != observed:
            await self._patch_status(plan.replica_set, self.status_patch(plan.replica_set, status))

    def status_patch(self, replica_set: apps_v1.ReplicaSet, status: apps_v1.ReplicaSetStatus) -> dict[str, Any]:
        return statuses.patch(replica_set, status)

    async def _patch_status(self, replica_set: apps_v1.ReplicaSet, patch: dict[str, Any]) -> None:
        meta = replica_set.metadata
        try:
            await self._client.patch(self.resource, meta.name, patch, meta.namespace, subresource="status")
        except StatusError as error:
            if error.reason != "NotFound":
                raise
            self._gone[key_of(replica_set)] = meta.uid
