"""Observe, diff, act for one budget, and its wiring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery.selectors import LabelSelector
from setpoint.api.machinery.status import StatusError
from setpoint.api.types.apps_v1 import DEPLOYMENTS, REPLICASETS, STATEFULSETS
from setpoint.api.types.core_v1 import PODS, REPLICATIONCONTROLLERS, Pod
from setpoint.api.types.policy_v1 import PODDISRUPTIONBUDGETS, PodDisruptionBudget, PodDisruptionBudgetStatus
from setpoint.client.client import Client
from setpoint.client.controller import Controller, Result
from setpoint.client.events import EventRecorder
from setpoint.client.factory import InformerFactory
from setpoint.client.informer import Informer
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.controllers.claims import matches, selector_of
from setpoint.controllers.component import Context, Several
from setpoint.controllers.disruption_budget import stale
from setpoint.controllers.disruption_budget import status as statuses
from setpoint.controllers.disruption_budget.status import DELETION_TIMEOUT, Observed, Scale, ScaleError
from setpoint.controllers.labelled import BY_LABEL, by_label, selected
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.controllers.horizontal_pod_autoscaler.targets import Mapper

NAME = "disruption-controller"
_RECORDER = "controllermanager"
_OWNERS = (REPLICASETS, STATEFULSETS, DEPLOYMENTS, REPLICATIONCONTROLLERS)


class Plan(Struct, frozen=True):
    """The status to write; `event` is (type, reason, message).

    `recheck` is when a pod that does not go counts again, `overdue` are those that do so now.
    """

    budget: PodDisruptionBudget
    status: PodDisruptionBudgetStatus
    event: tuple[str, str, str] | None = None
    recheck: float | None = None
    overdue: tuple[Pod, ...] = ()


_Known = Scale | str | None


class Scales:
    """How many pods the controllers of pods want: from the caches, of other kinds than the usual from the server."""

    def __init__(self, informers: InformerFactory, client: Client, clock: Clock) -> None:
        self.informers: dict[tuple[str, str], Informer[Any]] = {
            (resource.group, resource.kind): informers.of(resource) for resource in _OWNERS
        }
        self._client = client
        self._clock = clock
        self._mapper: Mapper | None = None

    async def all(self, pods: Iterable[Pod]) -> dict[str, _Known]:
        """By uid of the controllers of pods."""
        found: dict[str, _Known] = {}
        for pod in pods:
            ref = controller_of(pod.metadata)
            if ref is not None and ref.uid not in found:
                known = _group_kind(ref) in self.informers
                found[ref.uid] = self._of(pod, ref) if known else await self._asked(pod.metadata.namespace, ref)
        return found

    async def _asked(self, namespace: str, ref: Any) -> _Known:
        """What the `scale` subresource says, or why there is none; the messages are Kubernetes'."""
        from setpoint.controllers.horizontal_pod_autoscaler import targets  # few clusters need it

        self._mapper = self._mapper or targets.Mapper(self._client, self._clock)
        try:
            resource = await self._mapper.resource(ref.api_version, ref.kind)
        except targets.UnknownKind:
            return f'no matches for kind "{ref.kind}" in version "{ref.api_version}"'
        try:
            scale = await self._client.raw("GET", resource.path(namespace, ref.name, "scale"))
        except StatusError as error:
            if error.code != 404:
                return str(error)
            missing = (error.details or {}).get("name")
            return None if missing else f"{resource.group_resource} does not implement the scale subresource"
        if scale["metadata"].get("uid") != ref.uid:
            return None
        return Scale(ref.uid, (scale.get("spec") or {}).get("replicas") or 0)

    def _of(self, pod: Pod, ref: Any) -> _Known:
        """The replicas of a pod's controller: of a ReplicaSet's Deployment where it has one."""
        owner = self._find(ref, pod.metadata.namespace)
        if owner is None:
            return None
        above = controller_of(owner.metadata)
        if ref.kind == REPLICASETS.kind and above is not None and above.kind == DEPLOYMENTS.kind:
            owner = self._find(above, pod.metadata.namespace) or owner
        return Scale(owner.metadata.uid, 1 if owner.spec.replicas is None else owner.spec.replicas)

    def _find(self, ref: Any, namespace: str) -> Any:
        informer = self.informers.get(_group_kind(ref))
        found = None if informer is None else informer.store.get(key(namespace, ref.name))
        return found if found is not None and found.metadata.uid == ref.uid else None


def _group_kind(ref: Any) -> tuple[str, str]:
    return ref.api_version.rpartition("/")[0], ref.kind


class BudgetReconciler:
    """Keys are budgets."""

    def __init__(self, context: Context, scales: Scales, recorder: EventRecorder) -> None:
        self._client = context.client
        self._clock = context.clock
        self._budgets = context.informers.of(PODDISRUPTIONBUDGETS).store
        self._pods = context.informers.of(PODS).store
        self._scales = scales
        self._recorder = recorder

    async def observe(self, name: str) -> Observed | None:
        budget = self._budgets.get(name)
        if budget is None:
            return None
        selector = budget_selector(budget)
        pods = [] if selector is None else selected(self._pods, budget.metadata.namespace, selector)
        scales = await self._scales.all(pods) if statuses.counts_controllers(budget) else {}
        return Observed(budget, pods, scales, self._clock.now())

    def diff(self, observed: Observed) -> Plan | None:
        budget = observed.budget
        event = _noticed(observed)
        try:
            status = statuses.calculate(observed)
        except ScaleError as error:
            message = f"Failed to calculate the number of expected pods: {error}"
            event = ("Warning", "CalculateExpectedPodCountFailed", message)
            status = statuses.failed(observed, str(error))
        recheck = DELETION_TIMEOUT if status.disrupted_pods else None
        same = status == budget.status
        if same and recheck is None:
            return None
        return Plan(budget, status, None if same else event, recheck, statuses.overdue(observed))

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
        for pod in plan.overdue:
            # Kubernetes says the namespace twice, too.
            name = f"{meta.namespace}/{meta.namespace}"
            self._recorder.event(pod, "Warning", "NotDeleted", f"Pod was expected by PDB {name} to be deleted but it wasn't")
        return Result(plan.recheck)


def _noticed(observed: Observed) -> tuple[str, str, str] | None:
    """What is odd about the pods of a budget."""
    if not observed.pods:
        return "Normal", "NoPods", "No matching pods found"
    if not statuses.counts_controllers(observed.budget):
        return None
    if all(controller_of(pod.metadata) is not None for pod in observed.pods):
        return None
    from setpoint.controllers.horizontal_pod_autoscaler.metrics import go_selector

    selector = go_selector(observed.budget.spec.selector)
    why = (
        f"Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. As a result, the status of"
        " the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set"
        ' ".spec.minAvailable" field of the PDB to an integer value.'
    )
    return "Warning", "UnmanagedPods", why


def budget_selector(budget: PodDisruptionBudget) -> LabelSelector | None:
    """None selects nothing, an empty selector everything (policy/v1)."""
    return None if budget.spec.selector is None else selector_of(budget.spec.selector)


def _several(pod: Pod, chosen: str) -> str:
    """What is told of a pod under more than one budget, which no eviction takes."""
    name = f'"{pod.metadata.namespace}"/"{pod.metadata.name}"'
    return f'Pod {name} matches multiple PodDisruptionBudgets.  Chose "{chosen}" arbitrarily.'


def new(context: Context) -> Several:
    """Budgets, and pods that were to go and did not; handlers registered, nothing runs yet."""
    return Several(NAME, (_budgets(context), stale.new(context)))


def _budgets(context: Context) -> Controller[Observed, Plan]:
    budgets, pods = context.informers.of(PODDISRUPTIONBUDGETS), context.informers.of(PODS)
    pods.add_index(BY_LABEL, by_label)
    scales = Scales(context.informers, context.client, context.clock)
    recorder = context.recorder(_RECORDER)
    reconciler = BudgetReconciler(context, scales, recorder)
    informers: list[Informer[Any]] = [budgets, pods, *scales.informers.values()]
    controller: Controller[Observed, Plan] = Controller("disruption", reconciler, context.clock, workers=1, informers=informers)

    def pod_changed(_: str, old: Pod | None, changed: Pod | None) -> None:
        if not len(budgets.store):
            return
        present = [pod for pod in (old, changed) if pod is not None]
        if len(present) > 1 and present[0].metadata.labels == present[1].metadata.labels:
            del present[0]  # what selects one selects the other
        covering = []
        for budget in budgets.store.list(present[0].metadata.namespace):
            selector = budget_selector(budget)
            if selector is not None and any(matches(selector, pod) for pod in present):
                controller.enqueue(key_of(budget))
                covering.append(budget.metadata.name)
        if len(covering) > 1 and changed is not None:
            recorder.event(changed, "Warning", "MultiplePodDisruptionBudgets", _several(changed, min(covering)))

    controller.follow(budgets)
    pods.on_change(pod_changed)
    return controller
