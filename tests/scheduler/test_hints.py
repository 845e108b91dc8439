"""Which events bring a refused pod back, plugin by plugin."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import PersistentVolumeClaim, Pod
from setpoint.scheduler.events import ActionType, ClusterEvent, EventResource
from setpoint.testing.scheduling import Rig, node, pod

WEB = {"matchLabels": {"app": "web"}}


def helps(rig: Rig, plugin: str, waiting: Pod, what: EventResource, action: ActionType, old: Any = None, new: Any = None) -> bool:
    event = ClusterEvent(what, action, old, new)
    return any(each.helps(waiting, event) for each in rig.profile.events_to_register[plugin])


def asks(kind: str) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": WEB}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


class TestInterPodAffinity:
    name = "InterPodAffinity"

    @pytest.mark.parametrize(("app", "back"), [("web", True), ("other", False)])
    def test_a_friend_comes(self, rig: Rig, app: str, *, back: bool) -> None:
        waiting = pod(affinity=asks("podAffinity"))
        friend = pod("f", labels={"app": app})
        assert helps(rig, self.name, waiting, EventResource.ASSIGNED_POD, ActionType.ADD, None, friend) is back

    @pytest.mark.parametrize(("app", "back"), [("web", True), ("other", False)])
    def test_who_was_in_the_way_leaves(self, rig: Rig, app: str, *, back: bool) -> None:
        waiting = pod(affinity=asks("podAntiAffinity"))
        assert (
            helps(rig, self.name, waiting, EventResource.ASSIGNED_POD, ActionType.DELETE, pod("f", labels={"app": app})) is back
        )

    def test_who_wanted_nobody_near_leaves(self, rig: Rig) -> None:
        hermit = pod("h", affinity=asks("podAntiAffinity"))
        assert helps(rig, self.name, pod(labels={"app": "web"}), EventResource.ASSIGNED_POD, ActionType.DELETE, hermit)
        assert not helps(rig, self.name, pod(labels={"app": "x"}), EventResource.ASSIGNED_POD, ActionType.DELETE, hermit)

    def test_a_node_changes_zones(self, rig: Rig) -> None:
        waiting = pod(affinity=asks("podAffinity"))
        before, after = node(labels={"zone": "a"}), node(labels={"zone": "b"})
        assert helps(rig, self.name, waiting, EventResource.NODE, ActionType.LABEL, before, after)
        assert not helps(
            rig, self.name, waiting, EventResource.NODE, ActionType.LABEL, before, node(labels={"zone": "a", "x": "y"})
        )


class TestPodTopologySpread:
    name = "PodTopologySpread"

    def waiting(self) -> Pod:
        constraint = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB}
        return pod(labels={"app": "web"}, topologySpreadConstraints=[constraint])

    def test_a_counted_pod_goes(self, rig: Rig) -> None:
        gone, other = pod("g", labels={"app": "web"}), pod("g", labels={"app": "x"})
        assert helps(rig, self.name, self.waiting(), EventResource.ASSIGNED_POD, ActionType.DELETE, gone)
        assert not helps(rig, self.name, self.waiting(), EventResource.ASSIGNED_POD, ActionType.DELETE, other)
        elsewhere = replace(gone, metadata=replace(gone.metadata, namespace="other"))
        assert not helps(rig, self.name, self.waiting(), EventResource.ASSIGNED_POD, ActionType.DELETE, elsewhere)

    def test_a_domain_comes_or_goes(self, rig: Rig) -> None:
        inside, outside = node(labels={"zone": "a"}), node()
        assert helps(rig, self.name, self.waiting(), EventResource.NODE, ActionType.ADD, None, inside)
        assert helps(rig, self.name, self.waiting(), EventResource.NODE, ActionType.DELETE, inside, None)
        assert not helps(rig, self.name, self.waiting(), EventResource.NODE, ActionType.ADD, None, outside)
        assert helps(rig, self.name, self.waiting(), EventResource.NODE, ActionType.LABEL, outside, inside)
        assert not helps(rig, self.name, self.waiting(), EventResource.NODE, ActionType.LABEL, inside, inside)


@pytest.mark.parametrize(("name", "back"), [("c", True), ("other", False)])
@pytest.mark.parametrize("plugin", ["VolumeBinding", "VolumeZone", "VolumeRestrictions", "NodeVolumeLimits"])
def test_only_its_own_claims_matter(rig: Rig, plugin: str, name: str, *, back: bool) -> None:
    waiting = pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    claim = convert({"metadata": {"name": name, "namespace": "d"}}, PersistentVolumeClaim)
    assert helps(rig, plugin, waiting, EventResource.CLAIM, ActionType.ADD, None, claim) is back
