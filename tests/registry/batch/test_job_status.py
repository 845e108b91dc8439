"""Writes to a Job's status: only what changes is judged."""

from __future__ import annotations

import pytest
from tests.registry.builders import Json

from setpoint.registry.batch.job_status import validate_job_status

INDEXED = {"completionMode": "Indexed", "completions": 4, "parallelism": 2, "backoffLimitPerIndex": 1}
START, END = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


def true(*kinds: str) -> list[Json]:
    return [{"type": kind, "status": "True"} for kind in kinds]


def complaints(spec: Json, old: Json, new: Json) -> list[str]:
    return [str(error) for error in validate_job_status({"spec": spec, "status": new}, {"spec": spec, "status": old})]


DONE = {"startTime": START, "completionTime": END, "conditions": true("SuccessCriteriaMet", "Complete")}


@pytest.mark.parametrize(
    ("spec", "old", "new", "wanted"),
    [
        (INDEXED, {}, {"failedIndexes": "3", "completedIndexes": "0-1"}, []),
        (
            INDEXED,
            {},
            {"failedIndexes": "1,3", "completedIndexes": "0-1"},
            ['status.failedIndexes: Invalid value: "1,3": failedIndexes and completedIndexes overlap at index: 1'],
        ),
        (
            {},
            {},
            {"failedIndexes": ""},
            ['status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
        ),
        (INDEXED, {"failedIndexes": "9"}, {"failedIndexes": "9", "active": 1}, []),
        ({}, {}, DONE, []),
        (
            {},
            DONE,
            {"startTime": START, "completionTime": START, "conditions": DONE["conditions"]},
            ['status.completionTime: Invalid value: "2024-01-01T00:00:00Z": completionTime cannot be mutated'],
        ),
        (
            {},
            {},
            {**DONE, "uncountedTerminatedPods": {"failed": ["a"]}},
            [
                (
                    'status.uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}:'
                    " uncountedTerminatedPods needs to be empty for finished job"
                )
            ],
        ),
        (
            {},
            {},
            {"startTime": START, "conditions": true("SuccessCriteriaMet", "Failed", "FailureTarget")},
            [
                "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
                "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
            ],
        ),
        (
            {},
            {"startTime": START},
            {},
            ["status.startTime: Invalid value: null: field is immutable for unsuspended job once set"],
        ),
        (
            {},
            {"startTime": START, "conditions": true("Suspended")},
            {"startTime": END, "conditions": [{"type": "Suspended", "status": "False"}]},
            [],
        ),
        (
            {**INDEXED, "parallelism": 4},
            {"succeeded": 4, "failed": 2},
            {"succeeded": 2, "failed": 1},
            ["status.failed: Invalid value: 1: cannot decrease the failed counter"],
        ),
    ],
)
def test_a_jobs_status(spec: Json, old: Json, new: Json, wanted: list[str]) -> None:
    assert complaints(spec, old, new) == wanted
