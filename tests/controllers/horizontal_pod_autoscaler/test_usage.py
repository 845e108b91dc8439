"""How many replicas a metric asks for."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from setpoint.api.types.core_v1 import Pod
from setpoint.controllers.horizontal_pod_autoscaler import usage
from setpoint.controllers.horizontal_pod_autoscaler.plan import Sample
from setpoint.controllers.horizontal_pod_autoscaler.usage import Groups, Tolerance, Uncountable, Used
from setpoint.kit.clock import rfc3339

NOW = 1_900_000_000.0
TENTH = Tolerance()


def pod(
    name: str, *, phase: str = "Running", ready: str = "True", started: float = 3600, turned: float = 3000, **meta: Any
) -> Pod:
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": rfc3339(NOW - turned)}
    status = {"phase": phase, "startTime": rfc3339(NOW - started), "conditions": [condition]}
    container = {"name": "c", "resources": {"requests": {"cpu": "100m"}}}
    return msgspec.convert({"metadata": {"name": name, **meta}, "spec": {"containers": [container]}, "status": status}, Pod)


def pods(*names: str) -> list[Pod]:
    return [pod(name) for name in names]


def samples(**values: int) -> dict[str, Sample]:
    return {name: Sample(value, NOW - 5, 15.0) for name, value in values.items()}


def utilization(current: int, percent: int, found: dict[str, Sample], given: list[Pod]) -> Used:
    groups = usage.group(given, found, "cpu", NOW)
    return usage.of_utilization(current, percent, found, given, groups, usage.requests(given, "", "cpu"), TENTH)


@pytest.mark.parametrize(
    ("values", "percent", "replicas"),
    [
        ({"a": 100, "b": 100}, 50, 4),
        ({"a": 55, "b": 55}, 50, 2),  # within a tenth
        ({"a": 10, "b": 10}, 50, 1),
        ({"a": 0, "b": 0}, 50, 0),
        ({"a": 60, "b": 50}, 50, 2),
        ({"a": 300, "b": 100}, 50, 8),
    ],
)
def test_usage_over_target_times_ready_pods_rounded_up(values: dict[str, int], percent: int, replicas: int) -> None:
    assert utilization(2, percent, samples(**values), pods("a", "b")).replicas == replicas


def test_the_status_tells_usage_and_its_average() -> None:
    used = utilization(2, 50, samples(a=100, b=51), pods("a", "b"))
    assert (used.percent, used.average) == (75, 75)


def test_a_pod_without_a_sample_damps_both_ways() -> None:
    assert utilization(3, 50, samples(a=100, b=100), pods("a", "b", "x")).replicas == 4  # 66 % of three
    assert utilization(3, 50, samples(a=10, b=10), pods("a", "b", "x")).replicas == 3  # as using all: 40 % of three, not two


def test_a_pod_that_is_not_ready_yet_damps_the_way_up_only() -> None:
    starting = pod("x", started=30, turned=20, ready="False")
    given = [*pods("a", "b"), starting]
    assert utilization(3, 50, samples(a=100, b=100, x=500), given).replicas == 4
    assert utilization(3, 50, samples(a=10, b=10, x=500), given).replicas == 1


def test_what_damps_does_not_turn_the_direction() -> None:
    assert utilization(3, 60, samples(a=70), pods("a", "x", "y")).replicas == 3


def test_groups() -> None:
    given = [
        pod("ready"),
        pod("pending", phase="Pending"),
        pod("failed", phase="Failed"),
        pod("going", deletionTimestamp=rfc3339(NOW)),
        pod("missing"),
        pod("starting", started=60, turned=10),  # a sample of before it was ready
        pod("never", ready="False", started=600, turned=590),
        pod("fell", ready="False", started=600, turned=100),
    ]
    found = samples(ready=1, pending=1, failed=1, going=1, starting=1, never=1, fell=1)
    assert usage.group(given, found, "cpu", NOW) == Groups(
        2, frozenset({"pending", "starting", "never"}), frozenset({"missing"}), frozenset({"failed", "going"})
    )
    assert usage.group(given, found, "memory", NOW).ready == 4


def test_requests_of_containers_and_of_one() -> None:
    body = {
        "metadata": {"name": "p"},
        "spec": {
            "containers": [
                {"name": "a", "resources": {"requests": {"cpu": "100m"}}},
                {"name": "b", "resources": {"requests": {"cpu": "1"}}},
            ],
            "initContainers": [
                {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}},
                {"name": "first", "resources": {"requests": {"cpu": "5"}}},
            ],
        },
    }
    one = [msgspec.convert(body, Pod)]
    assert usage.requests(one, "", "cpu") == {"p": 1150}
    assert usage.requests(one, "b", "cpu") == {"p": 1000}
    with pytest.raises(Uncountable, match="missing request for memory in container a of Pod p"):
        usage.requests(one, "", "memory")


def test_averages() -> None:
    given = pods("a", "b")
    groups = usage.group(given, samples(a=1, b=1), "", NOW)
    assert usage.of_average(2, 5000, samples(a=20000, b=10000), given, groups, TENTH) == Used(6, 15000)
    assert usage.of_average(2, 5000, samples(a=5400, b=5400), given, groups, TENTH).replicas == 2
    with pytest.raises(Uncountable, match="did not receive metrics for targeted pods"):
        usage.of_average(2, 5000, {}, given, groups, TENTH)
    with pytest.raises(Uncountable, match="no pods returned by selector"):
        usage.of_average(2, 5000, samples(a=1), [], groups, TENTH)


def test_values_that_are_of_no_pod() -> None:
    assert usage.of_value(2, 1000, 3000, pods("a", "b"), TENTH) == Used(6, 3000)
    assert usage.of_value(2, 1000, 1050, pods("a", "b"), TENTH).replicas == 2
    assert usage.of_value(0, 1000, 2500, [], TENTH).replicas == 3
    assert usage.of_share(2, 1000, 5000, TENTH) == Used(5, 2500)
    assert usage.of_share(2, 1000, 2100, TENTH).replicas == 2
    assert usage.of_share(0, 1000, 2500, TENTH).replicas == 3


def test_tolerances_of_both_directions() -> None:
    wide = Tolerance(down=0.5, up=0.0)
    assert wide.covers(0.5)
    assert not wide.covers(0.49)
    assert not wide.covers(1.01)
