"""Definitions of custom resources."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.registry.builders import complaints, context, created

from setpoint.registry.apiextensions.definition import DefinitionStrategy

Json = dict[str, Any]
SCHEMA = {"openAPIV3Schema": {"type": "object"}}


def version(name: str, *, storage: bool = False, **fields: Any) -> Json:
    return {"name": name, "served": True, "storage": storage, "schema": SCHEMA, **fields}


def definition(*versions: Json, **spec: Any) -> Json:
    group = spec.get("group", "demo.test")
    usual = {"group": "demo.test", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}}
    chosen = list(versions) or [version("v1", storage=True)]
    return {"metadata": {"name": f"widgets.{group}"}, "spec": {**usual, "versions": chosen, **copy.deepcopy(spec)}}


def test_names_and_conversion_are_filled_in_and_the_stored_version_noted() -> None:
    obj = created(DefinitionStrategy(), definition())
    assert obj["spec"]["names"] == {"plural": "widgets", "kind": "Widget", "singular": "widget", "listKind": "WidgetList"}
    assert obj["spec"]["conversion"] == {"strategy": "None"}
    assert obj["status"] == {"storedVersions": ["v1"]}
    assert complaints(DefinitionStrategy(), definition()) == []


def test_a_new_stored_version_is_added_and_an_old_one_may_not_go() -> None:
    strategy, old = DefinitionStrategy(), created(DefinitionStrategy(), definition())
    new = definition(version("v1"), version("v2", storage=True))
    assert complaints(strategy, new, old) == []
    assert new["status"]["storedVersions"] == ["v1", "v2"]
    [complaint] = complaints(strategy, definition(version("v2", storage=True)), new)
    assert complaint.startswith('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions')


def test_what_versions_share_is_complained_of_once() -> None:
    columns: Json = {"additionalPrinterColumns": [{"name": "A", "type": "float", "jsonPath": ".a"}]}
    both = definition(version("v1", storage=True, **columns), version("v2", **columns))
    assert [text.split(":")[0] for text in complaints(DefinitionStrategy(), both)] == ["spec.additionalPrinterColumns[0].type"]
    one = definition(version("v1", storage=True, **columns), version("v2"))
    assert [text.split(":")[0] for text in complaints(DefinitionStrategy(), one)] == [
        "spec.versions[0].additionalPrinterColumns[0].type"
    ]


@pytest.mark.parametrize(
    ("versions", "field"),
    [
        ([version("v1", storage=True), version("v1")], "spec.versions"),
        ([version("v1")], "spec.versions"),
        ([{**version("v1", storage=True), "schema": None}], "spec.versions[0].schema.openAPIV3Schema"),
        ([version("v1", storage=True, deprecationWarning="x")], "spec.versions[0].deprecationWarning"),
        (
            [version("v1", storage=True, selectableFields=[{"jsonPath": ".a"}], schema={})],
            "spec.versions[0].schema.openAPIV3Schema",
        ),
        ([version("v1", storage=True, subresources={"scale": {"specReplicasPath": ".a"}})], "spec.subresources.scale"),
    ],
)
def test_faults_of_versions(versions: list[Json], field: str) -> None:
    assert complaints(DefinitionStrategy(), definition(*versions))[0].startswith(field)


@pytest.mark.parametrize(("word", "wrong"), [("", 1), ("sure", 1), ("https://x.example/1", 0), ("unapproved, for tests", 0)])
def test_groups_of_the_community_need_approval(word: str, wrong: int) -> None:
    obj = definition(group="demo.k8s.io")
    if word:
        obj["metadata"]["annotations"] = {"api-approved.kubernetes.io": word}
    assert len(complaints(DefinitionStrategy(), obj)) == wrong


def test_scope_and_kind_are_for_life_once_established() -> None:
    old = created(DefinitionStrategy(), definition())
    assert complaints(DefinitionStrategy(), definition(scope="Cluster"), old) == []
    old["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    assert complaints(DefinitionStrategy(), definition(scope="Cluster"), old) == [
        'spec.scope: Invalid value: "Cluster": field is immutable'
    ]


def test_certificates_of_a_webhook_are_read_once_it_is_established() -> None:
    conversion: Json = {
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://x.test", "caBundle": "eA=="}},
    }
    old = created(DefinitionStrategy(), definition())
    assert complaints(DefinitionStrategy(), definition(conversion=conversion), old) == []
    old["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    [complaint] = complaints(DefinitionStrategy(), definition(conversion=conversion), old)
    assert complaint.startswith("spec.conversion.webhookClientConfig.caBundle: Invalid value")
    old["spec"]["conversion"] = conversion
    assert complaints(DefinitionStrategy(), definition(conversion=conversion), old) == []


def test_a_webhook_that_converts_must_be_somewhere() -> None:
    found = complaints(DefinitionStrategy(), definition(conversion={"strategy": "Webhook"}))
    assert [text.split(":")[0] for text in found] == [
        "spec.conversion.webhookClientConfig",
        "spec.conversion.conversionReviewVersions",
    ]


def test_status_is_the_servers() -> None:
    obj = definition()
    obj["status"] = {"storedVersions": ["v0"]}
    DefinitionStrategy().prepare_for_create(context(), obj)
    assert obj["status"] == {"storedVersions": ["v1"]}


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        *((".spec.a", 0), (".spec.b", 1), (".spec.none", 1), (".metadata.name", 1), ("spec.a", 1), (".spec.b[0]", 1), ("", 1)),
        *((".spec.", 1), (".", 1), ("[a]", 1), (".metadata", 2)),
    ],
)
def test_selectable_fields_are_scalars_of_the_schema(path: str, wrong: int) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "metadata": {"type": "object"}}}}
    obj = definition({**version("v1", storage=True, selectableFields=[{"jsonPath": path}]), "schema": schema})
    assert len(complaints(DefinitionStrategy(), obj)) == wrong


def test_one_field_is_selected_by_once_and_eight_are_enough() -> None:
    known: Json = {name: {"type": "string"} for name in "abcdefghi"}
    schema = {"openAPIV3Schema": {"type": "object", "properties": known}}
    fields = [{"jsonPath": f".{name}"} for name in "aabcdefghi"]
    obj = definition({**version("v1", storage=True, selectableFields=fields), "schema": schema})
    assert complaints(DefinitionStrategy(), obj) == [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".a"',
        "spec.selectableFields: Too many: 9: must have at most 8 items",
    ]


def test_a_bad_name_of_the_first_version_is_told_twice() -> None:
    found = complaints(DefinitionStrategy(), definition(version("V_1", storage=True)))
    assert [text.split(":")[0] for text in found] == ["spec.versions[0].name", "spec.version"]


@pytest.mark.parametrize(
    ("deprecated", "warning", "words"),
    [
        (False, "", ["can only be set for deprecated versions"]),
        (True, "é\t", ["must only contain printable UTF-8 characters; non-printable character found at index 2"]),
        (True, "x" * 257, ["must be <= 256 characters long"]),
    ],
)
def test_what_a_deprecation_may_say(deprecated: bool, warning: str, words: list[str]) -> None:
    found = complaints(
        DefinitionStrategy(), definition(version("v1", storage=True, deprecated=deprecated, deprecationWarning=warning))
    )
    assert [text.rpartition('": ')[2] for text in found] == words


def test_a_definition_that_keeps_everything() -> None:
    obj = definition(
        version("v1", storage=True, schema={"openAPIV3Schema": {"type": "object", "default": {"apiVersion": "v1", "kind": "A"}}})
    )
    obj["spec"] |= {"preserveUnknownFields": True, "conversion": {"strategy": "Odd"}}
    assert [text.split(":")[0] for text in complaints(DefinitionStrategy(), obj)] == [
        *("spec.preserveUnknownFields", "spec.conversion.strategy", "spec.conversion.strategy", "spec.preserveUnknownFields"),
    ]


@pytest.mark.parametrize(("name", "wrong"), [("widgets.demo.test", 0), ("gadgets.demo.test", 1), ("Widgets_", 2)])
def test_the_name_follows_from_the_spec(name: str, wrong: int) -> None:
    assert len(DefinitionStrategy().name_rule(definition())(name, prefix=False)) == wrong
