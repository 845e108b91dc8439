"""KubeSchedulerConfiguration: which plugins run where, with which weight and arguments; plugins of others."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest

from setpoint.api.types.core_v1 import SERVICES, Pod
from setpoint.scheduler import registry
from setpoint.scheduler.config import ConfigError, SchedulerConfig, load, parse, seconds_of
from setpoint.scheduler.framework import CycleState, Handle
from setpoint.scheduler.profiles import DEFAULT_PLUGINS
from setpoint.scheduler.snapshot import NodeInfo
from setpoint.scheduler.status import Status, unschedulable
from setpoint.testing.scheduling import Rig, expression, node, pod

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def read(**profile: Any) -> SchedulerConfig:
    return parse({**HEAD, "profiles": [profile]})


def rig_of(**profile: Any) -> Rig:
    return Rig(config=read(**profile).profiles[0])


def test_nothing_said_means_the_defaults() -> None:
    config = parse(HEAD)
    assert config == SchedulerConfig()
    assert config.profiles[0].at("filter") == [each.name for each in DEFAULT_PLUGINS]


def test_a_point_changes_order_and_weight() -> None:
    [profile] = read(plugins={"score": {"enabled": [{"name": "ImageLocality", "weight": 7}]}}).profiles
    assert profile.at("score")[0] == "ImageLocality"
    assert profile.weights["ImageLocality"] == 7
    assert profile.weights["TaintToleration"] == 3


def test_stars_switch_off() -> None:
    only = {"enabled": [{"name": "NodeName"}], "disabled": [{"name": "*"}]}
    [profile] = read(plugins={"filter": only}).profiles
    assert profile.at("filter") == ["NodeName"]
    assert "NodeResourcesFit" in profile.at("score")


def test_everywhere_at_once() -> None:
    multi = {"enabled": [{"name": "Mine"}, {"name": "ImageLocality", "weight": 9}], "disabled": [{"name": "InterPodAffinity"}]}
    [profile] = read(plugins={"multiPoint": multi}).profiles
    assert profile.names[-1] == "Mine"
    assert "InterPodAffinity" not in profile.names
    assert profile.weights["ImageLocality"] == 9


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "Pod", "apiVersion": "v1"}, 'no kind "Pod" is registered for version "v1"'),
        ({**HEAD, "profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}, 'Duplicate value: "a"'),
        ({**HEAD, "podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds: Invalid value: 0"),
        ({**HEAD, "podMaxBackoffSeconds": 0}, "podMaxBackoffSeconds: Invalid value: 0"),
        ({**HEAD, "percentageOfNodesToScore": 101}, "not in valid range [0-100]"),
        ({**HEAD, "what": 1}, "unknown field `what`"),
        ({**HEAD, "profiles": [{"plugins": {"sort": {}}}]}, 'unknown field "profiles.plugins.sort"'),
        (
            {**HEAD, "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"x": 1}}]}]},
            "decoding args for plugin NodeResourcesFit",
        ),
        ({**HEAD, "extenders": [{"urlPrefix": "http://a", "bindVerb": "b"}] * 2}, "only one extender can implement bind"),
    ],
)
def test_what_is_refused(document: Any, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(document)
    assert message in str(refused.value)


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.yaml"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npodMaxBackoffSeconds: 3\n")
    assert load(path).backoff.most == 3
    with pytest.raises(ConfigError, match="No such file"):
        load(tmp_path / "none")


@pytest.mark.parametrize(("text", "seconds"), [("5s", 5.0), ("1m30s", 90.0), ("250ms", 0.25)])
def test_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


class TestStrategies:
    def fit(self, **strategy: Any) -> Rig:
        args = {"scoringStrategy": strategy}
        off = {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}
        rig = rig_of(pluginConfig=[{"name": "NodeResourcesFit", "args": args}], plugins={"score": off})
        rig.nodes(node("empty", cpu="4"), node("half", cpu="4"))
        rig.place(pod("x", cpu="2", memory="4Gi", nodeName="half"))
        return rig

    def test_least_allocated(self) -> None:
        assert self.fit(type="LeastAllocated").schedule(pod(cpu="1")) == "empty"

    def test_most_allocated(self) -> None:
        assert self.fit(type="MostAllocated").schedule(pod(cpu="1")) == "half"

    def test_a_line_of_ones_own(self) -> None:
        shape = [{"utilization": 0, "score": 0}, {"utilization": 80, "score": 10}, {"utilization": 100, "score": 0}]
        cpu = [{"name": "cpu", "weight": 1}]
        found = self.fit(type="RequestedToCapacityRatio", resources=cpu, requestedToCapacityRatio={"shape": shape})
        assert found.schedule(pod(cpu="1")) == "half"
        assert found.schedule(pod(cpu="2")) == "empty", "half would be full, and score nothing"


def test_affinity_added_to_every_pod() -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression("kind", "In", "mine")]}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    rig = rig_of(pluginConfig=[{"name": "NodeAffinity", "args": {"addedAffinity": added}}])
    rig.nodes(node("a"), node("b", labels={"kind": "mine"}))
    assert rig.fitting(pod()) == {"b"}


def test_default_constraints_of_ones_own() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultConstraints": [constraint], "defaultingType": "List"}
    rig = rig_of(pluginConfig=[{"name": "PodTopologySpread", "args": args}])
    rig.nodes(node("a", labels={"zone": "a"}), node("b", labels={"zone": "b"}))
    rig.collections.put(SERVICES, {"metadata": {"name": "s", "namespace": "d"}, "spec": {"selector": {"app": "x"}}})
    rig.place(pod("one", labels={"app": "x"}, nodeName="a"))
    assert rig.feasible(pod(labels={"app": "x"})) == {"b"}


class Odd:
    """A plugin of somebody else: even nodes only."""

    name = "Odd"

    def __init__(self, _: Handle, args: Any) -> None:
        self._reason = (args or {}).get("reason", "even")

    def filter(self, _: CycleState, __: Pod, node: NodeInfo) -> Status | None:
        return None if int(node.name[1:]) % 2 else unschedulable(self._reason)


class _Entry:
    def load(self) -> type[Odd]:
        return Odd


def test_a_plugin_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(*, group: str, name: str) -> list[_Entry]:
        return [_Entry()] if (group, name) == ("setpoint.scheduler.plugins", "Odd") else []

    monkeypatch.setattr(importlib.metadata, "entry_points", installed)
    rig = rig_of(
        plugins={"filter": {"enabled": [{"name": "Odd"}]}}, pluginConfig=[{"name": "Odd", "args": {"reason": "not odd"}}]
    )
    rig.nodes(node("n1"), node("n2"))
    assert rig.fitting(pod()) == {"n1"}
    rig.nodes(node("n2"))
    assert "1 not odd" in str(rig.no_fit(pod()))
    with pytest.raises(registry.PluginError, match="Other does not exist in the plugin registry"):
        rig_of(plugins={"filter": {"enabled": [{"name": "Other"}]}})
