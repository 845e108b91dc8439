from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api.machinery import fields
from setpoint.api.machinery.fields import Write
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.schema.trees import load
from setpoint.api.machinery.status import StatusError

Json = dict[str, Any]
T0, T1, T2 = (f"2030-01-01T00:00:0{second}Z" for second in range(3))
STATUS = (("status",),)


def tree(name: str) -> Node:
    return load("1.36").tree(f"io.k8s.api.{name}")


CONFIG_MAP, POD, TEMPLATE = tree("core.v1.ConfigMap"), tree("core.v1.Pod"), tree("core.v1.PodTemplate")


def config_map(data: dict[str, str] | None = None, **metadata: Any) -> Json:
    obj: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", **metadata}}
    return obj if data is None else {**obj, "data": data}


def created(data: dict[str, str], manager: str = "a", **metadata: Any) -> Json:
    obj = config_map(data, uid="1", **metadata)
    fields.update(None, obj, CONFIG_MAP, Write(manager, "v1", T0))
    return obj


def updated(old: Json, manager: str, time: str = T1, data: dict[str, str] | None = None, **metadata: Any) -> Json:
    new = {**old, "metadata": {**old["metadata"], **metadata}}
    if data is not None:
        new["data"] = data
    fields.update(old, new, CONFIG_MAP, Write(manager, "v1", time))
    return new


def applied(live: Json | None, manager: str, config: Json, *, force: bool = False, time: str = T1) -> Json:
    return fields.apply(live, config, CONFIG_MAP, Write(manager, "v1", time, "ConfigMap"), force=force)


def owners(obj: Json) -> dict[tuple[str, str], Json]:
    return {(entry["manager"], entry["operation"]): entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", [])}


# --- updates ---


def test_a_create_owns_what_it_sets_but_not_its_identity() -> None:
    obj = created({"k": "v"}, labels={"a": "1"})
    assert obj["metadata"]["managedFields"] == [
        {
            "manager": "a",
            "operation": "Update",
            "apiVersion": "v1",
            "time": T0,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:k": {}}, "f:metadata": {"f:labels": {".": {}, "f:a": {}}}},
        }
    ]


def test_a_create_of_a_pod_owns_items_by_key_and_no_structs_that_are_always_there() -> None:
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {
            "containers": [{"name": "c", "image": "i", "args": ["a"], "ports": [{"containerPort": 80}], "resources": {}}],
            "nodeSelector": {"a": "b"},
            "terminationGracePeriodSeconds": 30,
        },
        "status": {"phase": "Running"},
    }
    fields.update(None, pod, POD, Write("a", "v1", T0, reset=STATUS))
    container: Json = {".": {}, "f:args": {}, "f:image": {}, "f:name": {}, "f:resources": {}}
    container["f:ports"] = {".": {}, 'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}
    assert owners(pod)["a", "Update"] == {
        "f:spec": {
            "f:containers": {'k:{"name":"c"}': container},
            "f:nodeSelector": {},
            "f:terminationGracePeriodSeconds": {},
        }
    }


def test_an_update_takes_what_it_changed() -> None:
    obj = updated(created({"k": "v", "l": "w"}), "b", data={"k": "v", "l": "x", "n": "y"})
    assert owners(obj) == {
        ("a", "Update"): {"f:data": {".": {}, "f:k": {}}},
        ("b", "Update"): {"f:data": {"f:l": {}, "f:n": {}}},
    }
    assert [entry["time"] for entry in obj["metadata"]["managedFields"]] == [T0, T1]


def test_what_is_removed_is_nobodys() -> None:
    obj = updated(created({"k": "v", "l": "w"}), "b", data={"l": "w"})
    assert owners(obj) == {("a", "Update"): {"f:data": {".": {}, "f:l": {}}}}


def test_an_update_without_a_change_keeps_the_entries_as_they_are() -> None:
    old = created({"k": "v"})
    assert updated(old, "b")["metadata"]["managedFields"] is old["metadata"]["managedFields"]


def test_the_status_endpoint_has_entries_of_its_own() -> None:
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}, "status": {}}
    fields.update(None, pod, POD, Write("a", "v1", T0))
    pod["metadata"]["managedFields"] = [
        {"manager": "a", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:x": {}}}}
    ]
    new = {**pod, "metadata": {"name": "p", "managedFields": []}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    fields.update(pod, new, POD, Write("a", "v1", T1, subresource="status"))
    assert [entry.get("subresource") for entry in new["metadata"]["managedFields"]] == [None, "status"]
    condition: Json = {".": {}, "f:status": {}, "f:type": {}}
    assert new["metadata"]["managedFields"][1]["fieldsV1"] == {
        "f:status": {"f:conditions": {".": {}, 'k:{"type":"Ready"}': condition}}
    }


def test_entries_of_scale_have_no_time() -> None:
    old = created({"k": "v"})
    new = {**old, "metadata": dict(old["metadata"]), "data": {"k": "w"}}
    fields.update(old, new, CONFIG_MAP, Write("s", "v1", T1, subresource="scale"))
    entry = new["metadata"]["managedFields"][0]
    assert (entry["manager"], entry["subresource"], "time" in entry) == ("s", "scale", False)


def test_items_that_stand_twice_in_a_list_are_owned_as_one_mark() -> None:
    env = [{"name": "E", "value": "1"}, {"name": "E", "value": "2"}]
    obj: Json = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": "t"},
        "template": {"metadata": {}, "spec": {"containers": [{"name": "c", "env": env}]}},
    }
    fields.update(None, obj, TEMPLATE, Write("u", "v1", T0))
    spec = owners(obj)["u", "Update"]["f:template"]["f:spec"]
    assert spec["f:containers"]['k:{"name":"c"}']["f:env"] == {".": {}, 'k:{"name":"E"}': {}}


@pytest.mark.parametrize("reset", [[], [{}]])
def test_entries_can_be_cleared_and_are_not_kept_after_that(reset: list[Json]) -> None:
    cleared = updated(created({"k": "v"}), "u", managedFields=reset)
    assert "managedFields" not in cleared["metadata"]
    assert "managedFields" not in updated(cleared, "u", data={"k": "w"})["metadata"]


def test_entries_that_are_sent_replace_the_present_ones() -> None:
    entry = {
        "manager": "o",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:k": {}}},
    }
    old = created({"k": "v"})
    assert owners(updated(old, "u", managedFields=[entry])) == {("o", "Apply"): {"f:data": {"f:k": {}}}}
    assert owners(updated(old, "u", managedFields=[{**entry, "operation": "Delete"}])) == owners(old)
    assert owners(updated(old, "u", managedFields=[{**entry, "fieldsType": "FieldsV9"}])) == owners(old)
    assert owners(updated(old, "u", managedFields=[{**entry, "fieldsV1": {"x:data": {}}}])) == {}


def test_ten_updaters_are_kept_and_older_ones_joined() -> None:
    obj = created({"k0": "v"}, "u00")
    for number in range(1, 12):
        obj = updated(obj, f"u{number:02}", f"2030-01-01T00:00:{number:02}Z", {**obj["data"], f"k{number}": "v"})
    names = [entry["manager"] for entry in obj["metadata"]["managedFields"]]
    assert names == ["ancient-changes", *(f"u{number:02}" for number in range(3, 12))]
    assert owners(obj)["ancient-changes", "Update"] == {"f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}}


def test_a_write_that_changes_times_alone_is_recognised() -> None:
    old = created({"k": "v"})
    new = copy.deepcopy(old)
    new["metadata"]["managedFields"][0]["time"] = T2
    assert fields.keep_times(new, old)
    assert new["metadata"]["managedFields"] is old["metadata"]["managedFields"]
    assert not fields.keep_times(copy.deepcopy({**old, "data": {"k": "w"}}), old)
    assert not fields.keep_times(copy.deepcopy({**old, "x": 1}), old)
    other = copy.deepcopy(old)
    other["metadata"]["managedFields"][0]["manager"] = "b"
    assert not fields.keep_times(other, old)


# --- apply ---


def test_apply_creates_and_owns_leaves_only() -> None:
    obj = applied(None, "a", config_map({"k": "v"}, labels={"a": "1"}))
    assert obj["data"] == {"k": "v"}
    assert owners(obj) == {("a", "Apply"): {"f:data": {"f:k": {}}, "f:metadata": {"f:labels": {"f:a": {}}}}}


def test_another_value_of_an_owned_field_is_a_conflict_until_forced() -> None:
    live = applied(None, "a", config_map({"k": "v", "l": "w"}))
    with pytest.raises(StatusError) as caught:
        applied(live, "b", config_map({"k": "other"}))
    error = caught.value
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == 'Apply failed with 1 conflict: conflict with "a": .data.k'
    assert error.details == {"causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": ".data.k"}]}
    forced = applied(live, "b", config_map({"k": "other"}), force=True)
    assert forced["data"] == {"k": "other", "l": "w"}
    assert owners(forced) == {("a", "Apply"): {"f:data": {"f:l": {}}}, ("b", "Apply"): {"f:data": {"f:k": {}}}}


def test_several_conflicts_are_listed_by_manager() -> None:
    live = applied(None, "a", config_map({"k": "v", "l": "w"}))
    live = updated({**live, "metadata": {**live["metadata"], "uid": "1"}}, "u", data={**live["data"], "o": "u"})
    with pytest.raises(StatusError) as caught:
        applied(live, "z", config_map({"k": "z", "l": "z", "o": "z"}))
    assert caught.value.message == (
        'Apply failed with 3 conflicts: conflicts with "a":\n- .data.k\n- .data.l\nconflicts with "u" using v1:\n- .data.o'
    )


def test_fields_left_out_are_removed_unless_somebody_else_owns_them() -> None:
    live = applied(None, "a", config_map({"k": "v", "l": "w"}, labels={"a": "1"}))
    live = applied(live, "b", config_map({"l": "w"}))
    left = applied(live, "a", config_map({"n": "x"}))
    assert left["data"] == {"l": "w", "n": "x"}
    assert "labels" not in left["metadata"]
    assert owners(left) == {("a", "Apply"): {"f:data": {"f:n": {}}}, ("b", "Apply"): {"f:data": {"f:l": {}}}}


def test_nothing_applied_drops_the_entry() -> None:
    live = applied(None, "a", config_map({"k": "v"}))
    left = applied(live, "a", config_map())
    assert not left.get("data")
    assert "managedFields" not in left["metadata"]


def test_an_apply_that_changes_nothing_gives_a_new_owner_no_time() -> None:
    live = applied(None, "a", config_map({"k": "v"}), time=T0)
    shared = applied(live, "b", config_map({"k": "v"}))
    assert [(entry["manager"], entry.get("time")) for entry in shared["metadata"]["managedFields"]] == [("b", None), ("a", T0)]


def test_an_object_without_entries_belongs_to_before_first_apply() -> None:
    live = config_map({"k": "v"}, uid="1")
    obj = applied(live, "u", config_map({"k": "v"}))
    assert owners(obj)["before-first-apply", "Update"] == {"f:data": {".": {}, "f:k": {}}}
    with pytest.raises(StatusError, match=r'conflict with "before-first-apply" using v1: \.data\.k$'):
        applied(obj, "u", config_map({"k": "w"}))


def test_lists_are_merged_by_key_in_a_sensible_order() -> None:
    def template(*containers: Json) -> Json:
        spec = {"spec": {"containers": list(containers)}}
        return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"}, "template": spec}

    def apply(live: Json | None, manager: str, config: Json) -> Json:
        return fields.apply(live, config, TEMPLATE, Write(manager, "v1", T1, "PodTemplate"))

    live = apply(None, "a", template({"name": "one", "image": "i"}, {"name": "two", "image": "i"}))
    both = apply(live, "b", template({"name": "zero", "image": "i"}, {"name": "two", "command": ["x"]}))
    merged = both["template"]["spec"]["containers"]
    assert [container["name"] for container in merged] == ["one", "zero", "two"]
    assert merged[2] == {"name": "two", "image": "i", "command": ["x"]}
    less = apply(both, "a", template({"name": "one", "image": "i"}))
    assert less["template"]["spec"]["containers"][2] == {"name": "two", "command": ["x"]}


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({"apiVersion": "v1", "kind": "Secret"}, 400, "invalid object type: /v1, Kind=Secret"),
        ({"kind": "ConfigMap"}, 400, "invalid object type: /, Kind=ConfigMap"),
        (config_map(managedFields=[]), 400, "metadata.managedFields must be nil"),
        (
            {**config_map(odd=1), "nosuch": 2},
            500,
            (
                "failed to create typed patch object (/m; /v1, Kind=ConfigMap): errors:\n"
                "  .metadata.odd: field not declared in schema\n  .nosuch: field not declared in schema"
            ),
        ),
        (
            {**config_map(), "data": {"k": 1}},
            500,
            (
                "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .data.k: expected string, "
                "got &value.valueUnstructured{Value:1}"
            ),
        ),
        (
            {**config_map(namespace="n"), "data": ["a"]},
            500,
            "failed to create typed patch object (n/m; /v1, Kind=ConfigMap): .data: expected map, got &{[a]}",
        ),
        (
            config_map(finalizers=["x/b", "x/b"]),
            500,
            (
                "failed to create typed patch object (/m; /v1, Kind=ConfigMap): .metadata.finalizers: "
                'duplicate entries for key [="x/b"]'
            ),
        ),
    ],
)
def test_what_cannot_be_applied(config: Json, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        applied(None, "a", config)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_kubectl_takes_over_what_its_annotation_says_it_applied() -> None:
    name = "kubectl.kubernetes.io/last-applied-configuration"
    annotation = '{"apiVersion":"v1","data":{"k":"v","l":"w"},"kind":"ConfigMap","metadata":{"name":"m"}}'
    live = created({"k": "v", "l": "w"}, "kubectl-client-side-apply", annotations={name: annotation})
    with pytest.raises(StatusError):
        applied(live, "tool", config_map({"k": "v2"}))
    obj = applied(live, "kubectl", config_map({"k": "v2"}))
    assert obj["data"] == {"k": "v2", "l": "w"}
    assert '"k":"v2"' in obj["metadata"]["annotations"][name]
    assert '"l"' not in obj["metadata"]["annotations"][name]


# --- laws ---

DATA = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), max_size=4)


@given(DATA, DATA)
def test_apply_twice_is_apply_once(before: dict[str, str], data: dict[str, str]) -> None:
    live = created(before, "u") if before else None
    once = applied(live, "a", config_map(data), force=True)
    again = applied(once, "a", config_map(data), force=True, time=T2)
    assert again == once


@given(DATA, DATA)
def test_applies_of_different_fields_commute(one: dict[str, str], two: dict[str, str]) -> None:
    two = {key.upper(): value for key, value in two.items()}
    first = applied(applied(None, "a", config_map(one)), "b", config_map(two))
    second = applied(applied(None, "b", config_map(two)), "a", config_map(one))
    assert (first.get("data") or {}) == (second.get("data") or {}) == {**one, **two}
    assert owners(first) == owners(second)


@given(DATA, DATA, DATA)
def test_nothing_that_is_given_changes(before: dict[str, str], data: dict[str, str], more: dict[str, str]) -> None:
    live = created(before)
    kept = copy.deepcopy(live)
    applied(applied(live, "a", config_map(data), force=True), "b", config_map(more), force=True)
    updated(live, "c", data=more)
    assert live == kept


@given(DATA, DATA)
def test_every_field_has_an_owner_once_it_is_tracked(before: dict[str, str], after: dict[str, str]) -> None:
    obj = updated(created({"k": "v", **before}), "b", data={"k": "v", **after})
    owned = {name for entry in owners(obj).values() for name in entry.get("f:data", {})}
    assert {f"f:{key}" for key in obj["data"]} <= owned
