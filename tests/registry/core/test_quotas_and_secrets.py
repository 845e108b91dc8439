"""What quotas may bound, and what a secret of a known type must hold."""

from __future__ import annotations

import base64

import pytest
from tests.registry.builders import Json, complaints

from setpoint.registry.core.resource_quota import ResourceQuotaStrategy
from setpoint.registry.core.secret import SecretStrategy


def quota(hard: Json, **spec: object) -> list[str]:
    obj = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    return complaints(ResourceQuotaStrategy(), obj)


def test_resources_of_quotas() -> None:
    assert quota({"requests.hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi", "count/pods": "1"}) == []
    assert quota({"storage": "1Gi"}) == ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota']


def test_scopes_that_are_gone_are_null() -> None:
    old: Json = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}
    new: Json = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
    assert complaints(ResourceQuotaStrategy(), new, old) == ["spec.scopes: Invalid value: null: field is immutable"]


def test_scopes_bound_what_they_are_about() -> None:
    selector = {"matchExpressions": [{"scopeName": "VolumeAttributesClass", "operator": "Exists"}]}
    assert quota({"persistentvolumeclaims": "1", "requests.storage": "1Gi"}, scopeSelector=selector) == []
    (text,) = quota({"pods": "1"}, scopeSelector=selector)
    assert text.startswith("spec.scopeSelector.matchExpressions: Invalid value: ")
    assert text.endswith("unsupported scope applied to resource")
    both = {"matchExpressions": [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]}
    assert quota({"pods": "1"}, scopeSelector=both) == [
        "spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes"
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{auths}", "invalid character 'a' looking for beginning of object key string"),
        ('{"auths": {}', "unexpected end of JSON input"),
        ("{}}", "invalid character '}' after top-level value"),
        ("[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        ("", "unexpected end of JSON input"),
    ],
)
def test_docker_files_are_json(content: str, problem: str) -> None:
    data = {".dockerconfigjson": base64.b64encode(content.encode()).decode()}
    obj = {"metadata": {"name": "s"}, "type": "kubernetes.io/dockerconfigjson", "data": data}
    assert complaints(SecretStrategy(), obj) == [
        f'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": {problem}'
    ]
