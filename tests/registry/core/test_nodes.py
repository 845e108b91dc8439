"""What a node may say of its ranges, and in annotations that came before fields."""

from __future__ import annotations

import pytest
from tests.registry.builders import Json, complaints, context

from setpoint.registry.core.node import NodeStatusStrategy, NodeStrategy


def node(annotations: dict[str, str] | None = None, **spec: object) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": annotations or {}}, "spec": spec}


def test_ranges_are_one_of_each_family() -> None:
    pair = ["10.0.0.0/24", "10.0.0.0/24"]
    text, repeated = complaints(NodeStrategy(), node(podCIDRs=pair))
    assert repeated == 'spec.podCIDRs[1]: Duplicate value: "10.0.0.0/24"'
    assert text.endswith('["10.0.0.0/24","10.0.0.0/24"]: may specify no more than one CIDR for each IP family')
    _, broken, family = complaints(NodeStrategy(), node(podCIDRs=["x", "fd00::/64"]))
    assert broken.startswith("spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:")
    assert family.endswith("may specify no more than one CIDR for each IP family")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("taints", "x", ["metadata.annotations: Invalid value: "]),
        ("taints", '[{"key":"a"}]', ["metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value"]),
        ("preferAvoidPods", "x", ["metadata.annotations.AvoidPods: Invalid value: "]),
        (
            "preferAvoidPods",
            '{"preferAvoidPods":[{}]}',
            ["metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value"],
        ),
        ("preferAvoidPods", '{"preferAvoidPods":[{"podSignature":{"podController":{"controller":true}}}]}', []),
    ],
)
def test_old_annotations(name: str, value: str, wanted: list[str]) -> None:
    found = complaints(NodeStrategy(), node({f"scheduler.alpha.kubernetes.io/{name}": value}))
    assert len(found) == len(wanted)
    assert all(text.startswith(start) for text, start in zip(found, wanted, strict=True))


def test_configuration_from_config_maps_is_gone_from_status_too() -> None:
    old = node()
    new = {**old, "status": {"config": {"error": "a"}, "volumesInUse": ["v"]}}
    NodeStatusStrategy().prepare_for_update(context(), new, old)
    assert new["status"] == {"volumesInUse": ["v"]}
