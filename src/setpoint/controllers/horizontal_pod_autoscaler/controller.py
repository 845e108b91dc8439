"""Wiring of the HorizontalPodAutoscaler controller: every autoscaler once in each period."""

from __future__ import annotations

from setpoint.api.types import autoscaling_v2, core_v1
from setpoint.client.controller import Controller
from setpoint.client.objects import key_of
from setpoint.controllers.component import Context
from setpoint.controllers.horizontal_pod_autoscaler.plan import Observed, Plan
from setpoint.controllers.horizontal_pod_autoscaler.reconciler import AutoscalerReconciler

NAME = "horizontal-pod-autoscaler-controller"
RECORDER = "horizontal-pod-autoscaler"


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    hpas = context.informers.of(autoscaling_v2.HORIZONTALPODAUTOSCALERS)
    pods = context.informers.of(core_v1.PODS)
    period = context.settings.autoscaler_period
    recorder = context.recorder(RECORDER)
    reconciler = AutoscalerReconciler(context.client, context.clock, hpas.store, pods.store, recorder, period)
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(hpas, pods))

    def changed(
        _: str, old: autoscaling_v2.HorizontalPodAutoscaler | None, new: autoscaling_v2.HorizontalPodAutoscaler | None
    ) -> None:
        """The first look comes a period after the autoscaler: what it scales is often only being made."""
        if (found := new if new is not None else old) is not None:
            controller.enqueue_after(key_of(found), 0.0 if new is None else period)

    hpas.on_change(changed)
    return controller
