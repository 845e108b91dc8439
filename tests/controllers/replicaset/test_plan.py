from __future__ import annotations

from typing import Any

from setpoint.client.expectations import TIMEOUT
from setpoint.controllers.replicaset.plan import BURST, Observed, Plan, diff
from setpoint.testing.objects import NOW, pod, replica_set


def plan(replicas: int, pods: list[Any], *, trusted: bool = True, **kwargs: Any) -> Plan:
    owner = replica_set("r", replicas, **kwargs)
    return diff(Observed(owner, [make(owner) for make in pods], [], trusted, NOW))


def own(name: str, **kwargs: Any) -> Any:
    return lambda owner: pod(name, owner=owner, **kwargs)


def orphan(name: str, **kwargs: Any) -> Any:
    return lambda _: pod(name, **kwargs)


def names(pods: Any) -> list[str]:
    return [each.metadata.name for each in pods]


def test_missing_pods_are_made() -> None:
    assert plan(3, [own("a")]).create == 2


def test_surplus_is_deleted_worst_first() -> None:
    result = plan(1, [own("good", ready_since=5), own("bad")])
    assert (result.create, names(result.delete)) == (0, ["bad"])


def test_a_burst_is_bounded() -> None:
    assert plan(BURST + 100, []).create == BURST


def test_an_untrusted_cache_changes_no_pods_and_still_counts() -> None:
    result = plan(3, [own("a", ready_since=5)], trusted=False)
    assert (result.create, result.delete, result.status.ready_replicas) == (0, (), 1)
    assert result.requeue_after == TIMEOUT + 1, "what is expected may never be seen: then only time clears it"


def test_a_dying_replica_set_changes_no_pods() -> None:
    result = plan(3, [own("a"), orphan("b"), own("c", labels={"app": "other"})], deleted=True)
    assert (result.create, result.adopt, result.release) == (0, (), ())


def test_a_matching_orphan_is_adopted_and_counts() -> None:
    result = plan(2, [orphan("bare", ready_since=5)])
    assert (names(result.adopt), result.create, result.status.replicas) == (["bare"], 1, 1)


def test_what_no_longer_matches_is_released_and_replaced() -> None:
    result = plan(1, [own("moved", labels={"app": "other"})])
    assert (names(result.release), result.create) == (["moved"], 1)


def test_a_dying_orphan_and_a_strangers_pod_are_left_alone() -> None:
    stranger = replica_set("stranger", 1)
    result = plan(1, [orphan("dying", deleted=True), lambda _: pod("taken", owner=stranger)])
    assert (result.adopt, result.release, result.create) == ((), (), 1)


def test_ended_pods_are_replaced_and_dying_ones_counted_apart() -> None:
    result = plan(2, [own("failed", phase="Failed"), own("dying", deleted=True), own("a")])
    assert (result.create, result.status.replicas, result.status.terminating_replicas) == (1, 1, 1)


def test_status_counts() -> None:
    result = plan(
        3,
        [own("a", ready_since=100), own("b", ready_since=5), own("c", labels={"app": "a", "more": "x"})],
        min_ready_seconds=10,
    )
    status = result.status
    assert (status.replicas, status.fully_labeled_replicas, status.ready_replicas, status.available_replicas) == (3, 3, 2, 1)
    assert result.requeue_after == 5


def test_a_failure_that_is_over_leaves_the_status() -> None:
    failure = {"conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]}
    assert plan(0, [], status=failure).status.conditions == ()
