from __future__ import annotations

import pytest

from setpoint.api.types.core_v1 import Node
from setpoint.api.types.meta_v1 import ObjectMeta
from setpoint.controllers.component import NodeTimings
from setpoint.controllers.node_lifecycle.zones import State, Zones, state_of


@pytest.mark.parametrize(
    ("ready", "failed", "state"),
    [
        (1, 0, State.NORMAL),
        (0, 1, State.FULL),
        (1, 2, State.NORMAL),
        (1, 3, State.PARTIAL),
        (3, 3, State.NORMAL),
        (5, 7, State.PARTIAL),
        (0, 9, State.FULL),
    ],
)
def test_how_much_of_a_zone_has_failed(ready: int, failed: int, state: State) -> None:
    assert state_of(["True"] * ready + ["Unknown"] * failed, NodeTimings()) is state


def zones(statuses: dict[str, str]) -> Zones:
    nodes = [Node(metadata=ObjectMeta(name=name, labels={"topology.kubernetes.io/zone": name[0]})) for name in statuses]
    made = Zones(NodeTimings())
    made.observe(nodes, statuses)
    return made


def test_the_first_node_at_once_the_next_after_ten_seconds() -> None:
    some = zones({"a1": "True", "a2": "Unknown", "a3": "Unknown"})
    zone = ":\x00:a"
    assert some.may_taint(zone, 0)
    assert not some.may_taint(zone, 5)
    assert some.may_taint(zone, 10)


def test_a_small_zone_in_partial_disruption_is_left_alone() -> None:
    some = zones({"a1": "True", "a2": "Unknown", "a3": "Unknown", "a4": "Unknown"})
    assert not some.may_taint(":\x00:a", 1000)


def test_when_every_zone_has_failed_it_is_us() -> None:
    assert zones({"a1": "Unknown", "b1": "False"}).all_failed
    assert not zones({"a1": "Unknown", "b1": "True"}).all_failed
    assert not zones({}).all_failed
