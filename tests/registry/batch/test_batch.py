"""Jobs and cron jobs."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.registry.builders import Json, complaints, context, created, pod

from setpoint.registry.batch.cron_job import CronJobStrategy
from setpoint.registry.batch.cron_schedule import ScheduleError, check
from setpoint.registry.batch.indexes import IndexesError, count
from setpoint.registry.batch.job import JobStrategy

JOB = JobStrategy()


def job(spec: Json | None = None, /) -> Json:
    template = {"spec": pod({"restartPolicy": "Never"})["spec"]}
    return {"kind": "Job", "metadata": {"name": "j", "uid": "u-1"}, "spec": {"template": template, **(spec or {})}}


def test_a_jobs_defaults() -> None:
    obj = created(JOB, job())
    spec = obj["spec"]
    assert {name: spec[name] for name in spec if name not in {"selector", "template"}} == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }
    wanted = {"batch.kubernetes.io/controller-uid": "u-1"}
    assert spec["selector"] == {"matchLabels": wanted}
    assert wanted.items() <= spec["template"]["metadata"]["labels"].items()


def test_labels_that_the_server_gave_the_pods_are_the_jobs_only_when_all_is_checked() -> None:
    obj = created(JOB, job())
    assert "labels" not in obj["metadata"]
    JOB.canonicalise(obj)
    assert obj["metadata"]["labels"] == obj["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, []),
        ({"parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        (
            {"completionMode": "Indexed"},
            ["spec.completions: Required value: when completion mode is Indexed"],
        ),
        ({"completionMode": "Odd"}, ['spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"']),
    ],
)
def test_jobs_are_checked(spec: Json, wanted: list[str]) -> None:
    if spec.get("completionMode"):
        spec = {"parallelism": 2, **spec}
    assert complaints(JOB, job(spec)) == wanted


def test_a_jobs_template_stays() -> None:
    old = created(JOB, job())
    new = deepcopy(old)
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    (text,) = complaints(JOB, new, old)
    assert text.startswith("spec.template: Invalid value: ")
    assert text.endswith(": field is immutable")


@pytest.mark.parametrize(("text", "wanted"), [("", 0), ("1", 1), ("1,3-5", 4), ("0-9", 10)])
def test_indexes_are_counted(text: str, wanted: int) -> None:
    assert count(text, 10) == wanted


@pytest.mark.parametrize("text", ["a", "3-1", "1,1", "10", "1-", "5,3"])
def test_odd_indexes(text: str) -> None:
    with pytest.raises(IndexesError):
        count(text, 10)


def test_a_suspended_job_without_pods_may_be_scheduled_elsewhere() -> None:
    old = {**created(JOB, job({"suspend": True})), "status": {"startTime": "2024-01-01T00:00:00Z"}}
    new = deepcopy(old)
    new["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert len(complaints(JOB, deepcopy(new), old)) == 1
    old["status"]["conditions"] = [{"type": "Suspended", "status": "True"}]
    assert complaints(JOB, deepcopy(new), old) == []
    old["status"]["active"] = 1
    assert len(complaints(JOB, new, old)) == 1


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 0 1,15 * 1-5",
        "@hourly",
        "@every 1h30m",
        "0 0 * JAN SUN",
        "0 0 * * ?",
        "TZ=UTC 0,,1 * * * *",
        "*-9 * * * *",
    ],
)
def test_schedules(schedule: str) -> None:
    check(schedule)


@pytest.mark.parametrize(
    ("schedule", "why"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("@odd", "unrecognized descriptor: @odd"),
        ("TZ=Mars/Olympus * * * * *", "provided bad location Mars/Olympus: unknown time zone Mars/Olympus"),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every 1d", 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
    ],
)
def test_odd_schedules(schedule: str, why: str) -> None:
    with pytest.raises(ScheduleError) as told:
        check(schedule)
    assert str(told.value) == why


def test_a_cron_jobs_defaults_and_checks() -> None:
    strategy = CronJobStrategy()
    spec: Json = {"schedule": "* * * * *", "jobTemplate": {"spec": job()["spec"]}}
    obj: Json = {"kind": "CronJob", "metadata": {"name": "c"}, "spec": spec}
    assert complaints(strategy, obj) == []
    assert obj["spec"]["concurrencyPolicy"] == "Allow"
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 1)
    obj["metadata"]["name"] = "c" * 53
    assert complaints(strategy, obj) == [f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters']


def test_a_cron_jobs_zone_and_selector() -> None:
    strategy = CronJobStrategy()

    def told(schedule: str, old: str = "", **more: Any) -> list[str]:
        spec = {"schedule": schedule, "jobTemplate": {"spec": {**job()["spec"], **more.pop("job", {})}}, **more}
        before = {"metadata": {}, "spec": {**spec, "schedule": old}} if old else None
        return complaints(strategy, {"kind": "CronJob", "metadata": {"name": "c"}, "spec": spec}, before)

    assert [text.partition(": ")[0] for text in told("TZ=UTC odd")] == ["spec.schedule", "spec.schedule"]
    (both,) = told("TZ=UTC 0 * * * *", "TZ=UTC 1 * * * *", timeZone="UTC")
    assert both.endswith("cannot use both timeZone field and TZ or CRON_TZ in schedule")
    assert [text.rpartition(": ")[2] for text in told("* * * * *", timeZone="LOCAL")][1:] == ["unknown time zone LOCAL"]
    assert told("* * * * *", job={"selector": {"matchLabels": {"a": "b"}}}) == [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated'
    ]


def test_warnings_of_jobs_and_of_their_templates() -> None:
    spec = {"completionMode": "Indexed", "completions": 100001, "parallelism": 10001}
    text = (
        ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might"
        " not be able to track completedIndexes when a big number of indexes fail"
    )
    assert JOB.warnings_on_create(context(), created(JOB, job(spec))) == ["spec" + text]
    strategy = CronJobStrategy()
    old = {
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"schedule": "TZ=UTC * * * * *", "jobTemplate": {"spec": job(spec)["spec"]}},
    }
    assert strategy.warnings_on_create(context(), created(strategy, old)) == ["spec.jobTemplate.spec" + text]
    (zone,) = strategy.warnings_on_update(context(), deepcopy(old), old)
    assert zone.startswith("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead")
