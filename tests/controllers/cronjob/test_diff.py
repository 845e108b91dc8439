from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from setpoint.api.types import batch_v1
from setpoint.controllers.cronjob.diff import diff
from setpoint.controllers.cronjob.plan import Observed, Plan
from setpoint.kit.clock import parse_rfc3339, rfc3339
from setpoint.testing.objects import metadata

NOW = parse_rfc3339("2030-01-01T12:00:30Z")
MINUTE = parse_rfc3339("2030-01-01T12:00:00Z")


def cron_job(
    schedule: str = "* * * * *", *, last: float | None = None, active: Sequence[str] = (), **spec: Any
) -> batch_v1.CronJob:
    refs = [{"kind": "Job", "name": name, "namespace": "default", "uid": f"uid-{name}"} for name in active]
    body = {
        "metadata": {**metadata("c"), "creationTimestamp": rfc3339(NOW - 10)},
        "spec": {"schedule": schedule, "concurrencyPolicy": "Allow", "jobTemplate": {}, **spec},
        "status": {"active": refs, **({"lastScheduleTime": rfc3339(last)} if last is not None else {})},
    }
    return msgspec.convert(body, batch_v1.CronJob)


def job(name: str, ended: str = "", *, age: float = 100) -> batch_v1.Job:
    conditions = [{"type": ended, "status": "True"}] if ended else []
    status = {"conditions": conditions, "startTime": rfc3339(NOW - age)}
    if ended == "Complete":
        status["completionTime"] = rfc3339(NOW - 5)
    return msgspec.convert({"metadata": metadata(name), "status": status}, batch_v1.Job)


def plan(owner: batch_v1.CronJob, *jobs: batch_v1.Job) -> Plan:
    return diff(Observed(owner, jobs, NOW))


def reasons(result: Plan) -> list[str]:
    return [event.reason for event in result.events]


def test_nothing_is_due_before_its_time() -> None:
    result = plan(cron_job())
    assert (result.start, round(result.requeue_after or 0, 1)) == (None, 30.1)


def test_missed_for_hours_only_the_newest_is_started_with_a_warning() -> None:
    result = plan(cron_job(last=NOW - 3 * 3600))
    assert (result.start, reasons(result)) == (MINUTE, ["TooManyMissedTimes"])


def test_a_deadline_leaves_out_what_is_too_long_ago() -> None:
    result = plan(cron_job(last=NOW - 3 * 3600, startingDeadlineSeconds=200))
    assert (result.start, reasons(result)) == (MINUTE, [])
    assert plan(cron_job("50 11 * * *", last=NOW - 86400, startingDeadlineSeconds=60)).start is None


def test_what_was_started_is_not_started_again() -> None:
    assert plan(cron_job(last=MINUTE)).start is None


def test_policies_for_those_that_still_run() -> None:
    running = job("x")
    assert plan(cron_job(last=NOW - 90, active=["x"]), running).start == MINUTE
    result = plan(cron_job(last=NOW - 90, active=["x"], concurrencyPolicy="Forbid"), running)
    assert (result.start, reasons(result)) == (None, ["JobAlreadyActive"])
    result = plan(cron_job(last=NOW - 90, active=["x"], concurrencyPolicy="Replace"), running)
    assert (result.start, [ref.name for ref in result.replace]) == (MINUTE, ["x"])


def test_suspended_or_dying_it_starts_nothing() -> None:
    assert plan(cron_job(last=NOW - 90, suspend=True)).start is None


def test_a_schedule_that_never_comes_is_told_and_not_tried_again() -> None:
    result = plan(cron_job("59 23 31 2 *"))
    assert (reasons(result), result.requeue_after) == (["InvalidSchedule"], None)


def test_an_unknown_time_zone_is_told() -> None:
    assert reasons(plan(cron_job(timeZone="Nowhere/City"))) == ["UnknownTimeZone"]


def test_what_has_ended_leaves_the_list_and_the_oldest_go() -> None:
    owner = cron_job(active=["b"], successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0)
    result = plan(owner, job("a", "Complete", age=200), job("b", "Complete"), job("f", "Failed"))
    assert (result.active, [each.metadata.name for each in result.history]) == ((), ["a", "f"])
    assert (reasons(result), result.last_success) == (["SawCompletedJob"], rfc3339(NOW - 5))


def test_what_is_removed_at_once_is_not_told_of_as_completed() -> None:
    result = plan(cron_job(active=["b"], successfulJobsHistoryLimit=0), job("b", "Complete"))
    assert (result.active, [each.metadata.name for each in result.history], reasons(result)) == ((), ["b"], [])
    assert result.last_success == rfc3339(NOW - 5)


def test_what_the_cache_does_not_have_is_asked_for_before_anything_else() -> None:
    result = plan(cron_job(last=NOW - 90, active=["x"]))
    assert ([ref.name for ref in result.verify], result.start) == (["x"], None)


def test_a_job_that_is_not_listed_is_unexpected() -> None:
    assert [each.metadata.name for each in plan(cron_job(), job("odd")).unexpected] == ["odd"]
