"""Webhook configurations and policies: rules that the recordings do not reach."""

from __future__ import annotations

from typing import Any

import pytest
from tests.registry.builders import complaints, context, created

from setpoint.registry.admissionregistration.expressions import Environment
from setpoint.registry.admissionregistration.policy_spec import validate_variables
from setpoint.registry.admissionregistration.rules import validate_rule
from setpoint.registry.admissionregistration.validating_policy import ValidatingPolicyStrategy, validating_policy_status
from setpoint.registry.admissionregistration.webhook_client import validate_client
from setpoint.registry.admissionregistration.webhooks import MutatingWebhooksStrategy, ValidatingWebhooksStrategy
from setpoint.registry.strategy import Strategy

Json = dict[str, Any]


def hooks(**fields: Any) -> Json:
    hook = {
        "name": "a.x.example",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://h.example"},
        **fields,
    }
    return {"metadata": {"name": "w"}, "webhooks": [hook]}


def test_what_was_allowed_once_may_stay() -> None:
    assert complaints(ValidatingWebhooksStrategy(), hooks(sideEffects="Some"))
    assert complaints(ValidatingWebhooksStrategy(), hooks(sideEffects="Some"), hooks(sideEffects="Unknown")) == []
    assert complaints(ValidatingWebhooksStrategy(), hooks(sideEffects="Some"), hooks())


def test_only_mutating_webhooks_are_asked_again() -> None:
    assert created(MutatingWebhooksStrategy(), hooks())["webhooks"][0]["reinvocationPolicy"] == "Never"
    assert "reinvocationPolicy" not in created(ValidatingWebhooksStrategy(), hooks())["webhooks"][0]


@pytest.mark.parametrize(
    ("resources", "wrong"),
    [(["pods", "pods/*"], 0), (["*", "pods"], 1), (["*", "*/scale"], 0), (["*/scale", "pods/scale"], 1), ([""], 1)],
)
def test_no_resource_is_named_twice_over(resources: list[str], wrong: int) -> None:
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": resources}
    assert len(validate_rule("r", rule)) == wrong


def test_name_and_namespace_of_a_service_are_mixed_up_as_in_kubernetes() -> None:
    [error] = validate_client("c", {"service": {"namespace": "n", "name": "", "port": 443}})
    assert error.field == "c.service.namespace"


@pytest.mark.parametrize(("name", "wrong"), [("a_1", 0), ("in", 1), ("1a", 1), (" ", 1)])
def test_variables_are_identifiers(name: str, wrong: int) -> None:
    assert len(validate_variables("v", [{"name": name, "expression": "1"}], Environment(variables=True))) == wrong


_POINTER = '[JSONPatch{op: "add", path: "/a/" + jsonpatch.escapeKey("b"), value: {"a": 1}}]'


@pytest.mark.parametrize(
    ("text", "result", "complaint"),
    [
        ("request.userInfo.extra['a'].exists(x, x == 'a')", "bool", ""),
        ("authorizer.group('').resource('pods').namespace('n').check('get').allowed()", "bool", ""),
        ("authorizer.requestResource.check('x').errored()", "bool", ""),
        ("namespaceObject.metadata.labels['a'] == params.label", "bool", ""),
        ("object.spec", "bool", "must evaluate to bool but got dyn"),
        ("null", "string", "must evaluate to string but got null_type"),
        ("request.nosuch", "bool", "undefined field 'nosuch'"),
        ("variables.later", "bool", "undefined field 'later'"),
        ("Object{spec: Object.spec{a: [1]}}", "Object", ""),
        ("Object{spec: nosuch}", "Object", "undeclared reference to 'nosuch'"),
        (_POINTER, "list(JSONPatch)", ""),
        ("[JSONPatch{op: 1}]", "list(JSONPatch)", "expected type of field 'op' is 'string' but provided type is 'int'"),
        ("[JSONPatch{what: 1}]", "list(JSONPatch)", "undefined field 'what'"),
    ],
)
def test_expressions_have_types(text: str, result: str, complaint: str) -> None:
    found = Environment(params=True, variables=True).complaints("p", text, result)
    assert [complaint in str(error) for error in found] == ([True] if complaint else [])


def test_variables_are_seen_by_what_follows() -> None:
    environment = Environment(variables=True)
    assert environment.define("v", "ports", "[1, 2]") == []
    assert environment.complaints("p", "variables.ports[0]", "int") == []
    assert environment.define("v", "wrong", "nosuch")
    assert environment.complaints("p", "variables.wrong == 1", "bool") == []


def test_the_authorizer_is_not_there_for_messages() -> None:
    assert Environment().complaints("p", "authorizer.path('/').check('get').reason()", "string", authorizer=False)


@pytest.mark.parametrize("strategy", [ValidatingWebhooksStrategy(), ValidatingPolicyStrategy()])
def test_names_of_configurations_from_files_are_warned_of(strategy: Strategy) -> None:
    (warning,) = strategy.warnings_on_create(context(), {"metadata": {"name": "a.static.k8s.io"}})
    assert warning.startswith('metadata.name: names ending with ".static.k8s.io" will be reserved')
    assert strategy.warnings_on_update(context(), {"metadata": {"name": "a.k8s.io"}}, {}) == []


def test_expressions_of_annotations_are_shown_as_they_were_given() -> None:
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    annotations = [{"key": "k", "valueExpression": " 1 "}]
    policy = {"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [rule]}, "auditAnnotations": annotations}}
    assert complaints(ValidatingPolicyStrategy(), policy) == [
        'spec.auditAnnotations[0].valueExpression: Invalid value: " 1 ": must evaluate to one of [string null_type] but got int'
    ]


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("spec.validations[0].expression", ""),
        (" ", "Required value"),
        ("spec.a[", 'Invalid value: "spec.a[": invalid JSONPath: '),
    ],
)
def test_warnings_of_expressions_say_where_they_stand(reference: str, complaint: str) -> None:
    warnings = [{"warning": "w", "fieldRef": reference}]
    policy = {"metadata": {"name": "p"}, "spec": {}, "status": {"typeChecking": {"expressionWarnings": warnings}}}
    found = complaints(validating_policy_status(), policy, {"metadata": {"name": "p"}, "spec": {}})
    path = "status.typeChecking.expressionWarnings[0].fieldRef: "
    assert [text.startswith(path + complaint) for text in found] == ([True] if complaint else [])
