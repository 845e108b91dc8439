"""Whom DefaultPreemption evicts, and what it says when it evicts nobody."""

from __future__ import annotations

from msgspec.structs import replace

from setpoint.api.types.policy_v1 import PODDISRUPTIONBUDGETS
from setpoint.scheduler.pods import PodInfo
from setpoint.testing.scheduling import Rig, node, pod


def victims(rig: Rig, **spec: object) -> tuple[str, list[str]]:
    found = rig.no_fit(pod("p", priority=1000, **spec)).victims  # type: ignore[arg-type]  # a Struct's fields by name
    assert found is not None
    return found.node, [victim.metadata.name for victim in found.pods]


def test_the_message_ends_with_the_reasons_when_it_helps(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    rig.place(pod("v", cpu="2", nodeName="n"))
    refusal = rig.no_fit(pod(cpu="2", priority=1000))
    assert str(refusal) == "0/1 nodes are available: 1 Insufficient cpu."
    assert refusal.victims is not None


def test_equal_priority_is_never_a_victim(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    rig.place(pod("v", cpu="2", nodeName="n", priority=1000))
    assert "1 No preemption victims found" in str(rig.no_fit(pod(cpu="2", priority=1000)))


def test_policy_never(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    rig.place(pod("v", cpu="2", nodeName="n"))
    message = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to"
    refusal = rig.no_fit(pod(cpu="1", priority=1000, preemptionPolicy="Never"))
    assert str(refusal) == f"{message} preemptionPolicy=Never."


def test_a_promise_is_taken_back_where_nobody_helps_and_kept_where_nobody_was_asked(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    assert rig.no_fit(pod(cpu="3")).nominated == ""
    assert rig.no_fit(pod(cpu="3", preemptionPolicy="Never")).nominated is None
    missing = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    assert rig.no_fit(pod(volumes=missing)).nominated is None
    rig.place(pod("v", cpu="2", nodeName="n"))
    assert rig.no_fit(pod(cpu="2", priority=1)).nominated == "n"
    rig.snapshot.remove_node("n")
    assert rig.no_fit(pod()).nominated == ""


def test_the_lower_victim_is_taken(rig: Rig) -> None:
    rig.nodes(node("one", cpu="2"), node("two", cpu="2"))
    rig.place(pod("a", cpu="2", nodeName="one", priority=500), pod("b", cpu="2", nodeName="two"))
    assert victims(rig, cpu="2") == ("two", ["b"])


def test_no_more_than_needed_and_the_important_are_spared(rig: Rig) -> None:
    rig.nodes(node(cpu="3"))
    rig.place(*(pod(name, cpu="1", nodeName="n", priority=value) for name, value in (("a", 500), ("b", 0), ("c", 100))))
    assert victims(rig, cpu="1") == ("n", ["b"])
    assert victims(rig, cpu="2") == ("n", ["c", "b"])


def test_of_equals_the_youngest_goes(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    for name, start in (("old", "2026-01-01T00:00:00Z"), ("young", "2026-02-01T00:00:00Z")):
        rig.place(pod(name, cpu="1", nodeName="n", status={"startTime": start}))
    assert victims(rig, cpu="1") == ("n", ["young"])


def test_of_those_that_have_not_started_the_first_goes(rig: Rig) -> None:
    rig.nodes(node(cpu="3"))
    rig.place(*(pod(name, cpu="1", nodeName="n") for name in "abc"))
    assert victims(rig, cpu="1") == ("n", ["a"])
    assert victims(rig, cpu="2") == ("n", ["b", "a"])


def test_a_spent_budget_weighs_more_than_priority(rig: Rig) -> None:
    rig.nodes(node("one", cpu="2"), node("two", cpu="2"))
    rig.place(
        pod("a", cpu="2", nodeName="one", labels={"app": "a"}),
        pod("b", cpu="2", nodeName="two", priority=500),
    )
    budget = {"metadata": {"name": "b", "namespace": "d"}, "spec": {"selector": {"matchLabels": {"app": "a"}}}}
    rig.collections.put(PODDISRUPTIONBUDGETS, budget)
    assert victims(rig, cpu="2") == ("two", ["b"])


def test_a_promised_node_counts_as_taken(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    promised = PodInfo(pod("first", cpu="2", priority=1000))
    rig.nominator.nominate(promised, "n")
    assert "Insufficient cpu" in str(rig.no_fit(pod("second", cpu="1", priority=1000)))
    assert rig.schedule(promised.pod) == "n"
    assert rig.schedule(pod("third", cpu="1", priority=2000)) == "n", "the more important does not wait for it"


def test_waits_for_victims_that_are_leaving(rig: Rig) -> None:
    rig.nodes(node(cpu="2"))
    leaving = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    victim = pod("v", cpu="2", nodeName="n", status=leaving)
    rig.place(replace(victim, metadata=replace(victim.metadata, deletion_timestamp="2026-01-01T00:00:00Z")))
    refusal = rig.no_fit(pod(cpu="2", priority=1000, status={"nominatedNodeName": "n"}))
    assert str(refusal).endswith("preemption: not eligible due to a terminating pod on the nominated node.")
