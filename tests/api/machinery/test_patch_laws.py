"""What must hold of patches and applies whatever they say: the laws of RFC 6902, RFC 7386 and of server-side apply."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint.api.machinery import fields
from setpoint.api.machinery.fields import Write
from setpoint.api.machinery.patch import json_patch, merge, strategic
from setpoint.api.machinery.schema.canonical import canonicalise
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.schema.trees import load
from setpoint.api.machinery.status import StatusError

Json = dict[str, Any]
few = settings(max_examples=50)

TEMPLATE = load("1.36").tree("io.k8s.api.core.v1.PodTemplate")

names = st.sampled_from("abcd")
scalars = st.one_of(st.integers(-3, 3), st.booleans(), st.sampled_from(["", "x", "a/b", "m~n"]))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "a/b", "m~n"]), inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.dictionaries(st.sampled_from(["a", "b", "a/b", "m~n"]), values, max_size=4)


def pointer(*keys: str) -> str:
    return "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)


# --- RFC 6902 ---


@given(documents, st.sampled_from(["a", "b", "a/b", "m~n"]), values)
def test_what_was_added_is_there(document: Json, key: str, value: Any) -> None:
    path = pointer(key)
    added = [{"op": "add", "path": path, "value": value}, {"op": "test", "path": path, "value": value}]
    assert json_patch.apply(document, added) == {**document, key: value}


@given(documents, st.sampled_from(["a", "b", "a/b", "m~n"]), values)
def test_a_move_is_a_removal_and_an_addition_and_comes_back(document: Json, key: str, value: Any) -> None:
    document = {**document, key: value}
    there, back = pointer(key), pointer("elsewhere")
    moved = json_patch.apply(document, [{"op": "move", "from": there, "path": back}])
    by_hand = [{"op": "remove", "path": there}, {"op": "add", "path": back, "value": value}]
    assert moved == json_patch.apply(document, by_hand)
    assert json_patch.apply(moved, [{"op": "move", "from": back, "path": there}]) == document


@given(documents, values)
def test_a_copy_is_equal_and_apart(document: Json, value: Any) -> None:
    document = {**document, "a": {"in": value}}
    change = {"op": "replace", "path": "/copy/in", "value": "changed"}
    copied = json_patch.apply(document, [{"op": "copy", "from": "/a", "path": "/copy"}, change])
    assert (copied["a"], copied["copy"]) == ({"in": value}, {"in": "changed"})


@given(st.lists(scalars, max_size=5), scalars, st.data())
def test_lists_shift_as_items_come_and_go(items: list[Any], item: Any, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(items)))
    inserted = json_patch.apply({"l": items}, [{"op": "add", "path": f"/l/{at}", "value": item}])
    assert inserted["l"] == [*items[:at], item, *items[at:]]
    assert json_patch.apply(inserted, [{"op": "remove", "path": f"/l/{at}"}]) == {"l": items}


@given(documents, st.lists(st.tuples(st.sampled_from(["add", "remove", "replace", "test"]), names, values), max_size=5))
def test_a_patch_changes_nothing_that_it_is_given(document: Json, steps: list[tuple[str, str, Any]]) -> None:
    before = copy.deepcopy(document)
    operations = [{"op": op, "path": pointer(key), "value": value} for op, key, value in steps]
    first: Any
    second: Any
    try:
        first = json_patch.apply(document, operations)
    except StatusError as error:
        first = error.code
    try:
        second = json_patch.apply(copy.deepcopy(before), operations)
    except StatusError as error:
        second = error.code
    assert document == before
    assert first == second


# --- RFC 7386 ---


def by_the_rfc(target: Any, patch: Any) -> Any:
    """MergePatch of the RFC, section 2, word for word."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = by_the_rfc(merged.get(name), value)
    return merged


patches = st.dictionaries(names, st.one_of(st.none(), scalars, st.dictionaries(names, st.one_of(st.none(), scalars))), max_size=4)


@given(documents, patches)
def test_merging_is_the_rfcs(document: Json, patch: Json) -> None:
    before = copy.deepcopy(document)
    assert merge.apply(document, patch) == by_the_rfc(document, patch)
    assert document == before


@given(documents, patches, patches)
def test_a_later_merge_patch_wins(document: Json, first: Json, second: Json) -> None:
    twice = merge.apply(merge.apply(document, first), second)
    assert twice == by_the_rfc(by_the_rfc(document, first), second)
    assert merge.apply(twice, second) == twice


# --- strategic merge ---

images = st.sampled_from(["i:1", "i:2", "i:3"])
containers = st.lists(
    st.builds(
        lambda name, image, args, env: {
            "name": name,
            "image": image,
            **({"args": args} if args else {}),
            **({"env": [{"name": key, "value": value} for key, value in env.items()]} if env else {}),
        },
        names,
        images,
        st.lists(images, max_size=2),
        st.dictionaries(st.sampled_from("XYZ"), images, max_size=2),
    ),
    max_size=3,
    unique_by=lambda container: container["name"],
)
templates = st.builds(
    lambda labels, found: {"metadata": {"name": "t", "labels": labels}, "template": {"spec": {"containers": found}}},
    st.dictionaries(names, images, min_size=1),
    containers,
)


def difference(old: Json, new: Json, node: Node) -> Json:
    """A strategic merge patch that makes `new` of `old`, as kubectl makes it."""
    patch: Json = {name: None for name in old if name not in new}
    for name, value in new.items():
        child, before = node.child(name), old.get(name)
        if before == value:
            continue
        if child is not None and isinstance(value, dict) and isinstance(before, dict):
            patch[name] = difference(before, value, child)
        elif child is not None and child.merge_key and isinstance(before, list) and child.items is not None:
            patch[name] = of_lists(before, value, child.items, child.merge_key)
            patch[f"$setElementOrder/{name}"] = [{child.merge_key: item[child.merge_key]} for item in value]
        else:
            patch[name] = value
    return patch


def of_lists(old: list[Json], new: list[Json], node: Node, key: str) -> list[Json]:
    before = {item[key]: item for item in old}
    kept = {item[key] for item in new}
    changes = [{key: item[key], **difference(before.get(item[key], {}), item, node)} for item in new]
    return [*changes, *({"$patch": "delete", key: name} for name in before if name not in kept)]


@given(templates, templates)
@few
def test_a_strategic_difference_makes_the_new_of_the_old(old: Json, new: Json) -> None:
    before = copy.deepcopy(old)
    made = strategic.apply(old, difference(old, new, TEMPLATE), TEMPLATE)
    assert canonicalise(copy.deepcopy(made), TEMPLATE) == canonicalise(copy.deepcopy(new), TEMPLATE)
    assert old == before


@given(templates, templates)
@few
def test_a_strategic_patch_twice_is_one(old: Json, new: Json) -> None:
    patch = difference(old, new, TEMPLATE)
    once = strategic.apply(old, patch, TEMPLATE)
    assert canonicalise(copy.deepcopy(strategic.apply(once, patch, TEMPLATE)), TEMPLATE) == canonicalise(
        copy.deepcopy(once), TEMPLATE
    )


# --- server-side apply ---


configs = templates.filter(lambda config: bool(config["template"]["spec"]["containers"]))


def apply(live: Json | None, manager: str, config: Json, *, force: bool = True) -> Json:
    config = {"apiVersion": "v1", "kind": "PodTemplate", **copy.deepcopy(config)}
    write = Write(manager, "v1", "2030-01-01T00:00:00Z", "PodTemplate")
    return canonicalise(fields.apply(live, config, TEMPLATE, write, force=force), TEMPLATE)


def content(obj: Json) -> Json:
    """An object without its entries; containers by name, since their order depends on who came first."""
    found = copy.deepcopy(obj)
    found["metadata"].pop("managedFields", None)
    spec = (found.get("template") or {}).get("spec") or {}
    spec["containers"] = sorted(spec.get("containers") or [], key=lambda container: str(container["name"]))
    for container in spec["containers"]:
        container.get("env", []).sort(key=lambda variable: str(variable["name"]))
    return found


def owned(obj: Json) -> dict[str, Json]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"]["managedFields"]}


@given(configs, configs)
@few
def test_an_apply_twice_is_one(first: Json, second: Json) -> None:
    once = apply(apply(None, "a", first), "b", second)
    assert apply(once, "b", second) == once


def renamed(config: Json) -> Json:
    """The configuration with keys that no other has."""
    config = copy.deepcopy(config)
    config["metadata"]["labels"] = {f"{name}{name}": value for name, value in config["metadata"]["labels"].items()}
    for container in config["template"]["spec"]["containers"]:
        container["name"] *= 2
    return config


@given(configs, configs)
@few
def test_applies_of_disjoint_fields_commute(one: Json, other: Json) -> None:
    other = renamed(other)
    left = apply(apply(None, "a", one, force=False), "b", other, force=False)
    right = apply(apply(None, "b", other, force=False), "a", one, force=False)
    assert content(left) == content(right)
    assert owned(left) == owned(right)


@given(configs, configs)
@few
def test_what_was_applied_last_is_there_and_what_is_left_out_goes(first: Json, second: Json) -> None:
    alone = content(apply(None, "a", second))
    assert content(apply(apply(None, "a", first), "a", second)) == alone


@given(configs, configs)
@few
def test_an_unforced_apply_conflicts_or_takes_nothing_from_anybody(first: Json, second: Json) -> None:
    live = apply(None, "a", first)
    try:
        both = apply(live, "b", second, force=False)
    except StatusError as error:
        reasons = {cause["reason"] for cause in (error.details or {})["causes"]}
        refused = (error.code, reasons)
        assert refused == (409, {"FieldManagerConflict"})
    else:
        assert owned(both)["a"] == owned(live)["a"]


def test_parts_of_what_became_atomic_are_owned_whole() -> None:
    granular = Node("object", builtin=False).lazily(lambda: {"spec": spec("granular")})
    atomic = Node("object", builtin=False).lazily(lambda: {"spec": spec("atomic")})
    config = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"m": {"a": "1"}}}
    write = Write("a", "x.io/v1", "2030-01-01T00:00:00Z", "Thing")
    live = fields.apply(None, config, granular, write)
    assert live["metadata"]["managedFields"][0]["fieldsV1"] == {"f:spec": {"f:m": {"f:a": {}}}}
    changed = fields.apply(live, {**config, "spec": {"m": {"a": "1"}}}, atomic, Write("b", "x.io/v1", write.time, "Thing"))
    assert [entry["fieldsV1"] for entry in changed["metadata"]["managedFields"]] == [{"f:spec": {"f:m": {}}}] * 2
    other = {**config, "spec": {"m": {"b": "1"}}}
    with pytest.raises(StatusError, match=r"conflict with \"a\": \.spec\.m"):
        fields.apply(live, other, atomic, Write("b", "x.io/v1", write.time, "Thing"))


def spec(map_type: str) -> Node:
    inner = Node("map", builtin=False)
    inner.items = Node("string", builtin=False)
    inner.map_type = map_type
    return Node("object", builtin=False).lazily(lambda: {"m": inner})
