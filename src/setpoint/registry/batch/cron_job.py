"""CronJobs.

Source: `pkg/apis/batch/v1/defaults.go`, `pkg/apis/batch/validation`, `pkg/registry/batch/cronjob`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, invalid, not_supported, required
from setpoint.registry.batch import cron_schedule
from setpoint.registry.batch.job import default_failure_policy
from setpoint.registry.batch.job_spec import validate_job_template
from setpoint.registry.batch.warnings import job_warnings
from setpoint.registry.fields import Errors, nonnegative, nonnegatives
from setpoint.registry.pod.defaults import default_template
from setpoint.registry.pod.warnings import workload_name_warning
from setpoint.registry.spec_status import SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object
from setpoint.registry.workload import options

_POLICIES = ("Allow", "Forbid", "Replace")
#: the Job's name gets eleven more letters, and a pod's label must hold it
_MAX_NAME = 52
_ZONE_PART = re.compile(r"[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}")


class CronJobStrategy(SpecStatusStrategy):
    """The main endpoint."""

    has_generation: ClassVar[bool] = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)
        job = spec.setdefault("jobTemplate", {}).setdefault("spec", {})
        default_failure_policy(job)
        default_template(job.setdefault("template", {}))

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, None) + _name(obj["metadata"].get("name", ""))

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, old.get("spec") or {})

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return workload_name_warning(obj["metadata"].get("name", "")) + _job_warnings(obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        """An old schedule may keep its zone; Kubernetes names a path that does not exist."""
        out = [] if obj.get("spec") == old.get("spec") else _job_warnings(obj)
        if "TZ" in obj["spec"].get("schedule", ""):
            out.append(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts"
                "/workloads/controllers/cron-jobs/ for more details"
            )
        return out


def _job_warnings(obj: Object) -> list[str]:
    return job_warnings("spec.jobTemplate.spec", obj["spec"]["jobTemplate"]["spec"])


def _name(name: str) -> Errors:
    return [invalid("metadata.name", name, names.max_characters(_MAX_NAME))] if len(name) > _MAX_NAME else []


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    errors = _schedule("spec.schedule", spec, old) if spec.get("schedule") else [required("spec.schedule")]
    errors += nonnegative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    if old is None or old.get("timeZone") != spec.get("timeZone"):
        errors += _time_zone("spec.timeZone", spec.get("timeZone"))
    policy = spec.get("concurrencyPolicy", "")
    if not policy:
        errors.append(required("spec.concurrencyPolicy"))
    elif policy not in _POLICIES:
        errors.append(not_supported("spec.concurrencyPolicy", policy, _POLICIES))
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    before = None if old is None else ((old.get("jobTemplate") or {}).get("spec") or {})
    errors += validate_job_template("spec.jobTemplate.spec", job, options(before))
    return errors + nonnegatives("spec", spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _schedule(path: str, spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> Errors:
    """`TZ=` was accepted once, so an old schedule may keep it."""
    schedule = spec["schedule"]
    errors: Errors = []
    try:
        cron_schedule.check(schedule)
    except cron_schedule.ScheduleError as error:
        errors.append(invalid(path, schedule, str(error)))
    if "TZ" not in schedule:
        return errors
    if old is None or "TZ" not in old.get("schedule", ""):
        errors.append(invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
    elif spec.get("timeZone") is not None:
        errors.append(invalid(path, schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
    return errors


def _time_zone(path: str, zone: str | None) -> Errors:
    if zone is None:
        return []
    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    unknown = invalid(path, zone, f"unknown time zone {zone}")
    if not all(_ZONE_PART.fullmatch(part) and part not in {".", ".."} for part in zone.split("/")):
        return [unknown]
    errors: Errors = []
    if zone.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(invalid(path, zone, why))
    return errors if cron_schedule.is_zone(zone) else [*errors, unknown]


def cron_job_status() -> StatusStrategy:
    """The `status` endpoint."""
    return StatusStrategy(CronJobStrategy())
