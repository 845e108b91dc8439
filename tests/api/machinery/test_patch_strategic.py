from __future__ import annotations

import copy
from typing import Any

import pytest

from setpoint.api.machinery.patch import restore, strategic
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.schema.trees import load
from setpoint.api.machinery.status import StatusError

POD: dict[str, Any] = {
    "metadata": {"finalizers": ["x/a", "x/b"], "labels": {"l": "1", "m": "2"}},
    "spec": {
        "containers": [
            {
                "name": "a",
                "image": "i:1",
                "args": ["x"],
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
            },
            {"name": "b", "image": "i:2"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "tolerations": [{"key": "t1"}, {"key": "t2"}],
    },
}


@pytest.fixture(scope="module")
def pod() -> Node:
    return load("1.36").tree("io.k8s.api.core.v1.Pod")


def patched(pod: Node, patch: Any) -> dict[str, Any]:
    before = copy.deepcopy(POD)
    result = strategic.apply(POD, patch, pod)
    assert before == POD
    return result


def names(result: dict[str, Any]) -> list[str]:
    return [container["name"] for container in result["spec"]["containers"]]


def test_lists_are_merged_by_key_and_keep_the_rest(pod: Node) -> None:
    result = patched(pod, {"spec": {"containers": [{"name": "c", "image": "i:3"}, {"name": "a", "image": "i:9"}]}})
    assert names(result) == ["c", "a", "b"]
    assert result["spec"]["containers"][1]["args"] == ["x"]
    assert result["spec"]["containers"][1]["image"] == "i:9"
    assert result["metadata"] is POD["metadata"]


def test_directives_of_items(pod: Node) -> None:
    deleted = patched(pod, {"spec": {"containers": [{"$patch": "delete", "name": "a"}, {"$patch": "delete", "name": "zzz"}]}})
    assert names(deleted) == ["b"]
    replaced = patched(pod, {"spec": {"containers": [{"$patch": "replace"}, {"name": "z"}]}})
    assert replaced["spec"]["containers"] == [{"name": "z"}]


def test_directives_of_maps(pod: Node) -> None:
    assert patched(pod, {"metadata": {"labels": {"$patch": "replace", "n": "3"}}})["metadata"]["labels"] == {"n": "3"}
    assert patched(pod, {"metadata": {"labels": {"$patch": "delete", "n": "3"}}})["metadata"]["labels"] == {}
    kept = patched(pod, {"metadata": {"labels": {"$retainKeys": ["m", "n"], "n": "3"}}})
    assert kept["metadata"]["labels"] == {"m": "2", "n": "3"}


def test_what_the_object_had_not_is_added_without_nulls_and_items_that_are_directives(pod: Node) -> None:
    env = [{"name": "A", "$patch": "delete"}, {"name": "B", "value": None}]
    result = patched(pod, {"spec": {"containers": [{"name": "a", "env": env, "securityContext": {"$patch": "delete"}}]}})
    container = result["spec"]["containers"][0]
    assert container["env"] == [{"name": "B"}]
    assert "securityContext" not in container
    assert patched(pod, {"metadata": {"annotations": {"a": None, "b": "1"}}})["metadata"]["annotations"] == {"b": "1"}
    assert patched(pod, {"metadata": {"$deleteFromPrimitiveList/none": ["a"]}}) == POD
    ordered = {"$setElementOrder/env": [{"name": "B"}], "env": [{"name": "A", "$patch": "delete"}, {"name": "B"}]}
    result = patched(pod, {"spec": {"containers": [{"name": "a", **ordered}]}})
    assert result["spec"]["containers"][0]["env"] == [{"name": "B"}]


def test_a_deletion_list_works_on_lists_that_are_replaced_otherwise(pod: Node) -> None:
    taken = patched(pod, {"spec": {"containers": [{"name": "a", "$deleteFromPrimitiveList/args": ["x"]}]}})
    assert taken["spec"]["containers"][0]["args"] == []


def test_sets_of_scalars(pod: Node) -> None:
    assert patched(pod, {"metadata": {"finalizers": ["x/c", "x/a"]}})["metadata"]["finalizers"] == ["x/c", "x/a", "x/b"]
    taken = patched(pod, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/a", "x/none"]}})
    assert taken["metadata"]["finalizers"] == ["x/b"]
    ordered = patched(pod, {"metadata": {"$setElementOrder/finalizers": ["x/d", "x/b", "x/a"], "finalizers": ["x/d"]}})
    assert ordered["metadata"]["finalizers"] == ["x/d", "x/b", "x/a"]


def test_lists_without_a_merge_strategy_are_replaced(pod: Node) -> None:
    assert patched(pod, {"spec": {"tolerations": [{"key": "t3"}]}})["spec"]["tolerations"] == [{"key": "t3"}]


def test_element_order(pod: Node) -> None:
    order = [{"name": "b"}, {"name": "c"}, {"name": "a"}]
    result = patched(pod, {"spec": {"$setElementOrder/containers": order, "containers": [{"name": "c", "image": "i:3"}]}})
    assert names(result) == ["b", "c", "a"]
    assert names(patched(pod, {"spec": {"$setElementOrder/containers": [{"name": "b"}]}})) == ["a", "b"]


def test_a_key_twice_is_merged_into_the_first(pod: Node) -> None:
    result = patched(pod, {"spec": {"containers": [{"name": "n", "image": "i:7"}, {"name": "n", "args": ["q"]}]}})
    assert result["spec"]["containers"][0] == {"name": "n", "image": "i:7", "args": ["q"]}


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ([1], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ({"metadata": {"labels": {"$patch": "merge", "o": "y"}}}, 500, "unknown patch type: merge in map: map[$patch:merge o:y]"),
        (
            {"spec": {"containers": [{"$patch": "upsert", "name": "a"}]}},
            500,
            "unknown patch type: upsert in map: map[$patch:upsert name:a]",
        ),
        (
            {"metadata": {"$setElementOrder/labels": ["x"]}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        ({"spec": {"$setElementOrder/nodeSelector": ["x"]}}, 500, "expected slice or array type, but got: struct"),
        ({"spec": {"containers": [{"$patch": "merge", "name": "a"}]}}, 500, "merging lists cannot yet be specified in the patch"),
        (
            {"spec": {"containers": [{"image": "i:9"}]}},
            500,
            "map: map[image:i:9] does not contain declared merge key: name",
        ),
        (
            {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name"], "configMap": {}}]}},
            400,
            "invalid patch format of retainKeys",
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "a"}]}},
            500,
            "The order in patch list:\n[map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
    ],
)
def test_errors(pod: Node, patch: Any, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        patched(pod, patch)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(
    ("patch", "detail"),
    [
        ({"spec": {"containers": {"name": "a"}}}, "cannot restore slice from map"),
        ({"spec": "text"}, "cannot restore struct from: string"),
        ({"metadata": {"labels": ["a"]}}, "cannot restore map from slice"),
    ],
)
def test_results_that_do_not_fit(pod: Node, patch: dict[str, Any], detail: str) -> None:
    merged = patched(pod, patch)
    with pytest.raises(StatusError) as caught:
        restore.check(merged, patch, pod, {})
    assert caught.value.code == 422
    assert caught.value.message.startswith(' "" is invalid: patch: Invalid value: "map[')
    assert caught.value.message.endswith(f": {detail}")


def test_a_good_result_fits(pod: Node) -> None:
    restore.check(POD, {}, pod, {})
