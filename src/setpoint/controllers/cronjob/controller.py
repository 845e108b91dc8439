"""Wiring of the CronJob controller: which change of which object puts which key into the queue."""

from __future__ import annotations

from setpoint.api.types import batch_v1
from setpoint.client.controller import Controller
from setpoint.client.objects import key, key_of
from setpoint.client.owners import controller_of
from setpoint.controllers.claims import BY_CONTROLLER, by_controller
from setpoint.controllers.component import Context
from setpoint.controllers.cronjob import missed
from setpoint.controllers.cronjob.plan import Observed, Plan
from setpoint.controllers.cronjob.reconciler import CronJobReconciler
from setpoint.controllers.cronjob.schedule import Unparseable, parse

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

    def cron_job_changed(_: str, old: batch_v1.CronJob | None, new: batch_v1.CronJob | None) -> None:
        changed = new if new is not None else old
        if changed is None:
            return
        if old is None or new is None or _schedule(old) == _schedule(new):
            controller.enqueue(key_of(changed))
        elif (wait := seconds_until_looked_at(new, context.clock.now())) is not None:
            controller.enqueue_after(key_of(new), wait)

    cron_jobs.on_change(cron_job_changed)
    jobs.on_change(job_changed)
    return controller


def _schedule(cron_job: batch_v1.CronJob) -> tuple[str, str | None]:
    return cron_job.spec.schedule, cron_job.spec.time_zone


def seconds_until_looked_at(cron_job: batch_v1.CronJob, now: float) -> float | None:
    """When a CronJob that got another schedule is next looked at: times of the new schedule that are over start nothing yet.

    None where the schedule is none, until it is mended.
    """
    try:
        return missed.seconds_to_next(cron_job, parse(cron_job.spec.schedule, cron_job.spec.time_zone or ""), now)
    except (Unparseable, missed.Invalid):
        return None
