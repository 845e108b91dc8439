from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from setpoint.api.types import batch_v1, core_v1
from setpoint.client.expectations import TIMEOUT
from setpoint.client.owners import controller_reference
from setpoint.controllers.job.backoff import Record
from setpoint.controllers.job.diff import diff
from setpoint.controllers.job.plan import Observed, Plan
from setpoint.controllers.job.pods import FAILURES, FINALIZER, INDEX
from setpoint.kit.clock import rfc3339
from setpoint.testing.objects import LABELS, NOW, metadata, template

CALM = Record()


def job(*, status: dict[str, Any] | None = None, restart: str = "Never", deleted: bool = False, **spec: Any) -> batch_v1.Job:
    pods = template()
    pods["spec"]["restartPolicy"] = restart
    defaults = {"parallelism": 1, "completions": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False}
    body = {
        "metadata": metadata("j", deletionTimestamp=rfc3339(NOW) if deleted else None),
        "spec": {**defaults, "selector": {"matchLabels": LABELS}, "template": pods, **spec},
        "status": {"startTime": rfc3339(NOW - 50), "uncountedTerminatedPods": {}, **(status or {})},
    }
    return msgspec.convert(body, batch_v1.Job)


def pod(owner: batch_v1.Job, name: str, phase: str = "Running", *, index: int | None = None, **fields: Any) -> core_v1.Pod:
    annotations = {} if index is None else {INDEX: str(index), FAILURES: str(fields.pop("failures", 0))}
    tracked = [FINALIZER] if fields.pop("tracked", True) else []
    deletion = rfc3339(NOW) if fields.pop("deleted", False) else None
    meta = metadata(
        name,
        labels=LABELS,
        annotations=annotations,
        finalizers=tracked,
        ownerReferences=[controller_reference(owner, batch_v1.JOBS)],
        deletionTimestamp=deletion,
    )
    ended = {"terminated": {"exitCode": fields.pop("code", 1), "finishedAt": rfc3339(NOW - fields.pop("ago", 5))}}
    state = ended if phase in {"Failed", "Succeeded"} else {"running": {}}
    statuses = [{"name": "c", "restartCount": fields.pop("restarts", 0), "state": state}]
    body = {
        "metadata": meta,
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": phase, "containerStatuses": statuses, **fields},
    }
    return msgspec.convert(body, core_v1.Pod)


def plan(
    owner: batch_v1.Job, pods: Sequence[core_v1.Pod] = (), *, record: Record = CALM, trusted: bool = True, **given: Any
) -> Plan:
    found = diff(Observed(owner, pods, given.get("untracked", frozenset()), record, trusted, NOW))
    assert found is not None
    return found


def names(pods: Sequence[core_v1.Pod]) -> list[str]:
    return [each.metadata.name for each in pods]


def types(result: Plan) -> list[str]:
    return [f"{each.type} {each.reason}" for each in result.status.conditions]


def test_no_more_pods_than_completions_left() -> None:
    assert len(plan(job(parallelism=5, completions=3)).create) == 3
    owner = job(parallelism=5, completions=3, status={"succeeded": 1})
    assert len(plan(owner, [pod(owner, "a")]).create) == 1


def test_without_completions_one_success_stops_new_pods() -> None:
    owner = job(parallelism=2, completions=None)
    result = plan(owner, [pod(owner, "a", "Succeeded"), pod(owner, "b")])
    assert (result.create, result.discard, result.finish) == ((), (), None)
    done = plan(owner, [pod(owner, "a", "Succeeded"), pod(owner, "b", "Failed")])
    assert done.finish is not None
    assert done.finish.type == "Complete"


def test_what_has_ended_is_listed_before_it_is_freed() -> None:
    owner = job(completions=3, parallelism=2)
    result = plan(owner, [pod(owner, "a", "Succeeded"), pod(owner, "b")])
    assert result.status.uncounted_terminated_pods is not None
    assert result.status.uncounted_terminated_pods.succeeded == ("uid-a",)
    assert (names(result.untrack), result.status.succeeded) == (["a"], 0)


def test_what_was_freed_is_counted_once() -> None:
    listed = {"uncountedTerminatedPods": {"succeeded": ["uid-a"]}}
    owner = job(completions=3, status=listed)
    freed = pod(owner, "a", "Succeeded", tracked=False)
    assert plan(owner, [freed]).status.succeeded == 1
    stale = pod(owner, "a", "Succeeded")
    result = plan(owner, [stale], untracked=frozenset({"uid-a"}))
    assert (result.status.succeeded, result.untrack) == (1, ())


def test_an_untrusted_cache_makes_no_pods_and_finishes_nothing() -> None:
    result = plan(job(), trusted=False)
    assert (result.create, result.requeue_after) == ((), TIMEOUT + 1)


def test_failures_are_waited_for_longer_and_longer() -> None:
    owner = job()
    first = plan(owner, [pod(owner, "a", "Failed", ago=4)])
    assert (first.create, first.requeue_after) == ((), 6)
    assert len(plan(owner, [pod(owner, "a", "Failed", ago=10)]).create) == 1
    assert plan(owner, record=Record(3, NOW - 1)).requeue_after == 39


@pytest.mark.parametrize(("failed", "ends"), [(2, False), (3, True)])
def test_the_limit_is_exceeded_by_one_more_failure(failed: int, ends: bool) -> None:
    owner = job(backoffLimit=2)
    result = plan(owner, [pod(owner, f"p{number}", "Failed", ago=1000) for number in range(failed)])
    assert ("FailureTarget BackoffLimitExceeded" in types(result)) is ends


@pytest.mark.parametrize(("limit", "restarts", "ends"), [(0, 0, False), (0, 1, True), (2, 1, False), (2, 2, True)])
def test_restarts_in_place_count_too(limit: int, restarts: int, ends: bool) -> None:
    owner = job(backoffLimit=limit, restart="OnFailure")
    result = plan(owner, [pod(owner, "a", restarts=restarts)])
    assert (names(result.delete) == ["a"]) is ends


def test_while_a_failure_is_waited_for_no_pod_shows_as_active() -> None:
    owner = job(parallelism=2, completions=2)
    result = plan(owner, [pod(owner, "a", "Failed", ago=1), pod(owner, "b")])
    assert (result.status.active, result.create, result.discard) == (0, (), ())


def test_a_deleted_pod_counts_as_failed_unless_only_failed_ones_are_replaced() -> None:
    owner = job()
    assert names(plan(owner, [pod(owner, "a", deleted=True)]).untrack) == ["a"]
    owner = job(podReplacementPolicy="Failed")
    result = plan(owner, [pod(owner, "a", deleted=True)])
    assert (result.untrack, result.create, result.status.terminating) == ((), (), 1)


def test_lowered_parallelism_discards_without_counting() -> None:
    owner = job(parallelism=1, completions=2)
    result = plan(owner, [pod(owner, "a"), pod(owner, "b")])
    assert (len(result.discard), result.untrack, result.status.active, result.status.terminating) == (1, (), 1, 1)


def ready(seconds: float) -> list[dict[str, str]]:
    return [{"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(NOW - seconds)}]


def test_of_ready_pods_the_youngest_goes_first_however_little_younger() -> None:
    owner = job(parallelism=2, completions=3)
    pods = [pod(owner, name, conditions=ready(age)) for name, age in (("a", 1000), ("b", 999), ("c", 1001))]
    assert names(plan(owner, pods).discard) == ["b"]


def test_of_like_indexes_the_lowest_goes_first() -> None:
    owner = job(completionMode="Indexed", parallelism=1, completions=3)
    assert names(plan(owner, [pod(owner, name, index=int(name)) for name in ("2", "0", "1")]).discard) == ["0", "1"]


def test_a_pod_on_its_way_out_takes_none_that_runs_along() -> None:
    owner = job(parallelism=2, completions=4, podReplacementPolicy="Failed")
    result = plan(owner, [pod(owner, "a"), pod(owner, "b"), pod(owner, "c", deleted=True)])
    assert (result.discard, result.create, result.status.active) == ((), (), 2)


def test_suspended_it_has_no_pods_and_no_start() -> None:
    owner = job(suspend=True)
    result = plan(owner, [pod(owner, "a")])
    assert (names(result.discard), types(result), result.status.start_time) == (["a"], ["Suspended JobSuspended"], None)
    assert [event.reason for event in result.events] == ["Suspended"]


def test_past_its_deadline_it_fails() -> None:
    owner = job(activeDeadlineSeconds=10)
    result = plan(owner, [pod(owner, "a")])
    assert (types(result), names(result.delete)) == (["FailureTarget DeadlineExceeded"], ["a"])
    assert plan(job(activeDeadlineSeconds=100), [pod(owner, "a")]).requeue_after == 51


def test_a_policy_fails_the_job_ignores_or_counts() -> None:
    rules = [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]
    owner = job(podFailurePolicy={"rules": rules})
    result = plan(owner, [pod(owner, "a", "Failed", code=42)])
    assert result.status.conditions[0].message == (
        "Container c for pod default/a failed with exit code 42 matching FailJob rule at index 0"
    )
    disrupted: dict[str, Any] = {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}
    result = plan(owner, [pod(owner, "a", "Failed", ago=100, **disrupted)])
    listed = result.status.uncounted_terminated_pods
    assert listed is not None
    assert (listed.failed, names(result.untrack)) == ((), ["a"])


def test_each_index_has_one_pod() -> None:
    owner = job(completionMode="Indexed", completions=3, parallelism=3)
    result = plan(owner, [pod(owner, "a", index=1), pod(owner, "b", index=1), pod(owner, "c", index=7)])
    assert sorted(names(result.discard)) in (["a", "c"], ["b", "c"])
    result = plan(owner, [pod(owner, "a", index=1)])
    assert [body["spec"]["hostname"] for body in result.create] == ["j-0", "j-2"]


def test_an_index_is_counted_once_however_many_pods_succeeded() -> None:
    owner = job(completionMode="Indexed", completions=3, parallelism=3, status={"succeeded": 1, "completedIndexes": "0"})
    result = plan(owner, [pod(owner, "a", "Succeeded", index=0), pod(owner, "b", "Succeeded", index=1)])
    assert (result.status.completed_indexes, result.status.succeeded) == ("0,1", 2)


def test_an_index_fails_by_its_own_limit() -> None:
    owner = job(completionMode="Indexed", completions=2, parallelism=2, backoffLimitPerIndex=1)
    tried = pod(owner, "a", "Failed", index=0, ago=100)
    result = plan(owner, [tried])
    assert (result.status.failed_indexes, result.untrack) == ("", ()), "the pod stays: it knows how often the index failed"
    assert [body["metadata"]["annotations"][FAILURES] for body in result.create] == ["1", "0"]
    again = pod(owner, "b", "Failed", index=0, failures=1)
    result = plan(owner, [again, pod(owner, "c", index=1)])
    assert (result.status.failed_indexes, names(result.untrack)) == ("0", ["b"])
    result = plan(owner, [again, pod(owner, "c", "Succeeded", index=1)])
    assert types(result) == ["FailureTarget FailedIndexes"]


def test_a_success_policy_ends_the_job_early() -> None:
    policy = {"rules": [{"succeededIndexes": "0-1", "succeededCount": 1}]}
    owner = job(completionMode="Indexed", completions=3, parallelism=3, successPolicy=policy)
    result = plan(owner, [pod(owner, "a", index=0), pod(owner, "b", "Succeeded", index=1)])
    assert (types(result), names(result.delete)) == (["SuccessCriteriaMet SuccessPolicy"], ["a"])
    assert result.finish is not None
    assert (result.finish.type, result.finish.message) == ("Complete", "Matched rules at index 0")


def test_other_controllers_jobs_and_finished_ones_are_left_alone() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    for owner in (job(managedBy="example.com/other"), job(status=done)):
        assert diff(Observed(owner, [], frozenset(), CALM, trusted=True, now=NOW)) is None


def test_a_dying_job_frees_its_pods_and_makes_none() -> None:
    owner = job(deleted=True)
    result = plan(owner, [pod(owner, "a")])
    assert (result.create, names(result.untrack)) == ((), ["a"])
