"""Random small clusters: affinity, spread and preemption agree with a second, simple-minded reading of the rules.

The reading looks at every pod anew for every question; the scheduler keeps counts. Pods come, go, leave slowly and are
relabelled, nodes change their zones and taints, so that what is kept has to keep up. SETPOINT_SEEDS=500 runs more seeds,
SETPOINT_SEEDS=7-8 one.
"""

from __future__ import annotations

import os
import random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from setpoint.api.machinery.selectors import from_object
from setpoint.api.types.core_v1 import NAMESPACES, Node, Pod
from setpoint.scheduler.cycle import NoFit
from setpoint.scheduler.pods import PodInfo, priority
from setpoint.testing.scheduling import Rig, node, pod, taint

KEYS = ("zone", "host")
APPS = ("a", "b")
SPACES = ("one", "two")
Placed = list[tuple[Pod, str]]


def seeds() -> range:
    first, dash, last = os.environ.get("SETPOINT_SEEDS", "12").partition("-")
    return range(int(first), int(last)) if dash else range(int(first))


def random_node(rng: random.Random, name: str) -> Node:
    labels = {"host": name} if rng.random() < 0.9 else {}
    if rng.random() < 0.9:
        labels["zone"] = rng.choice("xyz")
    taints = [taint("t")] if rng.random() < 0.15 else []
    return node(name, cpu="4", pods="8", labels=labels, taints=taints)


def random_selector(rng: random.Random) -> dict[str, Any] | None:
    match rng.randrange(8):
        case 0:
            return {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
        case 1:
            return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [rng.choice(APPS)]}]}
        case 2:
            return None
    return {"matchLabels": {"app": rng.choice(APPS)}}


def random_term(rng: random.Random) -> dict[str, Any]:
    term: dict[str, Any] = {"topologyKey": rng.choice(KEYS)}
    selector = random_selector(rng)
    if selector is not None:
        term["labelSelector"] = selector
    if rng.random() < 0.3:
        term["namespaces"] = [rng.choice(SPACES)]
    if rng.random() < 0.3:
        term["namespaceSelector"] = rng.choice(({}, {"matchLabels": {"team": "two"}}))
    return term


def random_constraint(rng: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "topologyKey": rng.choice(KEYS),
        "maxSkew": rng.randint(1, 2),
        "whenUnsatisfiable": "DoNotSchedule" if rng.random() < 0.8 else "ScheduleAnyway",
        "labelSelector": random_selector(rng) or {"matchLabels": {"app": "a"}},
    }
    if found["whenUnsatisfiable"] == "DoNotSchedule" and rng.random() < 0.3:
        found["minDomains"] = rng.randint(1, 4)
    if rng.random() < 0.3:
        found["nodeAffinityPolicy"] = rng.choice(("Honor", "Ignore"))
    if rng.random() < 0.3:
        found["nodeTaintsPolicy"] = rng.choice(("Honor", "Ignore"))
    if rng.random() < 0.2:
        found["matchLabelKeys"] = ["version"]
    return found


def random_pod(rng: random.Random, name: str) -> Pod:
    spec: dict[str, Any] = {"cpu": rng.choice(("", "500m", "1", "2")), "priority": rng.choice((0, 0, 10, 100))}
    affinity: dict[str, Any] = {}
    for kind, chance in (("podAffinity", 0.25), ("podAntiAffinity", 0.35)):
        if rng.random() < chance:
            terms = [random_term(rng) for _ in range(rng.randint(1, 2))]
            affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        if rng.random() < 0.2:
            preferred = [{"weight": rng.randint(1, 100), "podAffinityTerm": random_term(rng)}]
            affinity.setdefault(kind, {})["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    if affinity:
        spec["affinity"] = affinity
    if rng.random() < 0.5:
        spec["topologySpreadConstraints"] = [random_constraint(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": "t", "operator": "Exists"}]
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"zone": rng.choice("xyz")}
    labels = {"app": rng.choice(APPS), "version": rng.choice("12")} if rng.random() < 0.9 else {}
    made = pod(name, labels=labels, **spec)
    return replace(made, metadata=replace(made.metadata, namespace=rng.choice(SPACES)))


# ---- the rules, read one by one


def selects(selector: Any, labels: Any) -> bool:
    return selector is not None and bool(from_object(msgspec.to_builtins(selector)).matches(labels))


def means(term: Any, owner: Pod, other: Pod) -> bool:
    space = other.metadata.namespace
    named = space in term.namespaces or selects(term.namespace_selector, {"team": space})
    if not term.namespaces and term.namespace_selector is None:
        named = space == owner.metadata.namespace
    return named and selects(term.label_selector, other.metadata.labels)


def required(owner: Pod, kind: str) -> Any:
    rules = getattr(owner.spec.affinity, kind) if owner.spec.affinity is not None else None
    return () if rules is None else rules.required_during_scheduling_ignored_during_execution or ()


class World:
    """Nodes and pods as lists."""

    def __init__(self, nodes: dict[str, Node], placed: Placed) -> None:
        self.nodes, self.placed = nodes, placed

    def near(self, key: str, where: Node) -> list[Pod]:
        """The pods in the domain of a node."""
        value = where.metadata.labels.get(key)
        labels = {name: each.metadata.labels for name, each in self.nodes.items()}
        return [each for each, name in self.placed if value is not None and labels[name].get(key) == value]

    def fits(self, candidate: Pod, where: Node) -> bool:
        return (
            self.is_open(candidate, where)
            and self.has_room(candidate, where)
            and self.is_even(candidate, where)
            and self.is_welcome(candidate, where)
        )

    def is_open(self, candidate: Pod, where: Node) -> bool:
        tolerated = bool(candidate.spec.tolerations) or not where.spec.taints
        return tolerated and self.is_selected(candidate, where)

    def is_selected(self, candidate: Pod, where: Node) -> bool:
        return all(where.metadata.labels.get(key) == value for key, value in candidate.spec.node_selector.items())

    def has_room(self, candidate: Pod, where: Node) -> bool:
        there = [PodInfo(each) for each, name in self.placed if name == where.metadata.name]
        wanted = PodInfo(candidate).requests.get("cpu", 0)
        used = sum(each.requests.get("cpu", 0) for each in there)
        return len(there) < 8 and (not wanted or used + wanted <= 4000)

    def is_welcome(self, candidate: Pod, where: Node) -> bool:
        for term in required(candidate, "pod_anti_affinity"):
            if any(means(term, candidate, each) for each in self.near(term.topology_key, where)):
                return False
        for other, name in self.placed:
            for term in required(other, "pod_anti_affinity"):
                there, here = self.nodes[name].metadata.labels, where.metadata.labels
                key = term.topology_key
                if means(term, other, candidate) and key in there and there[key] == here.get(key):
                    return False
        return self.is_near_friends(candidate, where)

    def is_near_friends(self, candidate: Pod, where: Node) -> bool:
        terms = required(candidate, "pod_affinity")
        if not terms:
            return True
        if any(term.topology_key not in where.metadata.labels for term in terms):
            return False
        friends = [(each, name) for each, name in self.placed if all(means(term, candidate, each) for term in terms)]
        if all(any(each is friend for friend, _ in friends for each in self.near(term.topology_key, where)) for term in terms):
            return True
        labels = [self.nodes[name].metadata.labels for _, name in friends]
        nobody = not any(term.topology_key in each for each in labels for term in terms)
        return nobody and all(means(term, candidate, candidate) for term in terms)

    def is_even(self, candidate: Pod, where: Node) -> bool:
        hard = [each for each in candidate.spec.topology_spread_constraints if each.when_unsatisfiable == "DoNotSchedule"]
        keys = [each.topology_key for each in hard]
        if any(key not in where.metadata.labels for key in keys):
            return False
        return all(self.obeys(candidate, where, each, keys) for each in hard)

    def obeys(self, candidate: Pod, where: Node, each: Any, keys: list[str]) -> bool:
        own = candidate.metadata.labels
        same = {key: own[key] for key in each.match_label_keys if key in own}

        def selected(other: Pod) -> bool:
            labels = other.metadata.labels
            return selects(each.label_selector, labels) and all(labels.get(key) == value for key, value in same.items())

        counts: dict[str, int] = {}
        for name, target in self.nodes.items():
            labels = target.metadata.labels
            if any(key not in labels for key in keys):
                continue
            if each.node_affinity_policy != "Ignore" and not self.is_selected(candidate, target):
                continue
            if each.node_taints_policy == "Honor" and target.spec.taints and not candidate.spec.tolerations:
                continue
            here = [other for other, place in self.placed if place == name and other.metadata.deletion_timestamp is None]
            number = sum(selected(other) for other in here if other.metadata.namespace == candidate.metadata.namespace)
            counts[labels[each.topology_key]] = counts.get(labels[each.topology_key], 0) + number
        lowest = 0 if len(counts) < (each.min_domains or 1) else min(counts.values())
        count = counts.get(where.metadata.labels[each.topology_key], 0)
        return bool(count + selected(candidate) - lowest <= each.max_skew)


# ---- both side by side


class Both:
    """The scheduler's view and the lists, changed together."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a test's seed
        self.rig = Rig(seed)
        for space in SPACES:
            self.rig.collections.put(NAMESPACES, {"metadata": {"name": space, "labels": {"team": space}}})
        self.world = World({}, [])
        for number in range(self.rng.randint(2, 7)):
            self.put_node(f"n{number}")

    def put_node(self, name: str) -> None:
        made = random_node(self.rng, name)
        self.world.nodes[name] = made
        self.rig.nodes(made)

    def change(self) -> None:
        """Something happens to a node or a pod."""
        if self.rng.random() < 0.3:
            self.put_node(self.rng.choice([*self.world.nodes]))
        if not self.world.placed:
            return
        index = self.rng.randrange(len(self.world.placed))
        old, name = self.world.placed[index]
        match self.rng.randrange(4):
            case 0:
                self.remove(old)
            case 1:
                labels = {**old.metadata.labels, "app": self.rng.choice(APPS)}
                self.replace(index, replace(old, metadata=replace(old.metadata, labels=labels)), name)
            case 2:
                leaving = replace(old.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
                self.replace(index, replace(old, metadata=leaving), name)

    def replace(self, index: int, new: Pod, name: str) -> None:
        self.world.placed[index] = (new, name)
        self.rig.snapshot.put_pod(replace(new, spec=replace(new.spec, node_name=name)))

    def remove(self, old: Pod) -> None:
        self.world.placed = [each for each in self.world.placed if each[0] is not old]
        self.rig.snapshot.remove_pod(PodInfo(old).key)

    def place(self, new: Pod, name: str) -> None:
        self.rig.snapshot.assume(PodInfo(new), name)
        self.world.placed.append((new, name))

    def feasible(self, candidate: Pod) -> set[str]:
        return self.rig.feasible(candidate)

    def expected(self, candidate: Pod) -> set[str]:
        return {name for name, each in self.world.nodes.items() if self.world.fits(candidate, each)}


@pytest.mark.parametrize("seed", seeds())
def test_the_same_nodes_fit(seed: int) -> None:
    both = Both(seed)
    for number in range(30):
        candidate = random_pod(both.rng, f"p{number}")
        expected = both.expected(candidate)
        assert both.feasible(candidate) == expected, number
        if expected:
            both.place(candidate, both.rig.schedule(candidate))
        if both.rng.random() < 0.5:
            both.change()


@pytest.mark.parametrize("seed", seeds())
def test_preemption_makes_room_by_the_rules(seed: int) -> None:
    both = Both(seed)
    tried = 0
    for number in range(40):
        candidate = random_pod(both.rng, f"p{number}")
        try:
            both.place(candidate, both.rig.schedule(candidate))
            continue
        except NoFit as refusal:
            victims = refusal.victims
        tried += 1
        before = [*both.world.placed]
        if victims is None:
            for name, where in both.world.nodes.items():
                rest = [each for each in before if each[1] != name or priority(each[0]) >= priority(candidate)]
                could = len(rest) < len(before) and World(both.world.nodes, rest).fits(candidate, where)
                # A pod that misses its friends is not helped, even if others of its own would let it start a group.
                assert not could or required(candidate, "pod_affinity"), (number, name)
            continue
        assert all(priority(each) < priority(candidate) for each in victims.pods)
        gone = {each.metadata.uid for each in victims.pods}
        rest = [each for each in before if each[0].metadata.uid not in gone]
        assert World(both.world.nodes, rest).fits(candidate, both.world.nodes[victims.node]), number
        for each, _ in before:
            if each.metadata.uid in gone:
                both.remove(each)
        both.place(candidate, victims.node)
    assert tried or seed
