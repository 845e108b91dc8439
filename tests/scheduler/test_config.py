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
from setpoint.scheduler.registry import PluginError
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


def args(name: str, **values: Any) -> dict[str, Any]:
    return {**HEAD, "profiles": [{"pluginConfig": [{"name": name, "args": values}]}]}


def ratio(*points: tuple[int, int]) -> dict[str, Any]:
    shape = [{"utilization": at, "score": score} for at, score in points]
    return {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}


ARGS = "profiles[0].pluginConfig[0].args."
GONE = 'was invalid in version "kubescheduler.config.k8s.io/v1" (KubeSchedulerConfiguration is version \
"kubescheduler.config.k8s.io/v1")'
REFUSED = [
    (
        args("DefaultPreemption", minCandidateNodesPercentage=101, minCandidateNodesAbsolute=-1),
        (
            f"[{ARGS}minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100], "
            f"{ARGS}minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)]"
        ),
    ),
    (
        args("DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=0),
        (
            f"[{ARGS}minCandidateNodesPercentage: Invalid value: 0: "
            "cannot be zero at the same time as minCandidateNodesAbsolute, "
            f"{ARGS}minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]"
        ),
    ),
    (
        args("InterPodAffinity", hardPodAffinityWeight=101),
        f"{ARGS}hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
    ),
    (
        args("PodTopologySpread", defaultingType="Mine"),
        f'{ARGS}defaultingType: Unsupported value: "Mine": supported values: "System", "List"',
    ),
    (
        args("PodTopologySpread", defaultConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "x"}]),
        (
            f'[{ARGS}defaultingType: Invalid value: "System": when .defaultConstraints are not empty, '
            f"{ARGS}defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), "
            f"{ARGS}defaultConstraints[0].topologyKey: Required value: can not be empty, "
            f'{ARGS}defaultConstraints[0].whenUnsatisfiable: Unsupported value: "x": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"]'
        ),
    ),
    (
        args(
            "PodTopologySpread",
            defaultingType="List",
            defaultConstraints=[
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}},
            ],
        ),
        (
            f"[{ARGS}defaultConstraints[1].labelSelector: Forbidden: "
            "constraint must not define a selector, as they deduced for each pod, "
            f'{ARGS}defaultConstraints[1]: Duplicate value: "{{zone, DoNotSchedule}}"]'
        ),
    ),
    (
        args("NodeResourcesBalancedAllocation", resources=[{"name": "cpu"}, {"name": "cpu", "weight": 2}]),
        f'[{ARGS}resources[1].name: Duplicate value: "cpu", {ARGS}resources[1].weight: Invalid value: 2: must be 1]',
    ),
    (
        args("NodeResourcesFit", ignoredResourceGroups=["a/b"], scoringStrategy={"resources": [{"name": "cpu", "weight": 101}]}),
        (
            f"[{ARGS}ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/', "
            f'{ARGS}scoringStrategy.type: Unsupported value: "": supported values: '
            '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", '
            f"{ARGS}scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]]"
        ),
    ),
    (
        args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"}),
        (
            f"{ARGS}scoringStrategy.requestedToCapacityRatio: Required value: "
            "must be specified when type is RequestedToCapacityRatio"
        ),
    ),
    (
        args("NodeResourcesFit", scoringStrategy={**ratio((0, 0)), "type": "MostAllocated"}),
        f"{ARGS}scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
    ),
    (
        args("NodeResourcesFit", scoringStrategy=ratio()),
        f"{ARGS}scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified",
    ),
    (
        args("NodeResourcesFit", scoringStrategy=ratio((50, 0), (20, 11))),
        (
            f"[{ARGS}scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 20: "
            "values must be sorted in increasing order, "
            f"{ARGS}scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in valid range [0, 10]]"
        ),
    ),
    (
        args("VolumeBinding", bindTimeoutSeconds=-1),
        f"{ARGS}bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
    ),
    (args("DynamicResources", filterTimeout="-1s"), f'{ARGS}filterTimeout: Invalid value: "-1s": must be zero or positive'),
    (args("DynamicResources", bindingTimeout="10ms"), f'{ARGS}bindingTimeout: Invalid value: "10ms": must be at least 1 second'),
    (args("EBSLimits"), f'profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": {GONE}'),
    (
        {**HEAD, "profiles": [{"plugins": {"filter": {"enabled": [{"name": "GCEPDLimits"}]}}}]},
        f'profiles[0].plugins.filter.enabled[0]: Invalid value: "GCEPDLimits": {GONE}',
    ),
    (
        {**HEAD, "profiles": [{"pluginConfig": [{"name": "NodeAffinity"}] * 2}]},
        'profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
    ),
    ({**HEAD, "profiles": [{"schedulerName": "a"}, {}]}, "profiles[1].schedulerName: Required value"),
    (
        {**HEAD, "percentageOfNodesToScore": -1, "profiles": [{"percentageOfNodesToScore": 101}]},
        (
            "[profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
            "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]]"
        ),
    ),
    ({**HEAD, "parallelism": 0}, "parallelism: Invalid value: 0: should be an integer value greater than zero"),
    ({**HEAD, "clientConnection": {"burst": -1}}, "clientConnection.burst: Invalid value: -1: must be non-negative"),
    (
        {**HEAD, "leaderElection": {"resourceLock": "endpoints"}},
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
    ),
    (
        {**HEAD, "profiles": [{"plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}, {"name": "Mine"}]}}}]},
        "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
    ),
    (
        {
            **HEAD,
            "profiles": [
                {"schedulerName": "a"},
                {"schedulerName": "b", "plugins": {"queueSort": {"enabled": [{"name": "Mine"}]}}},
            ],
        },
        (
            'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"Mine","Weight":0}],"Disabled":null}: '
            "must be the same for all profiles"
        ),
    ),
    (
        {**HEAD, "extenders": [{"urlPrefix": "http://a", "prioritizeVerb": "p"}]},
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
    ),
    (
        {**HEAD, "extenders": [{"urlPrefix": "http://a", "managedResources": [{"name": "cpu"}]}]},
        'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
    ),
    (
        {**HEAD, "extenders": [{"urlPrefix": "http://a", "managedResources": [{"name": "a.b/c"}]}] * 2},
        'extenders[1].managedResources[0].name: Invalid value: "a.b/c": duplicate extender managed resource name',
    ),
    (
        {**HEAD, "extenders": [{"urlPrefix": "http://a", "bindVerb": "b"}] * 2},
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_all_that_is_wrong_is_said_in_kubernetes_words(document: Any, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(document)
    assert str(refused.value) == message


def test_profiles_may_differ_in_all_plugins_but_the_queue_s() -> None:
    without = {"multiPoint": {"disabled": [{"name": "ImageLocality"}]}}
    config = parse({**HEAD, "profiles": [{"schedulerName": "a"}, {"schedulerName": "b", "plugins": without}]})
    assert config.names == ["a", "b"]


def test_without_a_plugin_that_sorts_the_queue() -> None:
    without = {"multiPoint": {"disabled": [{"name": "PrioritySort"}]}}
    with pytest.raises(PluginError, match="only one queue sort plugin required"):
        rig_of(plugins=without)


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
