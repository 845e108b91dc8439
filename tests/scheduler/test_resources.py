"""What a pod asks for as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.scheduler.events import ActionType, pod_change
from setpoint.scheduler.pods import PodInfo
from setpoint.scheduler.resources import DEFAULTS, being_changed, pod_requests
from setpoint.testing.scheduling import pod


def container(cpu: str = "", **fields: Any) -> dict[str, Any]:
    return {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu} if cpu else {}}, **fields}


def sidecar(cpu: str) -> dict[str, Any]:
    return container(cpu, restartPolicy="Always")


@pytest.mark.parametrize(
    ("init", "main", "expected"),
    [
        ([], ["1", "500m"], 1500),
        ([container("2"), container("1")], ["1"], 2000),
        ([container("2"), container("1")], ["1500m", "1"], 2500),
        ([sidecar("500m")], ["1"], 1500),
        ([sidecar("500m"), container("1600m")], ["100m"], 2100),
        ([container("1600m"), sidecar("500m")], ["100m"], 1600),
        ([sidecar("500m"), sidecar("300m"), container("1")], ["100m"], 1800),
    ],
)
def test_init_containers_and_sidecars(init: list[dict[str, Any]], main: list[str], expected: int) -> None:
    assert pod_requests(pod(containers=[container(cpu) for cpu in main], initContainers=init))["cpu"] == expected


def test_requests_of_the_pod_stand_in_and_overhead_comes_on_top() -> None:
    whole = pod(cpu="500m", memory="1Gi", resources={"requests": {"cpu": "2500m"}}, overhead={"cpu": "100m"})
    assert pod_requests(whole) == {"cpu": 2600, "memory": 2**30}


def test_defaults_stand_in_for_what_a_container_does_not_say() -> None:
    silent = pod(containers=[container(), container("1")])
    assert pod_requests(silent, DEFAULTS) == {"cpu": 1100, "memory": 2 * 200 * 2**20}
    assert pod_requests(silent) == {"cpu": 1000}


def resized(spec: str, has: str, allocated: str = "", **status: Any) -> Any:
    """A pod whose container asks for `spec`, runs with `has`, and was given `allocated`."""
    running = {"name": "c", "resources": {"requests": {"cpu": has}}, "allocatedResources": {"cpu": allocated or has}}
    return pod(containers=[container(spec)], nodeName="n", status={"containerStatuses": [running], **status})


INFEASIBLE = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (resized("1", "1"), 1000),
        (resized("1", "2"), 2000),
        (resized("3", "2"), 3000),
        (resized("1", "1", "2"), 2000),
        (resized("3", "1", "2", **INFEASIBLE), 2000),
    ],
)
def test_while_a_change_in_place_is_under_way_the_larger_counts(found: Any, expected: int) -> None:
    assert PodInfo(found).requests["cpu"] == PodInfo(found).non_zero["cpu"] == expected


def whole_resized(spec: str, has: str, allocated: str = "", **status: Any) -> Any:
    """The same of a pod that asks as a whole."""
    running = {"resources": {"requests": {"cpu": has}}, "allocatedResources": {"cpu": allocated or has}}
    return pod(containers=[container("100m")], resources={"requests": {"cpu": spec}}, nodeName="n", status={**running, **status})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (whole_resized("1", "1"), 1000),
        (whole_resized("1", "2"), 2000),
        (whole_resized("3", "1", "2"), 3000),
        (whole_resized("3", "1", "2", **INFEASIBLE), 2000),
    ],
)
def test_a_pod_as_a_whole_is_changed_in_place_too(found: Any, expected: int) -> None:
    assert PodInfo(found).requests["cpu"] == PodInfo(found).non_zero["cpu"] == expected
    assert pod_change(whole_resized("1", "2"), whole_resized("1", "1")) is ActionType.SCALE_DOWN


def test_what_was_not_reported_yet_changes_nothing() -> None:
    for statuses in ([{"name": "c"}], [{"name": "c", "resources": {}}], [{"name": "other", "resources": {}}]):
        found = pod(containers=[container("1")], nodeName="n", status={"containerStatuses": statuses})
        assert not being_changed(found)
        assert PodInfo(found).requests["cpu"] == 1000


def test_room_is_given_back_when_the_node_has_done_what_was_asked() -> None:
    assert pod_change(resized("2", "2"), resized("1", "2")) is ActionType.OTHER
    assert pod_change(resized("1", "2"), resized("1", "1")) is ActionType.SCALE_DOWN
