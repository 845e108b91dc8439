"""A bound pod says in which zone and region it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from setpoint.registry.admission.pod_topology_labels import PodTopologyLabels

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


class Nodes:
    """One node, `n`."""

    async def get(self, _: str, __: str, name: str) -> Mapping[str, Any] | None:
        return {"metadata": {"name": "n", "labels": {ZONE: "z", REGION: "r", "other": "o"}}} if name == "n" else None

    async def list(self, _: str, __: str = "") -> Sequence[Mapping[str, Any]]:
        return ()


class Asked:
    """As much of a request as the step reads."""

    def __init__(self, obj: dict[str, Any], subresource: str) -> None:
        self.obj, self.subresource = obj, subresource


@pytest.mark.parametrize(
    ("obj", "subresource", "labels"),
    [
        ({"metadata": {}, "target": {"kind": "Node", "name": "n"}}, "binding", {ZONE: "z", REGION: "r"}),
        (
            {"metadata": {"labels": {"a": "b", ZONE: "x"}}, "target": {"kind": "Node", "name": "n"}},
            "binding",
            {"a": "b", ZONE: "z", REGION: "r"},
        ),
        ({"metadata": {}, "target": {"kind": "Node", "name": "gone"}}, "binding", None),
        ({"metadata": {}, "target": {"name": "n"}}, "binding", None),
        ({"metadata": {}, "spec": {"nodeName": "n"}}, "", {ZONE: "z", REGION: "r"}),
        ({"metadata": {}, "spec": {}}, "", None),
    ],
)
async def test_labels_of_the_node_are_copied(obj: dict[str, Any], subresource: str, labels: dict[str, str] | None) -> None:
    asked: Any = Asked(obj, subresource)
    await PodTopologyLabels(Nodes()).admit(asked)
    assert obj["metadata"].get("labels") == labels
