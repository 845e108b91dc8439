"""The trees of built-in kinds, for every minor."""

from __future__ import annotations

import time

import pytest

from setpoint.api.machinery.schema import trees

CORE = "io.k8s.api.core.v1."


@pytest.mark.parametrize("minor", [f"1.{minor}" for minor in range(25, 38)])
def test_every_minor_has_a_pack(minor: str) -> None:
    pack = trees.load(minor)
    containers = pack.tree(CORE + "Pod").fields["spec"].fields["containers"]
    assert (containers.kind, containers.list_type, containers.list_keys, containers.merge_key) == (
        "list",
        "map",
        ("name",),
        "name",
    )
    assert pack.definition_of("apps", "v1", "Deployment") == "io.k8s.api.apps.v1.Deployment"


def test_an_unknown_minor_is_named() -> None:
    with pytest.raises(trees.PackMissing, match=r"1\.2\.pack"):
        trees.load("1.2")


def test_what_a_node_knows() -> None:
    spec = trees.load().tree(CORE + "PodSpec").fields
    assert (spec["priority"].kind, spec["priority"].format, spec["priority"].pointer) == ("integer", "int32", True)
    assert (spec["restartPolicy"].go, spec["hostNetwork"].pointer) == ("v1.RestartPolicy", False)
    assert spec["containers"].always
    assert spec["volumes"].patch_strategy == "merge,retainKeys"
    assert spec["overhead"].items is not None
    assert spec["overhead"].items.kind == "quantity"
    assert trees.load().tree(CORE + "ServicePort").fields["targetPort"].kind == "int-or-string"
    assert trees.load().tree(CORE + "Secret").fields["data"].items.kind == "bytes"  # type: ignore[union-attr]  # a map has items
    assert trees.load().tree(CORE + "LocalObjectReference").atomic
    assert trees.load().tree("io.k8s.api.coordination.v1.LeaseSpec").fields["renewTime"].kind == "micro-time"


def test_recursive_types_are_made_as_they_are_walked() -> None:
    node = trees.load().tree(trees.SCHEMA)
    for _ in range(50):
        node = node.fields["properties"].items  # type: ignore[assignment]  # a map has items
    assert node.fields["maximum"].kind == "number"
    assert set(node.fields["items"].choices) == {"object", "list"}


def test_descriptions_are_apart() -> None:
    texts = trees.load().descriptions
    assert texts.of(CORE + "Pod").startswith("Pod is a collection of containers")
    assert texts.of_field(CORE + "PodSpec", "nodeName")
    assert texts.of("nosuch") == ""


def test_loading_is_quick() -> None:
    """10 ms is the goal on an idle machine; the bound leaves room for a busy one."""

    def once() -> float:
        started = time.process_time()
        trees.load.__wrapped__("1.36").tree(CORE + "Pod")
        return time.process_time() - started

    assert min(once() for _ in range(5)) < 0.03
