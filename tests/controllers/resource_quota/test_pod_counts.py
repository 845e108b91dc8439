from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.types.core_v1 import Pod
from setpoint.controllers.resource_quota.pod_counts import PodCounts


def pod(name: str, cpu: str, phase: str = "Running", **metadata: Any) -> Pod:
    containers = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    body = {"metadata": {"name": name, "uid": name, **metadata}, "spec": {"containers": containers}, "status": {"phase": phase}}
    return msgspec.convert(body, Pod)


def test_pods_of_a_kind_are_multiplied_and_what_changed_is_counted_anew() -> None:
    counts = PodCounts({}, ("pods", "cpu"))
    pods = [pod("a", "100m"), pod("b", "100m"), pod("c", "1")]
    for _ in range(2):
        assert {name: str(value) for name, value in counts.total(pods, 0.0).items()} == {"pods": "3", "cpu": "1200m"}
    pods[1:] = [pod("b", "200m"), pod("c", "1", phase="Succeeded")]
    assert {name: str(value) for name, value in counts.total(pods, 0.0).items()} == {"pods": "2", "cpu": "300m"}


def test_a_pod_that_should_have_gone_uses_nothing_any_more() -> None:
    counts = PodCounts({}, ("pods",))
    going = [pod("a", "1", deletionTimestamp="1970-01-01T00:01:00Z", deletionGracePeriodSeconds=30)]
    assert [str(counts.total(going, now).get("pods", 0)) for now in (80.0, 100.0)] == ["1", "0"]


def test_what_is_remembered_of_pods_that_went_is_bounded() -> None:
    counts = PodCounts({}, ("pods",))
    for number in range(200):  # all of one kind, as this quota counts
        assert str(counts.total([pod("a", f"{number}m")], 0.0)["pods"]) == "1"
    assert len(counts._alike) < 100
