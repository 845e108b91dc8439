"""Pods that were to go and did not: their condition DisruptionTarget is taken back, so that nobody counts on it.

As `syncStalePodDisruption` in `pkg/controller/disruption/disruption.go`. What a kubelet said may take its time, and of a pod that
is over it stays true.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import PODS, Pod, PodCondition
from setpoint.client.client import Client
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key_of
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.controllers.disruption import DISRUPTION_TARGET
from setpoint.controllers.owned_pods.state import is_terminal
from setpoint.kit.clock import Clock, parse_rfc3339, rfc3339

#: how long a pod may take from the condition to its deletion
TIMEOUT = 120.0


class Observed(Struct, frozen=True):
    """A pod."""

    pod: Pod
    now: float


class Plan(Struct, frozen=True):
    """`wait` seconds until the condition is taken back; 0 for now."""

    pod: Pod
    wait: float


def disrupted(pod: Pod) -> PodCondition | None:
    """The condition that may become stale."""
    if pod.metadata.deletion_timestamp or is_terminal(pod):
        return None
    told = next((each for each in pod.status.conditions if each.type == DISRUPTION_TARGET), None)
    return told if told is not None and told.status == "True" and told.reason != "TerminationByKubelet" else None


class StaleReconciler:
    """Keys are pods."""

    def __init__(self, client: Client, clock: Clock, pods: Store[Pod]) -> None:
        self._client = client
        self._clock = clock
        self._pods = pods

    def observe(self, key: str) -> Observed | None:
        pod = self._pods.get(key)
        return None if pod is None else Observed(pod, self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        told = disrupted(observed.pod)
        if told is None:
            return None
        since = parse_rfc3339(told.last_transition_time) if told.last_transition_time else 0.0
        return Plan(observed.pod, max(0.0, since + TIMEOUT - observed.now))

    async def act(self, plan: Plan) -> Result | None:
        if plan.wait:
            return Result(plan.wait)
        meta = plan.pod.metadata
        condition: dict[str, Any] = {
            "type": DISRUPTION_TARGET,
            "status": "False",
            "reason": None,
            "message": None,
            "lastTransitionTime": rfc3339(self._clock.now()),
            "observedGeneration": meta.generation,
        }
        body = {
            "metadata": {"uid": meta.uid, "resourceVersion": meta.resource_version},
            "status": {"conditions": [condition]},
        }
        try:
            await self._client.patch(PODS, meta.name, body, meta.namespace, kind="strategic", subresource="status")
        except StatusError as error:
            if error.reason != "NotFound":
                raise
        return None


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handler registered; nothing runs yet."""
    pods = context.informers.of(PODS)
    reconciler = StaleReconciler(context.client, context.clock, pods.store)
    controller: Controller[Observed, Plan] = Controller(
        "stale_pod_disruption", reconciler, context.clock, workers=1, informers=(pods,)
    )

    def pod_changed(_: str, __: Pod | None, changed: Pod | None) -> None:
        if changed is not None and disrupted(changed) is not None:
            controller.enqueue(key_of(changed))

    pods.on_change(pod_changed)
    return controller
