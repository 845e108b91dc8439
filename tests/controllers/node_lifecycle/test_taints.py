from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Node
from setpoint.controllers.node_lifecycle import taints, unknown

NOW = 1_900_000_000.0


def node(taint_list: Any = (), *, unschedulable: bool = False, **conditions: str) -> Node:
    return convert(
        {
            "metadata": {"name": "n", "resourceVersion": "3", "creationTimestamp": "2030-01-01T00:00:00Z"},
            "spec": {
                "taints": [dict(zip(("key", "effect"), each, strict=True)) for each in taint_list],
                "unschedulable": unschedulable,
            },
            "status": {"conditions": [{"type": kind, "status": status} for kind, status in conditions.items()]},
        },
        Node,
    )


@pytest.mark.parametrize(
    ("conditions", "keys"),
    [
        ({"Ready": "True", "MemoryPressure": "False"}, []),
        ({"Ready": "False"}, ["not-ready"]),
        ({"Ready": "Unknown", "MemoryPressure": "Unknown"}, ["unreachable"]),
        (
            {"MemoryPressure": "True", "DiskPressure": "True", "PIDPressure": "True"},
            ["memory-pressure", "disk-pressure", "pid-pressure"],
        ),
        ({"Ready": "True", "NetworkUnavailable": "True"}, ["network-unavailable"]),
    ],
)
def test_conditions_mean_no_schedule_taints(conditions: dict[str, str], keys: list[str]) -> None:
    assert taints.no_schedule(node((), unschedulable=False, **conditions)) == [f"node.kubernetes.io/{key}" for key in keys]


def test_other_taints_keep_their_place_and_new_ones_come_last() -> None:
    seen = node([("mine", "NoSchedule"), (taints.NOT_READY, "NoSchedule")], unschedulable=True, Ready="Unknown")
    assert taints.with_no_schedule(seen, NOW) == [
        {"key": "mine", "effect": "NoSchedule"},
        {"key": taints.UNREACHABLE, "effect": "NoSchedule", "timeAdded": "2030-03-17T17:46:40Z"},
        {"key": taints.UNSCHEDULABLE, "effect": "NoSchedule", "timeAdded": "2030-03-17T17:46:40Z"},
    ]


def test_no_execute_taints_are_swapped_and_taken_away() -> None:
    seen = node([(taints.NOT_READY, "NoExecute"), (taints.NOT_READY, "NoSchedule")])
    swapped = taints.with_no_execute(seen, taints.UNREACHABLE, NOW)
    assert swapped is not None
    assert [(each["key"], each["effect"]) for each in swapped] == [
        (taints.NOT_READY, "NoSchedule"),
        (taints.UNREACHABLE, "NoExecute"),
    ]
    assert taints.with_no_execute(seen, taints.NOT_READY, NOW) is None
    assert taints.with_no_execute(seen, "", NOW) == [{"key": taints.NOT_READY, "effect": "NoSchedule"}]


def test_a_silent_nodes_conditions_turn_unknown_once() -> None:
    written = unknown.conditions(node(Ready="True", NetworkUnavailable="False"), NOW)
    assert written is not None
    by_kind = {each["type"]: each for each in written}
    assert by_kind["Ready"] == {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "lastTransitionTime": "2030-03-17T17:46:40Z",
    }
    assert by_kind["MemoryPressure"]["reason"] == "NodeStatusNeverUpdated"
    assert by_kind["MemoryPressure"]["message"] == "Kubelet never posted node status."
    assert by_kind["NetworkUnavailable"]["status"] == "False"
    silent = node(Ready="Unknown", MemoryPressure="Unknown", DiskPressure="Unknown", PIDPressure="Unknown")
    assert unknown.conditions(silent, NOW) is None
