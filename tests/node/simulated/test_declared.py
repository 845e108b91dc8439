"""Declared stages: rules of our own, and KWOK's Stages; both on a whole cluster on virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.node.simulated.test_stages import pod

from setpoint.api.types import apps_v1, core_v1
from setpoint.client.events import EVENTS
from setpoint.kit.clock import VirtualClock
from setpoint.node.simulated.chance import Chance
from setpoint.node.simulated.declared import lifecycle, load
from setpoint.node.simulated.durations import StageError
from setpoint.node.simulated.lifecycle import BuiltIn
from setpoint.node.simulated.rules import Rules, read
from setpoint.testing.chaos import deployment
from setpoint.testing.cluster import VirtualCluster

RULES = {
    "apiVersion": "setpoint/v1",
    "kind": "SimulatedPods",
    "rules": [
        {"selector": {"matchLabels": {"app": "web"}}, "create": {"after": "2s", "jitter": "3s"}, "ready": 0.5},
        {"namespaces": ["batch"], "complete": "1m", "fail": {"after": "10s", "rate": 0.5, "exitCode": 3}},
    ],
}
STAGES = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.podIP, operator: DoesNotExist}
  delay:
    durationMilliseconds: 2000
    durationFrom: {expressionFrom: '.metadata.annotations["delay"]'}
  next:
    event: {type: Normal, reason: Started, message: "Started {{ .metadata.name }}"}
    finalizers: {add: [{value: example.com/kept}]}
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) | Quote }}
      hostIP: {{ NodeIP | Quote }}
      startTime: {{ $now | Quote }}
      conditions:
      - {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }} }
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: true
        restartCount: 0
        state: {running: {startedAt: {{ $now | Quote }} } }
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: release}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: '.metadata.finalizers.[]', operator: In, values: [example.com/kept]}
  next: {finalizers: {empty: true}}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: delete}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: Exists}
    - {key: .metadata.finalizers, operator: DoesNotExist}
  steps: [{delete: true}]
"""


def names(count: int = 200) -> list[core_v1.Pod]:
    return [pod(policy="Never", name=f"p-{number}", namespace="batch") for number in range(count)]


def test_delays_and_ends_follow_from_seed_and_name() -> None:
    first, again, other = (Rules(read(RULES), Chance(seed)) for seed in (7, 7, 8))
    ends = [first(each) for each in names()]
    assert [again(each) for each in reversed(names())] == ends[::-1], "in whatever order they come"
    assert [other(each) for each in names()] != ends
    failing = [each for each in ends if each.fail is not None]
    assert 70 < len(failing) < 130
    assert {(each.fail, each.complete, each.exit_code) for each in failing} == {(10.0, None, 3)}
    assert {each.complete for each in ends if each.fail is None} == {60.0}


def test_the_first_rule_that_finds_a_pod_counts() -> None:
    rules = Rules(read(RULES), Chance(1))
    web = [rules(pod(labels={"app": "web"}, name=f"w-{number}")) for number in range(50)]
    assert {each.ready for each in web} == {0.5}
    assert all(2 <= each.create < 5 for each in web)
    assert len({each.create for each in web}) == 50
    assert rules(pod(namespace="other")).create == 1.0


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "SimulatedPods", "rules": [{"crate": 1}]}, "rules[0]: unknown: crate"),
        ({"kind": "SimulatedPods", "rules": [{"create": "soon"}]}, "create: 'soon' is no duration"),
        ({"kind": "SimulatedPods", "rules": [{"fail": {"rate": 2}}]}, "fail.rate 2: choose a number from 0 to 1"),
        ({"kind": "Pod", "apiVersion": "v1"}, "v1 Pod: neither SimulatedPods nor a Stage of KWOK"),
    ],
)
def test_what_cannot_be_used_is_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(StageError) as refused:
        lifecycle([document], Chance(1), VirtualClock())
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"resourceRef": {"kind": "Node"}}, "stages of kind Node are not supported"),
        ({"next": {"statusTemplate": "{{ fetch . }}"}}, "the function fetch is not supported"),
        ({"selector": {"matchExpressions": [{"cel": {}}]}}, "no CEL"),
        ({"selector": {"matchExpressions": [{"key": ".a | length", "operator": "Exists"}]}}, "'.a | length' is not supported"),
        ({"next": {"patches": []}}, "next: patches not supported"),
    ],
)
def test_a_stage_that_does_not_map_is_refused(spec: dict[str, Any], message: str) -> None:
    stage = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "s"}}
    with pytest.raises(StageError) as refused:
        lifecycle([{**stage, "spec": {"resourceRef": {"kind": "Pod"}, **spec}}], Chance(1), VirtualClock())
    assert str(refused.value).startswith("Stage s: ")
    assert message in str(refused.value)


def test_a_file_is_named_in_what_is_wrong_with_it(tmp_path: Path) -> None:
    file = tmp_path / "stages.yaml"
    file.write_text(yaml.safe_dump(RULES), encoding="utf-8")
    assert isinstance(load(file, Chance(1), VirtualClock()), BuiltIn)
    file.write_text("kind: [", encoding="utf-8")
    with pytest.raises(StageError, match=r"stages\.yaml"):
        load(file, Chance(1), VirtualClock())


def test_of_several_stages_one_is_chosen_by_weight() -> None:
    def stage(name: str, weight: int) -> dict[str, Any]:
        delay = {"durationMilliseconds": 10, "jitterDurationMilliseconds": 90}
        spec = {"resourceRef": {"kind": "Pod"}, "weight": weight, "delay": delay}
        return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": spec}

    life = lifecycle([stage("often", 3), stage("rare", 1), stage("never", 0)], Chance(1), VirtualClock())
    steps = [step for each in names() if (step := life.next(each, lost=False)) is not None]
    assert 20 < sum("rare" in step.stage for step in steps) < 80
    assert not any("never" in step.stage for step in steps)
    assert all(0.01 <= step.after < 0.09 for step in steps)


async def test_pods_live_by_kwok_stages() -> None:
    clock = VirtualClock()
    life = lifecycle(yaml.safe_load_all(STAGES), Chance(1), clock)
    async with VirtualCluster(nodes=2, stages=life, clock=clock) as cluster:
        body = deployment("web", 2)
        await cluster.client.create(apps_v1.DEPLOYMENTS, body, "default")
        slow = deployment("slow", 1)
        slow["spec"]["template"]["metadata"]["annotations"] = {"delay": "1m"}
        await cluster.client.create(apps_v1.DEPLOYMENTS, slow, "default")
        await cluster.advance(10)
        pods = (await cluster.client.list(core_v1.PODS, "default")).items
        running = [each for each in pods if each.status.phase == "Running"]
        assert [each.metadata.labels["app"] for each in running] == ["web"] * 2
        assert len({each.status.pod_ip for each in running}) == 2
        assert {each.metadata.finalizers[0] for each in running} == {"example.com/kept"}
        told = [each["message"] for each in (await cluster.client.list(EVENTS, "default")).items if each["reason"] == "Started"]
        assert sorted(told) == sorted(f"Started {each.metadata.name}" for each in running)
        await cluster.advance(60)
        await cluster.client.delete(apps_v1.DEPLOYMENTS, "web", "default")
        await cluster.client.delete(apps_v1.DEPLOYMENTS, "slow", "default")
        await cluster.settled()
        left = (await cluster.client.list(core_v1.PODS, "default")).items
        assert not left
