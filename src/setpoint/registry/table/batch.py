"""The resources of batch."""

from __future__ import annotations

from setpoint.registry.batch.cron_job import CronJobStrategy, cron_job_status
from setpoint.registry.batch.job import JobStrategy, job_status
from setpoint.registry.resource import ServedResource
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="batch",
        versions=("v1",),
        plural="cronjobs",
        singular="cronjob",
        kind="CronJob",
        namespaced=True,
        strategy=CronJobStrategy(),
        definitions=definitions("batch", "CronJob"),
        short_names=("cj",),
        categories=("all",),
        subresources=(status("CronJob", cron_job_status()),),
    ),
    ServedResource(
        group="batch",
        versions=("v1",),
        plural="jobs",
        singular="job",
        kind="Job",
        namespaced=True,
        strategy=JobStrategy(),
        definitions=definitions("batch", "Job"),
        categories=("all",),
        subresources=(status("Job", job_status()),),
    ),
)
