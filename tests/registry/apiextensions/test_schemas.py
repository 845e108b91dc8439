"""Schemas of definitions: structure, extensions, defaults, rules."""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest
from tests.registry.apiextensions.test_definition import definition, version
from tests.registry.builders import complaints, context, created

from setpoint.registry.apiextensions import patterns
from setpoint.registry.apiextensions.definition import DefinitionStrategy

Json = dict[str, Any]
ROOT = "spec.validation.openAPIV3Schema"


def with_schema(schema: Json, **fields: Any) -> Json:
    return definition(version("v1", storage=True, **fields) | {"schema": {"openAPIV3Schema": {"type": "object", **schema}}})


def said(schema: Json, **fields: Any) -> list[str]:
    return [text.removeprefix(ROOT) for text in complaints(DefinitionStrategy(), with_schema(schema, **fields))]


def field(**schema: Any) -> Json:
    return {"properties": {"a": schema}}


def positive(**schema: Any) -> Json:
    return {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}], **schema}


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        (field(), ".properties[a].type: Required value: must not be empty for specified object fields"),
        (field(type="array"), ".properties[a].items: Required value: must be specified"),
        ({"additionalProperties": {"type": "string"}}, ".additionalProperties: Forbidden: must not be used at the root"),
        ({"nullable": True}, ".nullable: Forbidden: nullable cannot be true at the root"),
        (field(type="string", pattern="a**"), "`**`"),
        (
            field(type="string", allOf=[{"type": "string"}]),
            ".properties[a].allOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            field(
                type="object", anyOf=[{"properties": {"metadata": {"minLength": 1}}}], properties={"metadata": {"type": "string"}}
            ),
            ".properties[a].anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context",
        ),
        (
            field(**{"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}),
            (
                ".properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if"
                " x-kubernetes-int-or-string is true"
            ),
        ),
        ({"properties": {"metadata": {"type": "object", "minProperties": 1}}}, "must not specify anything other than name"),
        (
            field(type="object", properties={"b": {"type": "string", "default": "x"}}, default={"c": 1}),
            "must not have unknown fields",
        ),
        ({"default": {"kind": "Widget"}}, ".default.apiVersion: Required value"),
        (
            field(
                **{"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
                default={"apiVersion": "v1"},
            ),
            ".properties[a].default.kind: Required value",
        ),
        (
            field(type="integer", default=1, **{"x-kubernetes-validations": [{"rule": "self > oldSelf"}]}),
            ".properties[a].default: Invalid value: 1: failed rule: self > oldSelf",
        ),
        (field(type="string", maxLength=1, default="xy"), ".properties[a].default: Too long: may not be more than 1 byte"),
        (
            field(type="object", default={"b": 0}, properties={"b": positive(default=1)}),
            ".properties[a].default.b: Invalid value: 0: failed rule: self > 0",
        ),
        (field(**positive(default=0)), ".properties[a].default: Invalid value: 0: failed rule: self > 0"),
        ({"$schema": "x"}, ": Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"),
        (field(type="null"), ".properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative"),
        (
            {"properties": {"kind": {"type": "string", "default": "A"}}},
            ".properties[kind].default: Forbidden: must not be set in top-level kind",
        ),
        (
            field(type="string", **{"x-kubernetes-validations": [{"rule": "self.size( "}]}),
            ".properties[a].x-kubernetes-validations[0].rule: Invalid value:",
        ),
    ],
)
def test_what_a_schema_may_not_say(schema: Json, complaint: str) -> None:
    assert any(complaint in text for text in said(schema)), said(schema)


@pytest.mark.parametrize(
    "schema",
    [
        field(**{"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
        field(
            **{
                "x-kubernetes-int-or-string": True,
                "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"minLength": 1}],
            }
        ),
        field(**{"x-kubernetes-preserve-unknown-fields": True}),
        field(type="object", **{"x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}),
        {"properties": {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}}},
        field(type="object", additionalProperties=True, properties={"b": {"type": "string"}}),
        field(type="string", nullable=True, default=None),
    ],
)
def test_what_a_schema_may_say(schema: Json) -> None:
    assert said(schema) == []


def test_with_a_status_subresource_the_root_says_little() -> None:
    [text] = said({"minProperties": 1}, subresources={"status": {}})
    assert text.startswith(': Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object"')
    assert "only [Description Type Format" in text
    assert said({"minProperties": 1}) == []


def test_versions_with_schemas_of_their_own_are_named() -> None:
    one = version("v1", storage=True) | {"schema": {"openAPIV3Schema": {"type": "string"}}}
    [text] = complaints(DefinitionStrategy(), definition(one, version("v2")))
    assert text == 'spec.versions[0].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root'


def test_an_update_that_leaves_a_schema_alone_does_not_judge_it_anew() -> None:
    strategy = DefinitionStrategy()
    old = created(strategy, with_schema({}))
    old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = {"a": {}}
    assert complaints(strategy, with_schema({"properties": {"a": {}}}), old) == []
    assert complaints(strategy, with_schema({"properties": {"a": {}, "b": {}}}), old)


def test_formats_that_nobody_checks_are_warned_of_once() -> None:
    strategy = DefinitionStrategy()
    schema: Json = {"properties": {"a": {"type": "string", "format": "date-time"}, "b": {"type": "integer", "format": "int16"}}}
    obj = with_schema(schema)
    assert strategy.warnings_on_create(context(), obj) == ['unrecognized format "int16"']
    assert strategy.warnings_on_update(context(), obj, obj) == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^[a-z]+$", ""),
        ("[", "missing closing ]: `[`"),
        ("(a", "missing closing ): `(a`"),
        ("(?=x)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_patterns_are_gos(pattern: str, words: str) -> None:
    assert patterns.complaint(pattern) == (f"error parsing regexp: {words}" if words else "")


def test_a_schema_of_a_megabyte_is_a_matter_of_a_second() -> None:
    leaf = {"type": "string", "description": "what this field is for, in some words", "maxLength": 63, "pattern": "^[a-z]+$"}
    fields = {f"field{i}": leaf for i in range(100)}
    groups = {f"group{i}": {"type": "object", "properties": fields} for i in range(100)}
    schema = with_schema({"properties": {"spec": {"type": "object", "properties": groups}}})
    assert len(orjson.dumps(schema)) > 1_000_000
    started = time.perf_counter()
    assert complaints(DefinitionStrategy(), schema) == []
    assert time.perf_counter() - started < 5  # a tenth of a second where nothing else runs


def test_what_cannot_be_read_as_structural_is_not_looked_at_further() -> None:
    kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": False}
    found = said({"properties": {"a": kept, "b": {}}})
    assert found == [
        ".properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
    ]
