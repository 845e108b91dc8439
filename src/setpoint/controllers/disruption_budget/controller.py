"""Observe, diff, act for one budget, and its wiring."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.apps_v1 import DEPLOYMENTS, REPLICASETS, STATEFULSETS
from setpoint.api.types.core_v1 import PODS, REPLICATIONCONTROLLERS, Pod
from setpoint.api.types.policy_v1 import PODDISRUPTIONBUDGETS, PodDisruptionBudget, PodDisruptionBudgetStatus
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import Informer
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.controllers.claims import matches, selector_of
from setpoint.controllers.component import Context
from setpoint.controllers.disruption_budget import status as statuses
from setpoint.controllers.disruption_budget.status import DELETION_TIMEOUT, Observed, ScaleError

NAME = "disruption-controller"
_RECORDER = "controllermanager"
_OWNERS = (REPLICASETS, STATEFULSETS, DEPLOYMENTS, REPLICATIONCONTROLLERS)


class Plan(Struct, frozen=True):
    """The status to write; `event` is (type, reason, message). `recheck` is when a pod that does not go counts again."""

    budget: PodDisruptionBudget
    status: PodDisruptionBudgetStatus
    event: tuple[str, str, str] | None = None
    recheck: float | None = None


class Scales:
    """How many pods the controllers of pods want, from the caches."""

    def __init__(self, informers: InformerFactory) -> None:
        self.informers: dict[str, Informer[Any]] = {resource.kind: informers.of(resource) for resource in _OWNERS}

    def of(self, pod: Pod) -> tuple[str, int | None]:
        """The uid of the pod's controller, and its replicas: of a ReplicaSet's Deployment where it has one."""
        ref = controller_of(pod.metadata)
        if ref is None:
            return "", None
        owner = self._find(ref.kind, pod.metadata.namespace, ref.name, ref.uid)
        if owner is None:
            return ref.uid, None
        above = controller_of(owner.metadata)
        if ref.kind == REPLICASETS.kind and above is not None and above.kind == DEPLOYMENTS.kind:
            owner = self._find(above.kind, pod.metadata.namespace, above.name, above.uid) or owner
        return ref.uid, 1 if owner.spec.replicas is None else owner.spec.replicas

    def _find(self, kind: str, namespace: str, name: str, uid: str) -> Any:
        informer = self.informers.get(kind)
        found = None if informer is None else informer.store.get(key(namespace, name))
        return found if found is not None and found.metadata.uid == uid else None


class BudgetReconciler:
    """Keys are budgets."""

    def __init__(self, context: Context, scales: Scales, recorder: EventRecorder) -> None:
        self._client = context.client
        self._clock = context.clock
        self._budgets = context.informers.of(PODDISRUPTIONBUDGETS).store
        self._pods = context.informers.of(PODS).store
        self._scales = scales
        self._recorder = recorder

    def observe(self, name: str) -> Observed | None:
        budget = self._budgets.get(name)
        if budget is None:
            return None
        selector = budget_selector(budget)
        pods = [] if selector is None else [pod for pod in self._pods.list(budget.metadata.namespace) if matches(selector, pod)]
        return Observed(budget, pods, dict(map(self._scales.of, pods)), self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        budget = observed.budget
        event = None if observed.pods else ("Normal", "NoPods", "No matching pods found")
        try:
            status = statuses.calculate(observed)
        except ScaleError as error:
            message = f"Failed to calculate the number of expected pods: {error}"
            event = ("Warning", "CalculateExpectedPodCountFailed", message)
            status = statuses.failed(observed, str(error))
        recheck = DELETION_TIMEOUT if status.disrupted_pods else None
        same = status == budget.status
        return None if same and recheck is None else Plan(budget, status, None if same else event, recheck)

    async def act(self, plan: Plan) -> Result | None:
        meta = plan.budget.metadata
        if plan.status != plan.budget.status:
            try:
                body = statuses.patch(plan.budget, plan.status)
                await self._client.patch(PODDISRUPTIONBUDGETS, meta.name, body, meta.namespace, subresource="status")
            except StatusError as error:
                if error.reason != "NotFound":
                    raise
                return None
        if plan.event is not None:
            self._recorder.event(plan.budget, *plan.event)
        return Result(plan.recheck)


def budget_selector(budget: PodDisruptionBudget) -> LabelSelector | None:
    """None selects nothing, an empty selector everything (policy/v1)."""
    return None if budget.spec.selector is None else selector_of(budget.spec.selector)


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    budgets, pods = context.informers.of(PODDISRUPTIONBUDGETS), context.informers.of(PODS)
    scales = Scales(context.informers)
    reconciler = BudgetReconciler(context, scales, context.recorder(_RECORDER))
    informers: list[Informer[Any]] = [budgets, pods, *scales.informers.values()]
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, workers=1, informers=informers)

    def pod_changed(_: str, old: Pod | None, changed: Pod | None) -> None:
        if not len(budgets.store):
            return
        present = [pod for pod in (old, changed) if pod is not None]
        for budget in budgets.store.list(present[0].metadata.namespace):
            selector = budget_selector(budget)
            if selector is not None and any(matches(selector, pod) for pod in present):
                controller.enqueue(key_of(budget))

    controller.follow(budgets)
    pods.on_change(pod_changed)
    return controller
