"""Observe, diff, act for one pod, and the wiring."""

from __future__ import annotations

from setpoint.api.types.core_v1 import PODS, Pod
from setpoint.api.types.resource_v1 import RESOURCECLAIMS, RESOURCESLICES, ResourceClaim, ResourceSlice
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.objects import key, key_of
from setpoint.client.store import Store
from setpoint.controllers import disruption
from setpoint.controllers.component import Context
from setpoint.controllers.device_taint_eviction import plan as plans
from setpoint.controllers.device_taint_eviction.plan import Observed, Plan
from setpoint.kit.clock import Clock

NAME = "device-taint-eviction-controller"
REASON = "DeletionByDeviceTaintManager"
MESSAGE = "Device Taint manager: deleting due to NoExecute taint"
BY_CONSUMER = "consumer"


def by_consumer(claim: ResourceClaim) -> tuple[str, ...]:
    """Index function: the uids of the pods that a claim is reserved for."""
    return tuple(each.uid for each in claim.status.reserved_for if (each.api_group, each.resource) == ("", "pods"))


class DeviceTaintReconciler:
    """Keys are pods. It remembers until when each pod that will go may stay."""

    def __init__(  # three caches, a clock, a client, a recorder
        self,
        client: ClientProtocol,
        clock: Clock,
        pods: Store[Pod],
        claims: Store[ResourceClaim],
        slices: Store[ResourceSlice],
        recorder: EventRecorder,
    ) -> None:
        self._client = client
        self._clock = clock
        self._pods = pods
        self._claims = claims
        self._slices = slices
        self._recorder = recorder
        self._due: dict[str, float] = {}

    def forget(self, pod: Pod) -> None:
        """The pod is gone."""
        self._due.pop(pod.metadata.uid, None)

    def observe(self, name: str) -> Observed | None:
        pod = self._pods.get(name)
        if pod is None:
            return None
        uid = pod.metadata.uid
        claims = self._claims.by_index(BY_CONSUMER, uid)
        return Observed(pod, claims, plans.tainted(self._slices.list()), self._due.get(uid), self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        return plans.diff(observed)

    async def act(self, plan: Plan) -> Result | None:
        uid, now = plan.pod.metadata.uid, self._clock.now()
        if plan.due is None:
            self._due.pop(uid, None)  # it may have gone meanwhile
            self._tell(plan.pod, "Cancelling deletion")
        elif plan.due > now:
            self._due[uid] = plan.due
            return Result(requeue_after=plan.due - now)
        else:
            self._tell(plan.pod, "Marking for deletion")
            await disruption.evict(self._client, plan.pod, REASON, MESSAGE, now)
            self._due.pop(uid, None)
        return None

    def _tell(self, pod: Pod, message: str) -> None:
        """The pod in whatever version."""
        meta = pod.metadata
        about = {"kind": "Pod", "namespace": meta.namespace, "name": meta.name, "uid": meta.uid, "apiVersion": "v1"}
        self._recorder.event(about, "Normal", "DeviceTaintManagerEviction", message)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    pods, claims = context.informers.of(PODS), context.informers.of(RESOURCECLAIMS)
    slices = context.informers.of(RESOURCESLICES)
    claims.add_index(BY_CONSUMER, by_consumer)
    stores = (pods.store, claims.store, slices.store)
    reconciler = DeviceTaintReconciler(context.client, context.clock, *stores, context.recorder(NAME))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(pods, claims, slices))

    def pod_changed(_: str, old: Pod | None, pod: Pod | None) -> None:
        if pod is None:
            if old is not None:
                reconciler.forget(old)
        elif pod.spec.resource_claims and (old is None or old.spec.node_name != pod.spec.node_name):
            controller.enqueue(key_of(pod))

    def claim_changed(_: str, old: ResourceClaim | None, claim: ResourceClaim | None) -> None:
        for each in filter(None, (old, claim)):
            for consumer in each.status.reserved_for:
                controller.enqueue(key(each.metadata.namespace, consumer.name))

    def slice_changed(_: str, old: ResourceSlice | None, found: ResourceSlice | None) -> None:
        """Heartbeats and new devices are nobody's business; a driver's taints concern whoever has a device of it."""
        before, after = (plans.tainted([each]) if each is not None else {} for each in (old, found))
        if before != after:
            for claim in claims.store.list():
                claim_changed("", None, claim)

    pods.on_change(pod_changed)
    claims.on_change(claim_changed)
    slices.on_change(slice_changed)
    return controller
