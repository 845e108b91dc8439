from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.owners import controller_reference
from setpoint.controllers import history
from setpoint.controllers.daemonset.diff import diff
from setpoint.controllers.daemonset.nodes import should_run, tolerations
from setpoint.controllers.daemonset.plan import Observed, Plan
from setpoint.controllers.revision_control import CreateRevision
from setpoint.kit.clock import rfc3339
from setpoint.testing.objects import LABELS, NOW, metadata, template


def daemon_set(image: str = "v1", *, rolling: Any = None, kind: str = "RollingUpdate", **spec: Any) -> apps_v1.DaemonSet:
    pods = template(image=image)
    pods["spec"] |= spec.pop("pod", {})
    body = {
        "metadata": metadata("d"),
        "spec": {
            "selector": {"matchLabels": LABELS},
            "template": pods,
            "revisionHistoryLimit": 10,
            "updateStrategy": {"type": kind, "rollingUpdate": rolling or {"maxUnavailable": 1, "maxSurge": 0}},
            **spec,
        },
    }
    return msgspec.convert(body, apps_v1.DaemonSet)


def node(name: str, *, taints: Sequence[Mapping[str, str]] = (), **labels: str) -> core_v1.Node:
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}}, core_v1.Node)


NODES = [node("a"), node("b")]


def pod(owner: apps_v1.DaemonSet, name: str, on: str, image: str = "v1", **fields: Any) -> core_v1.Pod:
    meta = metadata(
        name,
        labels={**LABELS, "controller-revision-hash": image},
        ownerReferences=[controller_reference(owner, apps_v1.DAEMONSETS)],
        deletionTimestamp=rfc3339(NOW) if fields.get("deleted") else None,
        age=fields.get("age", 100),
    )
    since = rfc3339(NOW - fields.get("ready_for", 50))
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": since}] if fields.get("ready", True) else []
    body = {
        "metadata": meta,
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": image}]},
        "status": {"phase": fields.get("phase", "Running"), "conditions": ready},
    }
    return msgspec.convert(body, core_v1.Pod)


def revision(owner: apps_v1.DaemonSet, image: str, number: int) -> apps_v1.ControllerRevision:
    past = msgspec.convert(template(image=image), core_v1.PodTemplateSpec)
    body = {
        "metadata": metadata(
            f"d-{image}",
            labels={**LABELS, "controller-revision-hash": image},
            ownerReferences=[controller_reference(owner, apps_v1.DAEMONSETS)],
        ),
        "data": history.template_patch(past),
        "revision": number,
    }
    return msgspec.convert(body, apps_v1.ControllerRevision)


def plan(
    owner: apps_v1.DaemonSet,
    pods: Sequence[core_v1.Pod] = (),
    nodes: Sequence[core_v1.Node] = NODES,
    *,
    images: Sequence[str] = ("v1",),
    backoff: Mapping[str, float] | None = None,
    trusted: bool = True,
) -> Plan:
    revisions = [revision(owner, image, number) for number, image in enumerate(images, 1)]
    return diff(Observed(owner, pods, revisions, nodes, backoff or {}, trusted, NOW))


def outcome(result: Plan) -> tuple[list[str], list[str]]:
    return list(result.create), [each.metadata.name for each in result.delete]


def test_each_node_gets_one_pod() -> None:
    owner = daemon_set()
    assert outcome(plan(owner)) == (["a", "b"], [])
    assert outcome(plan(owner, [pod(owner, "p", "a"), pod(owner, "q", "a", age=5)])) == (["b"], ["q"])


def test_an_untrusted_cache_changes_nothing_and_observes_no_generation() -> None:
    result = plan(daemon_set(), trusted=False)
    assert (outcome(result), result.status.observed_generation) == (([], []), 0)
    assert result.status.desired_number_scheduled == 2


@pytest.mark.parametrize(
    ("effect", "runs"), [("NoSchedule", (False, True)), ("NoExecute", (False, False)), ("PreferNoSchedule", (True, True))]
)
def test_taints(effect: str, runs: tuple[bool, bool]) -> None:
    assert should_run(daemon_set(), node("a", taints=[{"key": "k", "effect": effect}])) == runs


def test_daemons_stay_where_others_must_go() -> None:
    taints = [{"key": f"node.kubernetes.io/{key}", "effect": "NoSchedule"} for key in ("unschedulable", "memory-pressure")]
    assert should_run(daemon_set(), node("a", taints=taints)) == (True, True)
    assert len(tolerations(daemon_set(pod={"hostNetwork": True}).spec.template.spec)) == 7


def test_node_selector_and_affinity() -> None:
    selecting = daemon_set(pod={"nodeSelector": {"disk": "ssd"}})
    assert should_run(selecting, node("a")) == (False, False)
    assert should_run(selecting, node("a", disk="ssd")) == (True, True)
    term = {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    affine = daemon_set(pod={"affinity": {"nodeAffinity": required}})
    assert [should_run(affine, node("a", cores=cores))[0] for cores in ("4", "8", "many")] == [False, True, False]


def test_pods_where_they_should_not_be_go() -> None:
    owner = daemon_set()
    assert outcome(plan(owner, [pod(owner, "p", "a")], [node("a", taints=[{"key": "k", "effect": "NoExecute"}])])) == ([], ["p"])
    misplaced = plan(owner, [pod(owner, "p", "a")], [node("a", taints=[{"key": "k", "effect": "NoSchedule"}])])
    assert (outcome(misplaced), misplaced.status.number_misscheduled) == (([], []), 1)


def test_failed_pods_go_and_the_next_failure_waits() -> None:
    owner = daemon_set()
    result = plan(owner, [pod(owner, "p", "a", phase="Failed"), pod(owner, "q", "b")])
    assert (outcome(result), result.failed) == (([], ["p"]), ("a",))
    assert result.events[0].message == "Found failed daemon pod default/p on node a, will try to kill it"
    waiting = plan(owner, [pod(owner, "p", "a", phase="Failed"), pod(owner, "q", "b")], backoff={"a": 4.0})
    assert (outcome(waiting), waiting.requeue_after) == (([], []), 4.0)


def test_an_update_takes_down_what_may_be_unavailable() -> None:
    owner = daemon_set("v2")
    old = [pod(owner, "p", "a"), pod(owner, "q", "b")]
    assert outcome(plan(owner, old, images=("v1", "v2"))) == ([], ["p"])
    half = [pod(owner, "p2", "a", "v2", ready=False), pod(owner, "q", "b")]
    assert outcome(plan(owner, half, images=("v1", "v2"))) == ([], [])
    broken = [pod(owner, "p", "a", ready=False), pod(owner, "q", "b")]
    assert outcome(plan(owner, broken, images=("v1", "v2"))) == ([], ["p"]), "what is down anyway goes first, and counts"


def test_a_surge_makes_the_new_pod_first() -> None:
    owner = daemon_set("v2", rolling={"maxSurge": 1, "maxUnavailable": 0})
    old = [pod(owner, "p", "a"), pod(owner, "q", "b")]
    assert outcome(plan(owner, old, images=("v1", "v2"))) == (["a"], [])
    both = [*old, pod(owner, "p2", "a", "v2", ready=False)]
    assert outcome(plan(owner, both, images=("v1", "v2"))) == ([], [])
    ready = [*old, pod(owner, "p2", "a", "v2")]
    assert outcome(plan(owner, ready, images=("v1", "v2"))) == ([], ["p"])


def test_with_a_surge_the_next_look_is_when_the_new_pod_is_available() -> None:
    """It is not the one that the status counts, which is: who waited for that alone would wait for ever."""
    owner = daemon_set("v2", rolling={"maxSurge": 1, "maxUnavailable": 0}, minReadySeconds=3)
    both = [pod(owner, "p", "a"), pod(owner, "q", "b"), pod(owner, "p2", "a", "v2", age=4, ready_for=1)]
    result = plan(owner, both, images=("v1", "v2"))
    assert (outcome(result), result.status.number_available, result.requeue_after) == (([], []), 2, 2.0)


def test_with_a_surge_an_old_pod_goes_from_where_none_belongs_when_enough_others_are_available() -> None:
    owner = daemon_set("v2", rolling={"maxSurge": 1, "maxUnavailable": 0})
    nodes = [node("a"), node("b", taints=[{"key": "x", "effect": "NoSchedule"}])]
    misplaced = pod(owner, "q", "b")
    waiting = [pod(owner, "p2", "a", "v2", ready=False), misplaced]
    assert outcome(plan(owner, waiting, nodes, images=("v1", "v2"))) == ([], [])
    assert outcome(plan(owner, [pod(owner, "p2", "a", "v2"), misplaced], nodes, images=("v1", "v2"))) == ([], ["q"])
    broken = [pod(owner, "p2", "a", "v2", ready=False), pod(owner, "q", "b", ready=False)]
    assert outcome(plan(owner, broken, nodes, images=("v1", "v2"))) == ([], ["q"])


def test_on_delete_leaves_pods_alone() -> None:
    owner = daemon_set("v2", kind="OnDelete")
    result = plan(owner, [pod(owner, "p", "a"), pod(owner, "q", "b")], images=("v1", "v2"))
    assert (outcome(result), result.status.updated_number_scheduled) == (([], []), 0)


def test_versions_are_written_down_and_forgotten() -> None:
    owner = daemon_set("v9", revisionHistoryLimit=1)
    result = plan(owner, [pod(owner, "p", "a", "v1")], images=("v1", "v2", "v3"))
    assert isinstance(result.revision, CreateRevision)
    assert result.revision.body["revision"] == 4
    assert [each.metadata.name for each in result.forget] == ["d-v2", "d-v3"]


def test_a_pod_waiting_for_a_node_that_is_gone_goes_too() -> None:
    owner = daemon_set()
    waiting = pod(owner, "p", "")
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
    spec = msgspec.convert({"affinity": {"nodeAffinity": required}}, core_v1.PodSpec)
    assert outcome(plan(owner, [msgspec.structs.replace(waiting, spec=spec)], [])) == ([], ["p"])


def test_what_does_not_depend_on_the_node_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[core_v1.PodSpec] = []

    def counted(spec: core_v1.PodSpec) -> tuple[core_v1.Toleration, ...]:
        asked.append(spec)
        return tolerations(spec)

    monkeypatch.setattr("setpoint.controllers.daemonset.nodes.tolerations", counted)
    owner = daemon_set()
    names = [f"n{number}" for number in range(20)]
    result = plan(owner, [pod(owner, f"p-{name}", name) for name in names], [node(name) for name in names])
    assert (result.status.current_number_scheduled, outcome(result), len(asked)) == (20, ([], []), 1)
