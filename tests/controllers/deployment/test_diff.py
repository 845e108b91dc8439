from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types import apps_v1
from setpoint.controllers.deployment import revisions
from setpoint.controllers.deployment.diff import diff
from setpoint.controllers.deployment.plan import Create, Delete, Observed, Plan, Update
from setpoint.testing.objects import NOW, deployment, pod, replica_set

ROLL = {"type": "RollingUpdate"}


def plan(owner: apps_v1.Deployment, *replica_sets: apps_v1.ReplicaSet, pods: Any = None, now: float = NOW) -> Plan:
    return diff(Observed(owner, replica_sets, pods or {}, now))


def rs(
    name: str,
    replicas: int,
    owner: apps_v1.Deployment,
    *,
    ready: int | None = None,
    image: str = "i",
    revision: int = 1,
    desired: int | None = None,
    surge: int | None = None,
    age: float = 100,
    pods: int | None = None,
    **status: Any,
) -> apps_v1.ReplicaSet:
    ready = replicas if ready is None else ready
    want = owner.spec.replicas or 0
    notes = {
        revisions.REVISION: str(revision),
        revisions.DESIRED: str(want if desired is None else desired),
        revisions.MAXIMUM: str((want if desired is None else desired) + (0 if surge is None else surge)),
    }
    counts = {"replicas": replicas if pods is None else pods, "readyReplicas": ready, "availableReplicas": ready, **status}
    return replica_set(name, replicas, owner=owner, image=image, annotations=notes, age=age, status=counts)


def rolling(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def sizes(result: Plan) -> dict[str, int]:
    return {
        step.replica_set.metadata.name: step.replicas
        for step in result.steps
        if isinstance(step, Update) and step.replicas is not None
    }


def condition(result: Plan, type: str) -> tuple[str, str, str]:
    found = next(each for each in result.status.conditions if each.type == type)
    return found.status, found.reason, found.message


def created(result: Plan) -> apps_v1.ReplicaSet:
    (step,) = [step for step in result.steps if isinstance(step, Create)]
    return step.replica_set


def test_the_first_replica_set() -> None:
    result = plan(deployment("d", 3, annotations={"note": "x"}))
    new = created(result)
    word = new.metadata.labels["pod-template-hash"]
    assert new.metadata.name == f"d-{word}"
    assert new.spec.template.metadata.labels == {"app": "a", "pod-template-hash": word}
    assert new.spec.selector is not None
    assert new.spec.selector.match_labels == {"app": "a", "pod-template-hash": word}
    assert new.spec.replicas == 3
    assert new.metadata.annotations == {
        "note": "x",
        revisions.REVISION: "1",
        revisions.DESIRED: "3",
        revisions.MAXIMUM: "4",
    }
    assert result.revision == "1"
    assert condition(result, "Progressing") == ("True", "NewReplicaSetCreated", f'Created new replica set "d-{word}"')


def test_rolling_four_by_a_quarter() -> None:
    owner = deployment("d", 4, image="new")
    result = plan(owner, rs("old", 4, owner))
    assert created(result).spec.replicas == 1
    assert sizes(result) == {"old": 3}, "one may be missing"
    assert created(result).metadata.annotations[revisions.REVISION] == "2"


def test_max_unavailable_zero_waits_for_the_new_pod() -> None:
    owner = deployment("d", 2, image="new", strategy=rolling(1, 0))
    old = rs("old", 2, owner)
    assert sizes(plan(owner, old, rs("new", 1, owner, ready=0, image="new", revision=2))) == {}
    assert sizes(plan(owner, old, rs("new", 1, owner, ready=1, image="new", revision=2))) == {"old": 1}


def test_max_surge_zero_takes_away_first() -> None:
    owner = deployment("d", 2, image="new", strategy=rolling(0, 1))
    result = plan(owner, rs("old", 2, owner))
    assert (created(result).spec.replicas, sizes(result)) == (0, {"old": 1})


def test_unhealthy_old_pods_go_first() -> None:
    owner = deployment("d", 4, image="new", strategy=rolling(1, 2))
    oldest, old = rs("oldest", 2, owner, image="x", age=300), rs("old", 2, owner, ready=0, image="y", age=200)
    result = plan(owner, oldest, old, rs("new", 1, owner, ready=0, image="new", revision=3))
    assert sizes(result) == {"old": 0}


def test_unhealthy_and_healthy_old_pods_go_one_after_the_other() -> None:
    owner = deployment("d", 4, image="new", strategy=rolling(0, 2))
    result = plan(owner, rs("old", 4, owner, ready=3), rs("new", 0, owner, image="new", revision=2))
    steps = [(step.former, step.replicas) for step in result.steps if isinstance(step, Update)]
    assert steps == [(None, 3), (3, 2)]


def test_a_status_behind_its_spec_stops_scaling_down() -> None:
    owner = deployment("d", 4, image="new", strategy=rolling(1, 1))
    behind = rs("old", 3, owner, ready=4)
    assert sizes(plan(owner, behind, rs("new", 2, owner, ready=1, image="new", revision=2))) == {}


def test_the_new_is_scaled_up_as_far_as_the_surge_allows() -> None:
    owner = deployment("d", 10, image="new", strategy=rolling("25%", "25%"))
    result = plan(owner, rs("old", 8, owner), rs("new", 3, owner, image="new", revision=2))
    assert sizes(result) == {"new": 5}


def test_a_finished_rollout_is_complete() -> None:
    owner = deployment("d", 2, image="new", annotations={revisions.REVISION: "2"})
    result = plan(owner, rs("old", 0, owner), rs("new", 2, owner, image="new", revision=2))
    assert condition(result, "Progressing") == ("True", "NewReplicaSetAvailable", 'ReplicaSet "new" has successfully progressed.')
    assert condition(result, "Available")[1] == "MinimumReplicasAvailable"
    again = msgspec.structs.replace(owner, status=result.status)
    assert plan(again, rs("old", 0, owner), rs("new", 2, owner, image="new", revision=2)).idle


def test_going_back_reuses_the_old_replica_set_with_a_new_number() -> None:
    owner = deployment("d", 0)
    result = plan(owner, rs("one", 0, owner, revision=1), rs("two", 0, owner, image="new", revision=2))
    (step,) = result.steps
    assert isinstance(step, Update)
    assert step.replica_set.metadata.name == "one"
    assert step.annotations == {revisions.REVISION: "3", revisions.HISTORY: "1"}
    assert result.revision == "3"


def test_history_is_cleaned_when_complete() -> None:
    counts = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}
    owner = deployment("d", 1, revisionHistoryLimit=1, status=counts)
    old = [rs(f"v{n}", 0, owner, image=f"v{n}", revision=n) for n in range(1, 4)]
    busy = rs("v0", 0, owner, image="v0", revision=0, pods=1)
    result = plan(owner, rs("new", 1, owner, revision=4), busy, *old)
    assert [step.replica_set.metadata.name for step in result.steps if isinstance(step, Delete)] == ["v1", "v2"]


def test_scaling_one_replica_set() -> None:
    owner = deployment("d", 5)
    result = plan(owner, rs("only", 1, owner, desired=1))
    (step,) = result.steps
    assert isinstance(step, Update)
    assert (step.replicas, step.annotations) == (5, {revisions.DESIRED: "5", revisions.MAXIMUM: "7"})


def test_scaling_in_mid_rollout_is_proportional() -> None:
    owner = deployment("d", 10, image="new", strategy=rolling(2, 0), status={"replicas": 6})
    old, new = rs("old", 4, owner, desired=4, surge=2), rs("new", 2, owner, image="new", revision=2, desired=4, surge=2)
    assert sizes(plan(owner, old, new)) == {"old": 8, "new": 4}


def test_scaling_to_zero_in_mid_rollout() -> None:
    owner = deployment("d", 0, image="new", strategy=rolling(2, 0), status={"replicas": 6})
    old, new = rs("old", 4, owner, desired=4, surge=2), rs("new", 2, owner, image="new", revision=2, desired=4, surge=2)
    assert sizes(plan(owner, old, new)) == {"old": 0, "new": 0}


def test_a_saturated_new_one_lets_adopted_old_ones_go() -> None:
    owner = deployment("d", 2)
    stray = rs("stray", 3, owner, image="x", desired=7)
    assert sizes(plan(owner, stray, rs("new", 2, owner, revision=2))) == {"stray": 0}


def test_recreate_waits_for_the_last_old_pod() -> None:
    owner = deployment("d", 2, image="new", strategy={"type": "Recreate"})
    old = rs("old", 2, owner)
    assert sizes(plan(owner, old)) == {"old": 0}
    empty = rs("old", 0, owner, pods=0)
    dying = pod("p", owner=old, deleted=True)
    assert plan(owner, empty, pods={"uid-old": [dying]}).steps == ()
    ended = pod("p", owner=old, deleted=True, phase="Succeeded")
    assert created(plan(owner, empty, pods={"uid-old": [ended]})).spec.replicas == 2


def test_paused_scales_and_does_not_roll() -> None:
    owner = deployment("d", 2, image="new", paused=True)
    result = plan(owner, rs("old", 1, owner, desired=1))
    assert sizes(result) == {"old": 2}
    assert condition(result, "Progressing") == ("Unknown", "DeploymentPaused", "Deployment is paused")
    resumed = deployment("d", 2, status=msgspec.to_builtins(result.status))
    assert condition(plan(resumed, rs("old", 2, resumed)), "Progressing")[1] == "NewReplicaSetAvailable"
    still = deployment("d", 2, status={"conditions": msgspec.to_builtins(result.status.conditions)})
    waiting = plan(still, rs("old", 2, still, ready=0, pods=0))
    assert condition(waiting, "Progressing") == ("Unknown", "DeploymentResumed", "Deployment is resumed")


def test_the_progress_deadline() -> None:
    owner = deployment("d", 1, progressDeadlineSeconds=10)
    first = plan(owner)
    stuck = msgspec.structs.replace(owner, status=first.status)
    waiting = rs("new", 1, owner, ready=0, pods=0)
    assert plan(stuck, waiting, now=NOW + 3).requeue_after == 8
    late = plan(stuck, waiting, now=NOW + 11)
    assert condition(late, "Progressing") == (
        "False",
        "ProgressDeadlineExceeded",
        'ReplicaSet "new" has timed out progressing.',
    )
    assert late.requeue_after is None


def test_no_deadline_no_progressing_condition() -> None:
    owner = deployment("d", 1, progressDeadlineSeconds=2**31 - 1)
    assert [each.type for each in plan(owner).status.conditions] == ["Available"]


def test_replica_failure_is_passed_on_and_taken_back() -> None:
    owner = deployment("d", 1)
    failure: dict[str, Any] = {
        "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "no"}]
    }
    result = plan(owner, rs("new", 1, owner, ready=0, pods=0, **failure))
    assert condition(result, "ReplicaFailure") == ("True", "FailedCreate", "no")
    again = msgspec.structs.replace(owner, status=result.status)
    assert "ReplicaFailure" not in [each.type for each in plan(again, rs("new", 1, owner, ready=0, pods=1)).status.conditions]


def test_orphans_are_adopted_and_strays_released() -> None:
    owner = deployment("d", 1)
    orphan = replica_set("orphan", 1)
    stray = msgspec.structs.replace(
        rs("stray", 1, owner), metadata=msgspec.structs.replace(rs("stray", 1, owner).metadata, labels={"app": "b"})
    )
    result = plan(owner, orphan, stray)
    assert [each.metadata.name for each in result.adopt] == ["orphan"]
    assert [each.metadata.name for each in result.release] == ["stray"]
    assert not [step for step in result.steps if isinstance(step, Create)]


def test_a_dying_deployment_only_counts() -> None:
    owner = deployment("d", 5, image="new", deletionTimestamp="2030-01-01T00:00:00Z")
    result = plan(owner, rs("old", 2, owner), replica_set("orphan", 1))
    assert (result.steps, result.adopt, result.status.replicas) == ((), (), 2)


def test_selecting_everything_is_refused() -> None:
    assert plan(deployment("d", 1, selector={})).selects_everything
