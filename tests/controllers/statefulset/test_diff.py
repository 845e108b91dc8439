from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.owners import controller_reference
from setpoint.controllers import history
from setpoint.controllers.revision_control import CreateRevision, Renumber
from setpoint.controllers.statefulset.diff import diff
from setpoint.controllers.statefulset.plan import CreatePod, DeletePod, Observed, Plan, UpdatePod
from setpoint.kit.clock import rfc3339
from setpoint.testing.objects import LABELS, NOW, metadata, template

CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def stateful_set(
    replicas: int = 3, *, image: str = "v1", status: dict[str, Any] | None = None, **spec: Any
) -> apps_v1.StatefulSet:
    body = {
        "metadata": metadata("s"),
        "spec": {
            "replicas": replicas,
            "serviceName": "svc",
            "podManagementPolicy": "OrderedReady",
            "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "selector": {"matchLabels": LABELS},
            "template": template(image=image),
            **spec,
        },
        "status": status or {},
    }
    return msgspec.convert(body, apps_v1.StatefulSet)


def revision(owner: apps_v1.StatefulSet, image: str, number: int) -> apps_v1.ControllerRevision:
    """The revision of another image, named after it."""
    past = msgspec.convert(template(image=image), core_v1.PodTemplateSpec)
    body = {
        "metadata": metadata(image, labels=LABELS, ownerReferences=[controller_reference(owner, apps_v1.STATEFULSETS)]),
        "data": history.template_patch(past),
        "revision": number,
    }
    return msgspec.convert(body, apps_v1.ControllerRevision)


def pod(owner: apps_v1.StatefulSet, ordinal: int, image: str = "v1", *, ready: bool = True, **fields: Any) -> core_v1.Pod:
    name = f"s-{ordinal}"
    labels = {**LABELS, "controller-revision-hash": image, "statefulset.kubernetes.io/pod-name": name}
    meta: dict[str, Any] = {"labels": labels, "ownerReferences": [controller_reference(owner, apps_v1.STATEFULSETS)]}
    deleted = rfc3339(NOW) if fields.pop("deleted", False) else None
    ready_since = fields.pop("ready_since", 100)
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": rfc3339(NOW - ready_since)}] if ready else []
    body = {
        "metadata": metadata(name, deletionTimestamp=deleted, **meta),
        "spec": {"containers": [{"name": "c", "image": image}]},
        "status": {"phase": fields.pop("phase", "Running"), "conditions": conditions},
    }
    return msgspec.convert(body, core_v1.Pod)


def plan(owner: apps_v1.StatefulSet, pods: Sequence[core_v1.Pod] = (), images: Sequence[str] = ("v1",), **claims: Any) -> Plan:
    revisions = [revision(owner, image, number) for number, image in enumerate(images, 1)]
    return diff(Observed(owner, pods, revisions, claims, NOW))


def steps(result: Plan) -> list[str]:
    words = {CreatePod: "create", DeletePod: "delete", UpdatePod: "update"}
    found = []
    for stage in result.stages:
        named = [step.name if isinstance(step, CreatePod) else step.pod.metadata.name for step in stage]
        found.append(" ".join(f"{words[type(step)]} {name}" for step, name in zip(stage, named, strict=True)))
    return found


def test_the_first_comes_alone_and_the_next_when_it_is_ready() -> None:
    owner = stateful_set()
    assert steps(plan(owner)) == ["create s-0"]
    assert steps(plan(owner, [pod(owner, 0, ready=False)])) == []
    assert steps(plan(owner, [pod(owner, 0)])) == ["create s-1"]


def test_ready_for_less_than_min_ready_seconds_is_not_enough() -> None:
    owner = stateful_set(minReadySeconds=10)
    result = plan(owner, [pod(owner, 0, ready_since=5)])
    assert (steps(result), result.requeue_after) == ([], 10)


def test_parallel_makes_and_removes_all_at_once() -> None:
    owner = stateful_set(podManagementPolicy="Parallel")
    assert steps(plan(owner)) == ["create s-0 create s-1 create s-2"]
    owner = stateful_set(1, podManagementPolicy="Parallel")
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, ready=False), pod(owner, 2)])) == ["delete s-2 delete s-1"]


def test_ordinals_begin_where_they_are_told_to() -> None:
    owner = stateful_set(2, ordinals={"start": 5}, podManagementPolicy="Parallel")
    assert steps(plan(owner, [pod(owner, 0)])) == ["create s-5 create s-6", "delete s-0"]


def test_scaling_down_goes_from_the_top_one_at_a_time() -> None:
    owner = stateful_set(1)
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1), pod(owner, 2)])) == ["delete s-2"]
    going = [pod(owner, 0), pod(owner, 1), pod(owner, 2, deleted=True)]
    assert steps(plan(owner, going)) == []


def test_an_unready_predecessor_holds_up_scaling_down_unless_it_is_the_one_to_go() -> None:
    owner = stateful_set(1)
    assert steps(plan(owner, [pod(owner, 0, ready=False), pod(owner, 1)])) == []
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, ready=False)])) == ["delete s-1"]
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, ready=False), pod(owner, 2, ready=False)])) == []


def test_what_has_ended_is_made_anew() -> None:
    owner = stateful_set(1)
    assert steps(plan(owner, [pod(owner, 0, phase="Failed")])) == ["delete s-0"]
    assert steps(plan(owner, [pod(owner, 0, phase="Succeeded", deleted=True)])) == []


def test_an_update_goes_from_the_top_and_waits() -> None:
    owner = stateful_set(2, image="v2", status={"currentRevision": "v1"})
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1)], ["v1", "v2"])) == ["delete s-1"]
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, "v2", ready=False)], ["v1", "v2"])) == []
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, "v2")], ["v1", "v2"])) == ["delete s-0"]


def test_a_stuck_update_stays_stuck_when_it_is_taken_back() -> None:
    owner = stateful_set(3, image="v1", status={"currentRevision": "v1"})
    pods = [pod(owner, 0), pod(owner, 1), pod(owner, 2, "v2", ready=False)]
    result = plan(owner, pods, ["v1", "v2"])
    assert steps(result) == []
    assert isinstance(result.revision, Renumber)
    assert result.revision.number == 3


def test_a_partition_holds_back_and_brings_back_the_old_version() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    owner = stateful_set(2, image="v2", status={"currentRevision": "v1"}, updateStrategy=rolling)
    assert steps(plan(owner, [pod(owner, 0), pod(owner, 1, "v2")], ["v1", "v2"])) == []
    (stage,) = plan(owner, [pod(owner, 1, "v2")], ["v1", "v2"]).stages
    (step,) = stage
    assert isinstance(step, CreatePod)
    assert step.body["spec"]["containers"][0]["image"] == "v1"
    assert step.body["metadata"]["labels"]["controller-revision-hash"] == "v1"


def test_max_unavailable_takes_several_down() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 2}}
    owner = stateful_set(3, image="v2", status={"currentRevision": "v1"}, updateStrategy=rolling)
    assert steps(plan(owner, [pod(owner, each) for each in range(3)], ["v1", "v2"])) == ["delete s-2", "delete s-1"]


def test_on_delete_leaves_pods_alone() -> None:
    owner = stateful_set(1, image="v2", status={"currentRevision": "v1"}, updateStrategy={"type": "OnDelete"})
    assert steps(plan(owner, [pod(owner, 0)], ["v1", "v2"])) == []


def test_a_finished_update_makes_the_update_revision_the_current_one() -> None:
    owner = stateful_set(1, image="v2", status={"currentRevision": "v1"})
    status = plan(owner, [pod(owner, 0, "v2")], ["v1", "v2"]).status
    assert (status.current_revision, status.current_replicas, status.updated_replicas) == ("v2", 1, 1)


def test_scaled_to_nothing_it_has_the_new_version_only() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    owner = stateful_set(0, image="v2", status={"currentRevision": "v1"}, updateStrategy=rolling)
    assert plan(owner, [], ["v1", "v2"]).status.current_revision == "v2"


def test_a_new_template_is_written_down() -> None:
    result = plan(stateful_set(1), images=())
    assert isinstance(result.revision, CreateRevision)
    assert result.revision.body["revision"] == 1
    assert result.status.update_revision == result.revision.body["metadata"]["name"]


def test_history_beyond_the_limit_is_forgotten_but_not_what_is_in_use() -> None:
    owner = stateful_set(1, image="v4", status={"currentRevision": "v2"}, revisionHistoryLimit=1)
    result = plan(owner, [pod(owner, 0, "v2")], ["v0", "v1", "v2", "v3", "v4"])
    assert [each.metadata.name for each in result.forget] == ["v0", "v1"]


def test_claims_come_before_the_pod_and_are_mounted() -> None:
    owner = stateful_set(1, volumeClaimTemplates=[CLAIM])
    ((step,),) = plan(owner).stages
    assert isinstance(step, CreatePod)
    assert [body["metadata"]["name"] for body in step.storage.create] == ["data-s-0"]
    assert step.body["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-s-0"}}]


def test_a_claim_that_is_being_deleted_holds_the_pod_up() -> None:
    owner = stateful_set(1, volumeClaimTemplates=[CLAIM])
    claim = msgspec.convert({"metadata": metadata("data-s-0", deletionTimestamp=rfc3339(NOW))}, core_v1.PersistentVolumeClaim)
    claims: dict[str, Any] = {"data-s-0": claim}
    ((step,),) = plan(owner, **claims).stages
    assert isinstance(step, CreatePod)
    assert step.storage.refused == "pvc data-s-0 is being deleted"


def test_claims_are_owned_as_the_policy_says() -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    owner = stateful_set(1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    claim = msgspec.convert({"metadata": metadata("data-s-1")}, core_v1.PersistentVolumeClaim)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-s-{ordinal}"}} for ordinal in range(2)]
    pods = [pod(owner, 0), pod(owner, 1)]
    pods = [
        msgspec.structs.replace(
            each, spec=msgspec.convert({**msgspec.to_builtins(each.spec), "volumes": [volume]}, core_v1.PodSpec)
        )
        for each, volume in zip(pods, volumes, strict=True)
    ]
    kept = msgspec.convert({"metadata": metadata("data-s-0")}, core_v1.PersistentVolumeClaim)
    claims: dict[str, Any] = {"data-s-0": kept, "data-s-1": claim}
    first, second = plan(owner, pods, **claims).stages
    assert isinstance(first[0], UpdatePod)
    ((known, owners),) = first[0].storage.owners
    assert (known.metadata.name, [(ref["kind"], ref["name"]) for ref in owners]) == ("data-s-1", [("Pod", "s-1")])
    assert isinstance(second[0], DeletePod)


@pytest.mark.parametrize(("scaled", "made"), [("Retain", ["create s-0"]), ("Delete", [])])
def test_a_claim_of_a_former_pod_is_waited_out_where_it_goes_with_it(scaled: str, made: list[str]) -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": scaled}
    owner = stateful_set(1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
    former = {"apiVersion": "v1", "kind": "Pod", "name": "s-0", "uid": "former"}
    claim = msgspec.convert({"metadata": metadata("data-s-0", ownerReferences=[former])}, core_v1.PersistentVolumeClaim)
    claims: dict[str, Any] = {"data-s-0": claim}
    assert steps(plan(owner, **claims)) == made


def test_pods_of_no_ordinal_are_let_go_and_strangers_left_alone() -> None:
    owner = stateful_set(0)
    odd = msgspec.structs.replace(pod(owner, 0), metadata=msgspec.structs.replace(pod(owner, 0).metadata, name="odd"))
    assert [each.metadata.name for each in plan(owner, [odd]).release] == ["odd"]


def test_a_dying_set_does_nothing() -> None:
    owner = stateful_set(1)
    dying = msgspec.structs.replace(owner, metadata=msgspec.structs.replace(owner.metadata, deletion_timestamp=rfc3339(NOW)))
    assert steps(plan(dying)) == []
