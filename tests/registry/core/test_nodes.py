"""What a node may say of its ranges, and in annotations that came before fields."""

from __future__ import annotations

import pytest
from tests.registry.builders import Json, complaints

from setpoint.registry.core.node import NodeStrategy


def node(annotations: dict[str, str] | None = None, **spec: object) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "annotations": annotations or {}}, "spec": spec}


def test_ranges_are_one_of_each_family() -> None:
    pair = ["10.0.0.0/24", "10.0.0.0/24"]
    (text,) = complaints(NodeStrategy(), node(podCIDRs=pair))
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
