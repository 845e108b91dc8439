"""Observe, diff, act for one HorizontalPodAutoscaler."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import autoscaling_v2, core_v1
from setpoint.client.client import Client
from setpoint.client.controller import Result
from setpoint.client.events import EventRecorder
from setpoint.client.store import Store
from setpoint.controllers.horizontal_pod_autoscaler import diff as decision
from setpoint.controllers.horizontal_pod_autoscaler import targets
from setpoint.controllers.horizontal_pod_autoscaler.metrics import MetricsClient, parse_selector
from setpoint.controllers.horizontal_pod_autoscaler.plan import Failure, Memory, Observed, Plan, Reading, Selected, Target
from setpoint.controllers.horizontal_pod_autoscaler.selected import Selections
from setpoint.kit.clock import Clock

HPAS = autoscaling_v2.HORIZONTALPODAUTOSCALERS
Autoscaler = autoscaling_v2.HorizontalPodAutoscaler


class AutoscalerReconciler:
    """Keys are autoscalers; each is looked at every `period` seconds, since metrics do not say when they change."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        hpas: Store[Autoscaler],
        pods: Store[core_v1.Pod],
        recorder: EventRecorder,
        period: float,
    ) -> None:
        self._client = client
        self._clock = clock
        self._hpas = hpas
        self._recorder = recorder
        self._period = period
        self._mapper = targets.Mapper(client, clock)
        self._metrics = MetricsClient(client, self._mapper)
        self._selections = Selections(pods)
        self._memory: dict[str, Memory] = {}

    async def observe(self, key: str) -> Observed | None:
        hpa = self._hpas.get(key)
        if hpa is None:
            self._memory.pop(key, None)
            self._selections.forget(key)
            return None
        namespace = hpa.metadata.namespace
        target = await targets.read(self._client, self._mapper, hpa.spec.scale_target_ref, namespace)
        selected: Selected | Failure | None = None
        readings: list[Reading | Failure] = []
        if isinstance(target, Target) and decision.asks_metrics(hpa, target) and target.selector:
            selected = self._select(key, target, namespace)
            if isinstance(selected, Selected) and len(selected.autoscalers) < 2:
                readings = [await self._metrics.read(spec, namespace, selected.selector) for spec in hpa.spec.metrics]
        return Observed(hpa, target, selected, readings, self._memory.get(key, Memory()), self._clock.now())

    def _select(self, key: str, target: Target, namespace: str) -> Selected | Failure:
        try:
            selector = parse_selector(target.selector)
        except (ValueError, StatusError) as error:
            return Failure(str(error))
        return self._selections.of(key, namespace, selector)

    def diff(self, observed: Observed) -> Plan:
        return decision.diff(observed)

    async def act(self, plan: Plan) -> Result:
        key = f"{plan.hpa.metadata.namespace}/{plan.hpa.metadata.name}"
        for event in plan.events:
            self._recorder.event(plan.hpa, event.kind, event.reason, event.message)
        status = plan.status
        self._memory[key] = plan.memory
        if plan.rescale is not None and plan.target is not None:
            error = await self._rescale(plan, plan.target, plan.rescale)
            if error is None:
                self._memory[key] = decision.scaled(plan, self._clock.now())
            else:
                status = decision.refused(plan, error, self._clock.now())
        if status != plan.hpa.status:
            await self._write(plan.hpa, status)
        return Result(self._period)

    async def _rescale(self, plan: Plan, target: Target, replicas: int) -> str | None:
        """Change the replicas; the error's text if that is refused."""
        tell = partial(self._recorder.event, plan.hpa)
        try:
            await targets.write(self._client, target, replicas)
        except StatusError as error:
            message = f"New size: {replicas}; reason: {plan.reason}; error: {error}"
            tell("Warning", "FailedRescale", message)
            return str(error)
        tell("Normal", "SuccessfulRescale", f"New size: {replicas}; reason: {plan.reason}")
        return None

    async def _write(self, hpa: Autoscaler, status: autoscaling_v2.HorizontalPodAutoscalerStatus) -> None:
        """The whole status, of the object that was observed: by PUT, which is what the role allows."""
        meta = hpa.metadata
        path = HPAS.path(meta.namespace, meta.name)
        body = await self._client.raw("GET", path)
        body["metadata"]["resourceVersion"] = meta.resource_version
        body["status"] = encoded(status)
        try:
            await self._client.raw("PUT", f"{path}/status", body=body)
        except StatusError as error:
            self._recorder.event(hpa, "Warning", "FailedUpdateStatus", str(error))
            raise


def encoded(status: autoscaling_v2.HorizontalPodAutoscalerStatus) -> dict[str, Any]:
    """A status as JSON, without what says nothing; no metrics at all are null."""
    body: dict[str, Any] = _bare(msgspec.to_builtins(status))
    metrics = [{"type": each.type, **_bare(msgspec.to_builtins(each))} for each in status.current_metrics or ()]
    return {
        **body,
        "currentMetrics": metrics or None,
        "desiredReplicas": status.desired_replicas,
        "currentReplicas": status.current_replicas,
    }


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(each) for key, each in value.items() if each not in (None, "", [], ())}
    return [_bare(each) for each in value] if isinstance(value, list | tuple) else value
