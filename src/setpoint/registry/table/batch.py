"""The resources of batch."""

from __future__ import annotations

from setpoint.registry.resource import ServedResource
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.table.rows import definitions, status

RESOURCES: tuple[ServedResource, ...] = (
    ServedResource(
        group="batch",
        versions=("v1",),
        plural="cronjobs",
        singular="cronjob",
        kind="CronJob",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("batch", "CronJob"),
        short_names=("cj",),
        categories=("all",),
        subresources=(status("CronJob", StatusStrategy(SpecStatusStrategy())),),
    ),
    ServedResource(
        group="batch",
        versions=("v1",),
        plural="jobs",
        singular="job",
        kind="Job",
        namespaced=True,
        strategy=SpecStatusStrategy(),
        definitions=definitions("batch", "Job"),
        categories=("all",),
        subresources=(status("Job", StatusStrategy(SpecStatusStrategy())),),
    ),
)
