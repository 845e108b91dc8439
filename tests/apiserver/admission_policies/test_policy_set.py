"""A set of policies as operators write them: bound to namespaces by label, with exceptions, and limits from an object."""

from __future__ import annotations

from typing import Any

import pytest
from tests.apiserver.admission_policies.conftest import Api

PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}
WORKLOADS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}
ALL = {
    "name": "all",
    "expression": (
        "object.spec.containers + object.spec.?initContainers.orValue([]) + object.spec.?ephemeralContainers.orValue([])"
    ),
}
SELECTED = {"namespaceSelector": {"matchLabels": {"policies": "on"}}}


@pytest.fixture
async def guarded(api: Api) -> Api:
    labels = {"metadata": {"labels": {"policies": "on"}}}
    await api("PATCH /api/v1/namespaces/default", labels, kind="application/merge-patch+json")
    await api("POST /api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    await api.make("limits", data={"memory": "1Gi", "registry": "registry.example.com/"})
    bound: dict[str, Any] = {"binding": {"matchResources": SELECTED}}
    await api.validating(
        "hardened",
        {
            "expression": "variables.all.all(c, !c.?securityContext.?privileged.orValue(false))",
            "messageExpression": "'privileged: ' + variables.all.filter(c, c.?securityContext.?privileged.orValue(false))"
            ".map(c, string(c.name)).join(', ')",
            "reason": "Forbidden",
        },
        {"expression": "object.spec.?hostNetwork.orValue(false) == false", "message": "no host network"},
        matchConstraints={"resourceRules": [PODS]},
        matchConditions=[{"name": "not-nodes", "expression": "!('system:nodes' in request.userInfo.groups)"}],
        variables=[ALL],
        **bound,
    )
    await api.validating(
        "bounded",
        {
            "expression": "variables.all.all(c, c.image.startsWith(params.data.registry))",
            "messageExpression": "'images must come from ' + string(params.data.registry)",
        },
        {
            "expression": "variables.all.all(c, has(c.resources.limits) && 'memory' in c.resources.limits &&"
            " quantity(c.resources.limits.memory).compareTo(quantity(params.data.memory)) <= 0)",
            "message": "memory must be limited",
        },
        matchConstraints={"resourceRules": [PODS]},
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        variables=[ALL],
        binding={"matchResources": SELECTED, "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}},
    )
    await api.validating(
        "replicas",
        {"expression": "object.spec.replicas <= 5 || (oldObject != null && object.spec.replicas <= oldObject.spec.replicas)"},
        actions=("Warn",),
        matchConstraints={"resourceRules": [WORKLOADS]},
        **bound,
    )
    await api.mutating(
        "team",
        "Object{metadata: Object.metadata{labels: {'team': namespaceObject.metadata.?labels['team'].orValue('nobody')}}}",
        matchConstraints={"resourceRules": [PODS]},
        **bound,
    )
    return api


async def pod(api: Api, name: str, code: int = 0, image: str = "registry.example.com/i", memory: str = "1Gi", **spec: Any) -> Any:
    container = {"name": "c", "image": image, "resources": {"limits": {"memory": memory}}, **spec.pop("container", {})}
    body = {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}
    return await api("POST /api/v1/namespaces/default/pods?dryRun=All", body, code=code)


async def test_pods(guarded: Api) -> None:
    made = await pod(guarded, "good")
    assert made["metadata"]["labels"] == {"team": "nobody"}
    said = [
        (await pod(guarded, "a", 403, container={"securityContext": {"privileged": True}}))["message"],
        (await pod(guarded, "a", 422, hostNetwork=True))["message"],
        (await pod(guarded, "a", 422, image="elsewhere/i"))["message"],
        (await pod(guarded, "a", 422, memory="1025Mi"))["message"],
    ]
    assert [text.partition(" denied request: ")[2] for text in said] == [
        "privileged: c",
        "no host network",
        "images must come from registry.example.com/",
        "memory must be limited",
    ]


async def test_elsewhere(guarded: Api) -> None:
    await guarded("POST /api/v1/namespaces", {"metadata": {"name": "free"}})
    await guarded("POST /api/v1/namespaces/free/serviceaccounts", {"metadata": {"name": "default"}})
    body = {"metadata": {"name": "a"}, "spec": {"hostNetwork": True, "containers": [{"name": "c", "image": "any"}]}}
    assert "labels" not in (await guarded("POST /api/v1/namespaces/free/pods?dryRun=All", body))["metadata"]


async def test_workloads(guarded: Api) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 9, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    await guarded("POST /apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    assert len(guarded.warnings) == 1
    assert guarded.warnings[0].startswith(
        "Validation failed for ValidatingAdmissionPolicy 'replicas' with binding 'replicas': failed"
    )
    change = {"spec": {"replicas": 8}}
    await guarded("PATCH /apis/apps/v1/namespaces/default/deployments/d", change, kind="application/merge-patch+json")
    assert not guarded.warnings
