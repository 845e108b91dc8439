"""Flow control: what must be as it is, and what the first objects are."""

from __future__ import annotations

from typing import Any

import pytest
from tests.registry.builders import complaints

from setpoint.app import first_objects
from setpoint.registry.apiregistration.api_service import APIServiceStrategy
from setpoint.registry.flowcontrol.flow_schema import MANDATORY, FlowSchemaStrategy
from setpoint.registry.flowcontrol.priority_level import PriorityLevelStrategy
from setpoint.registry.table import GROUPS

Json = dict[str, Any]


@pytest.mark.parametrize("name", MANDATORY)
def test_mandatory_schemas_are_fixed(name: str) -> None:
    spec = MANDATORY[name]
    assert complaints(FlowSchemaStrategy(), {"metadata": {"name": name}, "spec": spec}) == []
    [complaint] = complaints(FlowSchemaStrategy(), {"metadata": {"name": name}, "spec": {**spec, "rules": []}})
    assert complaint.endswith(f"spec of '{name}' must equal the fixed value")


def test_first_objects_are_what_the_server_accepts() -> None:
    for strategy, bodies in (
        (FlowSchemaStrategy(), first_objects.flow_schemas()),
        (PriorityLevelStrategy(), first_objects.priority_levels()),
        (APIServiceStrategy(), first_objects.api_services(GROUPS)),
    ):
        for body in bodies:
            assert complaints(strategy, body) == [], body


def test_every_group_and_version_has_its_service() -> None:
    described = {body["metadata"]["name"] for body in first_objects.api_services(GROUPS)}
    served = {f"{version}.{group}" for group, versions in GROUPS for version in versions}
    assert served - described == {"v1.apiregistration.k8s.io"}


@pytest.mark.parametrize(("queues", "hand", "wrong"), [(64, 8, 0), (4096, 6, 1), (10_000_001, 1, 1), (4, 5, 1)])
def test_hands_fit_the_hash(queues: int, hand: int, wrong: int) -> None:
    response = {"type": "Queue", "queuing": {"queues": queues, "handSize": hand}}
    spec: Json = {"type": "Limited", "limited": {"limitResponse": response}}
    assert len(complaints(PriorityLevelStrategy(), {"metadata": {"name": "l"}, "spec": spec})) == wrong
