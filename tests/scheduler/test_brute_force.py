"""Random pods and nodes: the filters agree with a second, simple-minded reading of the rules; sums never drift."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import Node, Pod
from setpoint.scheduler.cycle import nodes_to_find
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.snapshot import NodeInfo, Snapshot
from setpoint.testing.scheduling import Rig, expression, node, pod, required, taint

LABELS = ("a", "b")
VALUES = ("1", "2", "x")


def random_node(rng: random.Random, name: str) -> Node:
    labels = {key: rng.choice(VALUES) for key in LABELS if rng.random() < 0.6}
    effects = ("NoSchedule", "NoExecute", "PreferNoSchedule")
    taints = [taint(key, rng.choice(effects), rng.choice(VALUES)) for key in LABELS if rng.random() < 0.25]
    return node(
        name,
        cpu=f"{rng.randint(1, 4)}",
        pods=f"{rng.randint(1, 4)}",
        labels=labels,
        taints=taints,
        unschedulable=rng.random() < 0.1,
    )


def random_pod(rng: random.Random, name: str) -> Pod:
    spec: dict[str, Any] = {"cpu": f"{rng.randint(0, 20) * 100}m"}
    if rng.random() < 0.3:
        spec["nodeSelector"] = {rng.choice(LABELS): rng.choice(VALUES)}
    if rng.random() < 0.5:
        operators = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
        terms = []
        for _ in range(rng.randint(1, 2)):
            operator = rng.choice(operators)
            values = [] if "xist" in operator else [rng.choice(VALUES)]
            terms.append({"matchExpressions": [expression(rng.choice(LABELS), operator, *values)]})
        spec["affinity"] = required(*terms)
    if rng.random() < 0.5:
        spec["tolerations"] = [
            {"key": rng.choice(LABELS), "operator": rng.choice(("Exists", "Equal")), "value": rng.choice(VALUES)}
        ]
        if spec["tolerations"][0]["operator"] == "Exists":
            del spec["tolerations"][0]["value"]
    if rng.random() < 0.3:
        port = {"containerPort": 1, "hostPort": rng.choice((80, 81)), "protocol": rng.choice(("TCP", "UDP"))}
        cpu = spec.pop("cpu")
        spec["containers"] = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}, "ports": [port]}]
    return pod(name, **spec)


def milli(pods: list[Pod]) -> int:
    return sum(parse(c.resources.requests.get("cpu", "0")).milli_value() for each in pods for c in each.spec.containers)


def ports(pods: list[Pod]) -> list[tuple[int, str]]:
    return [(p.host_port, p.protocol) for each in pods for c in each.spec.containers for p in c.ports]


def holds(key: str, operator: str, values: tuple[str, ...], labels: Any) -> bool:
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    if operator == "NotIn":
        return labels.get(key) not in values
    if key not in labels:
        return False
    if operator == "In":
        return labels[key] in values
    try:
        have, limit = int(labels[key]), int(values[0])
    except ValueError:
        return False
    return have > limit if operator == "Gt" else have < limit


def allowed(candidate: Pod, target: Node, there: list[Pod]) -> bool:
    """The rules, read one by one."""
    spec, labels = candidate.spec, target.metadata.labels
    tolerated = {(t.key, t.value if t.operator == "Equal" else None) for t in spec.tolerations}
    for each in target.spec.taints:
        if each.effect != "PreferNoSchedule" and not {(each.key, each.value), (each.key, None)} & tolerated:
            return False
    if target.spec.unschedulable:
        return False
    if not set(spec.node_selector.items()) <= set(labels.items()):
        return False
    if spec.affinity is not None and spec.affinity.node_affinity is not None:
        rule = spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
        assert rule is not None
        terms = rule.node_selector_terms or ()
        if not any(all(holds(e.key, e.operator, e.values, labels) for e in term.match_expressions) for term in terms):
            return False
    if set(ports([candidate])) & set(ports(there)):
        return False
    if len(there) >= int(target.status.allocatable["pods"]):
        return False
    wanted = milli([candidate])
    return not wanted or wanted + milli(there) <= int(target.status.allocatable["cpu"]) * 1000


@pytest.mark.parametrize("seed", range(40))
def test_filters_agree_with_the_rules(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - a test's seed
    rig = Rig(seed)
    nodes = {f"n{number}": random_node(rng, f"n{number}") for number in range(8)}
    there: dict[str, list[Pod]] = {name: [] for name in nodes}
    rig.nodes(*nodes.values())
    for number in range(25):
        candidate = random_pod(rng, f"p{number}")
        expected = {name for name, each in nodes.items() if allowed(candidate, each, there[name])}
        info = PodInfo(candidate)
        if not expected:
            assert set(rig.no_fit(candidate).diagnosis.nodes) == set(nodes)
            continue
        found = rig.schedule(candidate)
        assert found in expected
        rig.snapshot.assume(info, found)
        there[found].append(candidate)


def test_sums_do_not_drift() -> None:
    rng = random.Random(1)  # noqa: S311 - a test's seed
    snapshot = Snapshot()
    names = ["a", "b", "c"]
    pods = [random_pod(rng, f"p{number}") for number in range(30)]
    for _ in range(1000):
        chosen = rng.choice(pods)
        info = PodInfo(chosen)
        match rng.randrange(6):
            case 0 | 1:
                snapshot.put_pod(replace(chosen, spec=replace(chosen.spec, node_name=rng.choice(names))))
            case 2:
                snapshot.remove_pod(info.key)
            case 3:
                if info.key not in snapshot.placed:
                    snapshot.assume(info, rng.choice(names))
            case 4:
                snapshot.forget(info)
            case 5:
                name = rng.choice(names)
                (snapshot.put_node(random_node(rng, name)) if rng.random() < 0.7 else snapshot.remove_node(name))
        for each in snapshot.nodes:
            fresh = NodeInfo(each.name)
            for placed in each.pods.values():
                fresh.add_pod(placed)
            assert {k: v for k, v in each.requested.items() if v} == {k: v for k, v in fresh.requested.items() if v}
            assert each.ports == fresh.ports


@pytest.mark.parametrize(("total", "enough"), [(1, 1), (99, 99), (100, 100), (1000, 420), (5000, 500), (10000, 500)])
def test_how_many_nodes_are_looked_at(total: int, enough: int) -> None:
    assert nodes_to_find(total) == enough
