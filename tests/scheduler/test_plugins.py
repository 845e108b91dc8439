"""What each plugin accepts, refuses and prefers, through whole cycles."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.scheduler.framework import CycleState
from setpoint.scheduler.plugins.image_locality import normalized_name
from setpoint.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from setpoint.scheduler.pods import ANY_ADDRESS
from setpoint.testing.scheduling import Rig, expression, node, pod, preferred, required, taint

NOT_HELPFUL = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
NO_VICTIMS = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."


class TestNodeResourcesFit:
    def test_equal_fits_one_milli_more_does_not(self, rig: Rig) -> None:
        rig.nodes(node(cpu="2"))
        rig.place(pod("a", cpu="1500m", nodeName="n"))
        assert rig.schedule(pod(cpu="500m")) == "n"
        assert str(rig.no_fit(pod(cpu="501m"))) == f"0/1 nodes are available: 1 Insufficient cpu. {NO_VICTIMS}"

    def test_every_shortage_is_listed(self, rig: Rig) -> None:
        rig.nodes(node(cpu="2", memory="4Gi", pods="1", more={"example.com/gpu": "1"}))
        rig.place(pod("a", nodeName="n"))
        wanted = {"requests": {"example.com/gpu": "2", "cpu": "3", "memory": "8Gi"}, "limits": {"example.com/gpu": "2"}}
        short = pod(containers=[{"name": "c", "image": "x", "resources": wanted}])
        reasons = "1 Insufficient cpu, 1 Insufficient example.com/gpu, 1 Insufficient memory, 1 Too many pods"
        assert str(rig.no_fit(short)) == f"0/1 nodes are available: {reasons}. {NOT_HELPFUL}"

    def test_allocatable_decides_not_capacity(self, rig: Rig) -> None:
        rig.nodes(node(cpu="1", status={"capacity": {"cpu": "8"}}))
        assert "Insufficient cpu" in str(rig.no_fit(pod(cpu="1500m")))

    def test_a_pod_without_requests_fits_a_full_node(self, rig: Rig) -> None:
        rig.nodes(node(cpu="2"))
        rig.place(pod("a", cpu="2", nodeName="n"))
        assert rig.schedule(pod()) == "n"

    def test_least_allocated_is_preferred(self, rig: Rig) -> None:
        rig.nodes(node("small", cpu="2", memory="4Gi"), node("large", cpu="8", memory="16Gi"))
        assert rig.schedule(pod(cpu="1", memory="2Gi")) == "large"

    def test_pods_without_requests_spread(self, rig: Rig) -> None:
        rig.nodes(node("a"), node("b"))
        rig.place(pod("x", nodeName="a"))
        assert rig.schedule(pod()) == "b"


def test_balanced_allocation_prefers_equal_fractions(rig: Rig) -> None:
    rig.nodes(node("lean", cpu="10", memory="10Gi"), node("even", cpu="10", memory="10Gi"))
    rig.place(pod("x", cpu="4", memory="1Gi", nodeName="lean"), pod("y", cpu="1", memory="4Gi", nodeName="even"))
    assert rig.schedule(pod(cpu="3", memory="1")) == "even"


@pytest.mark.parametrize(
    ("used", "wanted", "score"),
    [
        ({}, {"cpu": "5", "memory": "5Gi"}, 75),
        ({"cpu": "5"}, {"memory": "5Gi"}, 87),
        ({"cpu": "10"}, {"memory": "10Gi"}, 100),
        ({}, {"cpu": "10"}, 50),
        ({"cpu": "2", "memory": "5Gi"}, {"cpu": "5", "memory": "1Gi"}, 80),
    ],
)
def test_balanced_allocation_rates_what_the_pod_changes(
    rig: Rig, used: dict[str, Any], wanted: dict[str, Any], score: int
) -> None:
    rig.nodes(node(cpu="10", memory="10Gi"))
    rig.place(pod("x", nodeName="n", **used))
    state = CycleState(rig.info(pod(**wanted)))
    [place] = rig.snapshot.nodes
    assert NodeResourcesBalancedAllocation(rig.handle).score(state, state.info.pod, place) == score


class TestTaintToleration:
    @pytest.mark.parametrize(
        ("toleration", "fits"),
        [
            ({}, False),
            ({"key": "t", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
            ({"key": "t", "value": "v"}, True),
            ({"key": "t", "value": "w"}, False),
            ({"key": "t", "operator": "Exists"}, True),
            ({"operator": "Exists"}, True),
            ({"key": "t", "operator": "Exists", "effect": "NoExecute"}, False),
            ({"key": "u", "operator": "Exists"}, False),
        ],
    )
    def test_tolerations(self, rig: Rig, toleration: dict[str, str], fits: bool) -> None:
        rig.nodes(node(taints=[taint("t", value="v")]))
        candidate = pod(tolerations=[toleration] if toleration else [])
        if fits:
            assert rig.schedule(candidate) == "n"
        else:
            message = f"0/1 nodes are available: 1 node(s) had untolerated taint(s). {NOT_HELPFUL}"
            assert str(rig.no_fit(candidate)) == message

    def test_prefer_no_schedule_only_prefers(self, rig: Rig) -> None:
        rig.nodes(node("tainted", taints=[taint("t", "PreferNoSchedule")]), node("full", cpu="4"))
        rig.place(pod("x", cpu="3", nodeName="full"))
        assert rig.schedule(pod(cpu="1")) == "full"
        assert rig.schedule(pod(cpu="2")) == "tainted"


def test_cordoned_node_comes_before_its_taint(rig: Rig) -> None:
    cordon = "node.kubernetes.io/unschedulable"
    rig.nodes(node(unschedulable=True, taints=[taint(cordon)]))
    assert str(rig.no_fit(pod())) == f"0/1 nodes are available: 1 node(s) were unschedulable. {NOT_HELPFUL}"
    assert rig.schedule(pod(tolerations=[{"key": cordon, "operator": "Exists"}])) == "n"


class TestNodeAffinity:
    @pytest.mark.parametrize(
        ("term", "expected"),
        [
            ({"matchExpressions": [expression("zone", "In", "a", "b")]}, {"one", "two"}),
            ({"matchExpressions": [expression("zone", "NotIn", "a")]}, {"two", "three"}),
            ({"matchExpressions": [expression("zone", "Exists")]}, {"one", "two"}),
            ({"matchExpressions": [expression("zone", "DoesNotExist")]}, {"three"}),
            ({"matchExpressions": [expression("size", "Gt", "9")]}, {"two"}),
            ({"matchExpressions": [expression("size", "Lt", "10")]}, {"one"}),
            ({"matchExpressions": [expression("zone", "In", "a"), expression("size", "Gt", "9")]}, set()),
            ({"matchFields": [expression("metadata.name", "In", "three")]}, {"three"}),
            ({"matchFields": [expression("metadata.name", "NotIn", "three")]}, {"one", "two"}),
            ({}, set()),
        ],
    )
    def test_required(self, rig: Rig, term: dict[str, Any], expected: set[str]) -> None:
        rig.nodes(
            node("one", labels={"zone": "a", "size": "5"}),
            node("two", labels={"zone": "b", "size": "10"}),
            node("three", labels={"size": "many"}),
        )
        assert rig.fitting(pod(affinity=required(term))) == expected

    def test_alternatives_and_selector(self, rig: Rig) -> None:
        rig.nodes(node("one", labels={"a": "1"}), node("two", labels={"b": "1"}), node("three", labels={"b": "1", "c": "1"}))
        either = required({"matchExpressions": [expression("a", "Exists")]}, {"matchExpressions": [expression("b", "Exists")]})
        assert rig.fitting(pod(affinity=either, nodeSelector={"c": "1"})) == {"three"}

    def test_named_node_leaves_the_others_to_the_plugin(self, rig: Rig) -> None:
        rig.nodes(node("one"), node("two"))
        wants_two = required({"matchFields": [expression("metadata.name", "In", "two")]})
        message = (
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to"
            " deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
        assert str(rig.no_fit(pod(cpu="9", affinity=wants_two))) == message

    def test_two_nodes_at_once(self, rig: Rig) -> None:
        rig.nodes(node("one"), node("two"))
        both = [expression("metadata.name", "In", "one"), expression("metadata.name", "In", "two")]
        refusal = rig.no_fit(pod(affinity=required({"matchFields": both})))
        assert str(refusal) == "0/2 nodes are available: pod affinity terms conflict. not found"
        assert refusal.diagnosis.plugins == {"NodeAffinity"}

    def test_weights_add_up(self, rig: Rig) -> None:
        rig.nodes(node("one", labels={"a": "1", "b": "1"}), node("two", labels={"c": "1"}))
        a, b, c = ({"matchExpressions": [expression(key, "Exists")]} for key in "abc")
        assert rig.schedule(pod(affinity=preferred((30, a), (30, b), (50, c)))) == "one"
        assert rig.schedule(pod(affinity=preferred((30, a), (30, b), (70, c), (9, {})))) == "two"


class TestNodePorts:
    @staticmethod
    def with_port(name: str, port: int, **fields: Any) -> Any:
        ports = [{"containerPort": 1, "hostPort": port, **fields}]
        return pod(name, containers=[{"name": "c", "image": "x", "ports": ports}], nodeName="n" if name == "a" else "")

    @pytest.mark.parametrize(
        ("fields", "fits"),
        [
            ({}, False),
            ({"protocol": "TCP"}, False),
            ({"protocol": "UDP"}, True),
            ({"hostIP": "10.0.0.1"}, False),
            ({"hostIP": "10.0.0.2"}, True),
            ({"hostIP": ANY_ADDRESS}, False),
        ],
    )
    def test_conflicts(self, rig: Rig, fields: dict[str, str], fits: bool) -> None:
        rig.nodes(node())
        rig.place(self.with_port("a", 80, hostIP="10.0.0.1", protocol="TCP"))
        if fits:
            assert rig.schedule(self.with_port("p", 80, **fields)) == "n"
        else:
            message = f"1 node(s) didn't have free ports for the requested pod ports. {NO_VICTIMS}"
            assert str(rig.no_fit(self.with_port("p", 80, **fields))) == f"0/1 nodes are available: {message}"
        assert rig.schedule(self.with_port("p", 81, **fields)) == "n"


def test_image_locality(rig: Rig) -> None:
    big = {"images": [{"names": ["example.com/big:1"], "sizeBytes": 900_000_000}]}
    rig.nodes(node("without"), node("with", status=big))
    assert rig.schedule(pod(containers=[{"name": "c", "image": "example.com/big:1"}])) == "with"


@pytest.mark.parametrize(
    ("image", "expected"),
    [("x", "x:latest"), ("h:5000/x", "h:5000/x:latest"), ("h:5000/x:1", "h:5000/x:1"), ("x@sha256:0", "x@sha256:0")],
)
def test_image_names(image: str, expected: str) -> None:
    assert normalized_name(image) == expected


def test_reasons_are_counted_and_sorted(rig: Rig) -> None:
    rig.nodes(node("one", labels={"u": "yes"}), node("two"), node("three", labels={"u": "yes"}, taints=[taint("t")]))
    message = (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector,"
        " 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available:"
        " 3 Preemption is not helpful for scheduling."
    )
    assert str(rig.no_fit(pod(cpu="5", nodeSelector={"u": "yes"}))) == message


def test_no_node_at_all(rig: Rig) -> None:
    assert str(rig.no_fit(pod())) == "no nodes available to schedule pods"


def test_images_in_volumes_count_too(rig: Rig) -> None:
    stored = {"images": [{"names": ["example.com/model:latest"], "sizeBytes": 900 * 1024 * 1024}]}
    rig.nodes(node("empty"), node("stored", status=stored))
    wanted = pod(volumes=[{"name": "m", "image": {"reference": "example.com/model"}}])
    assert rig.schedule(wanted) == "stored"


@pytest.mark.parametrize(
    ("feature", "spec"),
    [
        (
            "RestartAllContainersOnContainerExits",
            {"containers": [{"name": "c", "image": "x", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]},
        ),
        ("UserNamespacesHostNetworkSupport", {"hostNetwork": True, "hostUsers": False}),
    ],
)
def test_features_that_a_node_has_to_declare(rig: Rig, feature: str, spec: dict[str, Any]) -> None:
    rig.nodes(node())
    message = f"0/1 nodes are available: 1 node(s) didn't match Pod's required features. {NOT_HELPFUL}"
    assert str(rig.no_fit(pod(**spec))) == message
    rig.nodes(node(status={"declaredFeatures": ["A", feature]}))
    assert rig.schedule(pod(**spec)) == "n"
