"""The decision over a CronJob. Pure and synchronous. As `syncCronJob` in `pkg/controller/cronjob/cronjob_controllerv2.go`."""

from __future__ import annotations

import time

import msgspec

from setpoint.api.types import batch_v1
from setpoint.controllers.cronjob import missed
from setpoint.controllers.cronjob.plan import Observed, Plan
from setpoint.controllers.cronjob.schedule import Schedule, Unparseable, location, parse
from setpoint.controllers.event import Event
from setpoint.controllers.job import conditions


def diff(observed: Observed) -> Plan:
    """Note what has ended, forget what is old, start what is due."""
    plan = _noted(observed)
    if plan.verify or observed.cron_job.metadata.deletion_timestamp:
        return plan
    return scheduled(plan, observed.now)


def _noted(observed: Observed) -> Plan:
    """The plan as far as the Jobs that are there want it."""
    cron_job, status = observed.cron_job, observed.cron_job.status
    known = {ref.uid for ref in status.active}
    there = {job.metadata.uid for job in observed.jobs}
    ended = [job for job in observed.jobs if conditions.is_finished(job)]
    done = {job.metadata.uid for job in ended} & known
    history = tuple(_superfluous(cron_job, ended))
    told = done.difference(job.metadata.uid for job in history)  # what is removed at once, nobody sees completed
    last = status.last_successful_time
    for job in ended:
        if _kind(job) == conditions.COMPLETE and job.status.completion_time:
            last = max(last or "", job.status.completion_time)
    return Plan(
        cron_job,
        tuple(ref for ref in status.active if ref.uid not in done),
        last,
        tuple(_completed(job) for job in ended if job.metadata.uid in told),
        tuple(ref for ref in status.active if ref.uid not in there),
        tuple(job for job in observed.jobs if job.metadata.uid not in known and not conditions.is_finished(job)),
        history,
    )


def _kind(job: batch_v1.Job) -> str:
    """Complete or Failed."""
    return next(
        each.type
        for each in job.status.conditions
        if each.type in {conditions.COMPLETE, conditions.FAILED} and each.status == "True"
    )


def _completed(job: batch_v1.Job) -> Event:
    message = f"Saw completed job: {job.metadata.name}, condition: {_kind(job)}"
    return Event("Normal", "SawCompletedJob", message)


def _superfluous(cron_job: batch_v1.CronJob, ended: list[batch_v1.Job]) -> list[batch_v1.Job]:
    """The oldest of those that ended, beyond the limits of the history."""
    limits = {
        conditions.COMPLETE: cron_job.spec.successful_jobs_history_limit,
        conditions.FAILED: cron_job.spec.failed_jobs_history_limit,
    }
    found = []
    for kind, limit in limits.items():
        if limit is not None:
            jobs = sorted((job for job in ended if _kind(job) == kind), key=_by_start)
            found += jobs[: max(0, len(jobs) - limit)]
    return found


def _by_start(job: batch_v1.Job) -> tuple[bool, str, str]:
    return job.status.start_time is None, job.status.start_time or "", job.metadata.name


def scheduled(plan: Plan, now: float) -> Plan:
    """The plan with what the schedule asks for."""
    cron_job = plan.cron_job
    zone = cron_job.spec.time_zone or ""
    try:
        location(zone)
    except Unparseable as error:
        return _telling(plan, "UnknownTimeZone", f'invalid timeZone: "{zone}": {error}')
    if cron_job.spec.suspend:
        return plan
    try:
        schedule = parse(cron_job.spec.schedule, zone)
    except Unparseable as error:
        return _telling(plan, "UnparseableSchedule", f'unparseable schedule: "{cron_job.spec.schedule}" : {error}')
    try:
        return _due(plan, schedule, now)
    except missed.Invalid as error:
        return _telling(plan, "InvalidSchedule", f"invalid schedule: {cron_job.spec.schedule} : {error}")


def _telling(plan: Plan, reason: str, message: str, kind: str = "Warning") -> Plan:
    return msgspec.structs.replace(plan, events=(*plan.events, Event(kind, reason, message)))


def _due(plan: Plan, schedule: Schedule, now: float) -> Plan:
    cron_job = plan.cron_job
    found = missed.since_last(cron_job, schedule, now, deadline=True)
    plan = msgspec.structs.replace(plan, requeue_after=missed.seconds_to_next(cron_job, schedule, now))
    if found.recent is None:
        return plan
    if found.count > missed.MANY:
        message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        plan = _telling(plan, "TooManyMissedTimes", message)
    deadline = cron_job.spec.starting_deadline_seconds
    if deadline is not None and found.recent + deadline < now:
        moment = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(found.recent))
        return _telling(plan, "MissSchedule", f"Missed scheduled time to start a job: {moment}")
    if any(ref.name == job_name(cron_job, found.recent) for ref in plan.active):
        return plan
    if plan.active and cron_job.spec.concurrency_policy == "Forbid":
        message = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return _telling(plan, "JobAlreadyActive", message, "Normal")
    replace = plan.active if cron_job.spec.concurrency_policy == "Replace" else ()
    return msgspec.structs.replace(plan, start=found.recent, replace=replace)


def job_name(cron_job: batch_v1.CronJob, scheduled: float) -> str:
    """One name per minute: no time is started twice."""
    return f"{cron_job.metadata.name}-{int(scheduled) // 60}"
