"""Wiring of the CronJob controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from setpoint.api.types import batch_v1
from setpoint.client.controller import Controller
from setpoint.client.objects import key
from setpoint.client.owners import controller_of
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context
from setpoint.controllers.cronjob.plan import Observed, Plan
from setpoint.controllers.cronjob.reconciler import CronJobReconciler

NAME = "cronjob-controller"


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller, its handlers registered; nothing runs yet."""
    cron_jobs = context.informers.of(batch_v1.CRONJOBS)
    jobs = context.informers.of(batch_v1.JOBS)
    jobs.add_index(BY_CONTROLLER, by_controller)
    reconciler = CronJobReconciler(context.client, context.clock, cron_jobs.store, jobs.store, context.recorder(NAME))
    controller: Controller[Observed, Plan] = Controller(NAME, reconciler, context.clock, informers=(cron_jobs, jobs))

    def job_changed(_: str, old: batch_v1.Job | None, new: batch_v1.Job | None) -> None:
        for job in (old, new):
            ref = controller_of(job.metadata) if job is not None else None
            if job is not None and ref is not None and ref.kind == batch_v1.CRONJOBS.kind:
                controller.enqueue(key(job.metadata.namespace, ref.name))

    controller.follow(cron_jobs, gone=True)
    jobs.on_change(job_changed)
    return controller
