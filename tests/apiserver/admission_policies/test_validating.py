"""Validating admission policies at work, as an operator would install them."""

from __future__ import annotations

from typing import Any

from tests.apiserver.admission_policies.conftest import CONFIG_MAPS, Api

from setpoint.api.machinery.user import UserInfo

DENIED = "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: "


async def denial(api: Api, code: int = 422, **given: Any) -> str:
    """Why a config map is refused."""
    status = await api.make(code=code, **given)
    name = given.get("name", "a")
    prefix = f'configmaps "{name}" is forbidden: {DENIED}'
    assert status["message"].startswith(prefix), status
    why: str = status["message"].removeprefix(prefix)
    assert status["details"]["causes"] == [{"message": DENIED + why}]
    return why


async def test_texts_reasons_and_codes(api: Api) -> None:
    await api.validating(
        "p",
        "!has(object.data) || !('a' in object.data)",
        {"expression": "!has(object.data) || !('b' in object.data)", "message": "no b", "reason": "Forbidden"},
        {
            "expression": "!has(object.data) || !('c' in object.data)",
            "message": "unused",
            "messageExpression": "'no c in ' + object.metadata.name",
            "reason": "RequestEntityTooLarge",
        },
    )
    assert await denial(api, data={"a": "1"}) == "failed expression: !has(object.data) || !('a' in object.data)"
    assert await denial(api, 403, data={"b": "1", "c": "1"}) == "no b"
    assert await denial(api, 413, data={"c": "1"}) == "no c in a"
    await api.make(data={"d": "1"})


async def test_variables_are_lazy_and_build_on_one_another(api: Api) -> None:
    await api.validating(
        "p",
        "variables.size < 3 || variables.bad == 1",
        "object.metadata.name != 'nothing' || variables.nothing == null",
        variables=[
            {"name": "keys", "expression": "has(object.data) ? object.data.map(k, k) : []"},
            {"name": "size", "expression": "size(variables.keys)"},
            {"name": "bad", "expression": "int(object.data.a)"},
            {"name": "nothing", "expression": "null"},
        ],
    )
    await api.make(data={"a": "x"})
    await api.make("nothing")
    why = await denial(api, name="b", data={"a": "x", "b": "", "c": ""})
    assert 'resulted in error: composited variable "bad" fails to evaluate: ' in why


async def test_actions_of_several_bindings(api: Api) -> None:
    await api.validating("p", {"expression": "object.metadata.name != 'w'", "message": "no w"}, actions=("Warn", "Audit"))
    binding = {
        "policyName": "p",
        "validationActions": ["Deny"],
        "matchResources": {"objectSelector": {"matchLabels": {"strict": "yes"}}},
    }
    path = "POST /apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    await api(path, {"metadata": {"name": "q"}, "spec": binding})
    await api.settle()
    await api.make("w")
    assert api.warnings == ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no w"]
    assert api.annotations["validation.policy.admission.k8s.io/validation_failure"] == (
        '[{"message":"no w","policy":"p","binding":"p","expressionIndex":0,"validationActions":["Warn","Audit"]}]'
    )
    refused = await api.make("w", code=422, metadata={"labels": {"strict": "yes"}})
    assert "with binding 'q' denied request: no w" in refused["message"]


async def test_params_by_name_and_by_label(api: Api) -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    await api.make("limits", data={"most": "1"}, metadata={"labels": {"limits": "yes"}})
    reference = {"selector": {"matchLabels": {"limits": "yes"}}, "parameterNotFoundAction": "Deny"}
    await api.validating(
        "p",
        {
            "expression": "!has(object.data) || size(object.data) <= int(params.data.most)",
            "messageExpression": "string(params.metadata.name)",
        },
        paramKind=kind,
        binding={"paramRef": reference},
    )
    assert await denial(api, data={"a": "", "b": ""}) == "limits"
    await api("DELETE /api/v1/namespaces/default/configmaps/limits")
    missing = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    assert await denial(api) == missing


async def test_a_kind_of_params_that_nobody_serves(api: Api) -> None:
    await api.validating("p", "true", paramKind={"apiVersion": "rules.example.com/v1", "kind": "Limit"})
    status = await api.make(code=422)
    why = "failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'"
    assert status["details"]["causes"] == [{"message": f"ValidatingAdmissionPolicy 'p' denied request: {why}"}]


async def test_the_authoriser_is_asked(api: Api) -> None:
    may = "authorizer.group('').resource('pods').namespace(request.namespace).check('delete').allowed()"
    account = "authorizer.serviceAccount('default', 'x').path('/metrics').check('get').allowed()"
    here = "authorizer.requestResource.check('create').reason() != 'x'"
    await api.validating("p", {"expression": f"{may} && !{account}", "messageExpression": "request.userInfo.username"}, here)
    await api.make()
    role = {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]}
    await api("POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", role)
    bound = {
        "metadata": {"name": "r"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    await api("POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", bound)
    await api.settle()
    assert await denial(api, name="b", user=UserInfo("dev", groups=("system:authenticated",))) == "dev"


async def test_conditions_and_values_for_the_audit_log(api: Api) -> None:
    await api.validating(
        "p",
        "request.operation == 'UPDATE'",
        matchConditions=[{"name": "c", "expression": "!authorizer.path('/x').check('get').allowed() || request.name != 'free'"}],
        auditAnnotations=[
            {"key": "who", "valueExpression": "request.userInfo.username + ' in ' + namespaceObject.metadata.name"},
            {"key": "none", "valueExpression": "''"},
        ],
    )
    await api.make("free")
    assert not api.annotations.get("p/who")
    assert await denial(api) == "failed expression: request.operation == 'UPDATE'"
    assert api.annotations["p/who"] == "admin in default"
    assert "p/none" not in api.annotations


async def test_what_expressions_may_cost(api: Api) -> None:
    loop = "[1,2,3,4,5,6,7,8,9,10]"
    deep = "true"
    for name in "abcdef":
        deep = f"{loop}.all({name}, {deep})"
    await api.validating("p", deep)
    assert await denial(api) == f"expression '{deep}' resulted in error: operation cancelled: actual cost limit exceeded"


async def test_the_budget_of_all_expressions(api: Api) -> None:
    asks = " && ".join(f"authorizer.path('/{n}').check('get').allowed()" for n in range(2))
    await api.validating("p", *[asks] * 15)
    assert await denial(api) == ("validation failed due to running out of cost budget, no further validation rules will be run")


async def test_rules_names_and_exclusions(api: Api) -> None:
    excluded = [{**CONFIG_MAPS, "operations": ["*"], "resourceNames": ["free"]}]
    constraints = {"resourceRules": [CONFIG_MAPS], "excludeResourceRules": excluded}
    await api.validating("p", {"expression": "false", "message": "m"}, matchConstraints=constraints)
    await api.make("free")
    assert await denial(api) == "m"


async def test_a_policy_without_failures_ignores_errors_alone(api: Api) -> None:
    await api.validating("p", "object.data.x == 'ok'", failurePolicy="Ignore")
    await api.make()
    assert await denial(api, name="b", data={"x": "bad"}) == "failed expression: object.data.x == 'ok'"


async def test_other_versions_of_the_same_object(api: Api) -> None:
    """The policy knows autoscaling/v1, the write comes as v2."""
    rule = {"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
    check = {
        "expression": "object.spec.targetCPUUtilizationPercentage < 50",
        "messageExpression": "request.kind.version + ' of ' + request.requestKind.version",
    }
    await api.validating("p", check, matchConstraints={"resourceRules": [rule]})
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    usage = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [{"type": "Resource", "resource": usage}]}
    path = "POST /apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    refused = await api(path, {"metadata": {"name": "h"}, "spec": spec}, code=422)
    assert refused["message"].endswith(f"{DENIED}v1 of v2")


async def test_changes_hold_at_once_and_others_stay(api: Api) -> None:
    await api.validating("p", {"expression": "object.metadata.name != 'a'", "message": "no a"})
    await api.validating("q", {"expression": "object.metadata.name != 'b'", "message": "no b"})
    assert await denial(api) == "no a"
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/p"
    change = {"spec": {"validations": [{"expression": "object.metadata.name != 'c'", "message": "no c"}]}}
    await api(f"PATCH {path}", change, kind="application/merge-patch+json")
    await api.settle()
    await api.make()
    assert await denial(api, name="c") == "no c"
    await api(f"DELETE {path}")
    await api.settle()
    await api.make("c")
    assert "no b" in (await api.make("b", code=422))["message"]


async def test_patches_are_told_by_what_they_come_to(api: Api) -> None:
    await api.validating("p", {"expression": "false", "messageExpression": "request.operation + ' ' + request.options.kind"})
    path = "PATCH /api/v1/namespaces/default/configmaps/new?fieldManager=me&force=true"
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
    refused = await api(path, applied, code=422, kind="application/apply-patch+yaml")
    assert refused["message"].endswith("CREATE CreateOptions")


async def test_an_eviction_is_asked_about_once(api: Api) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["pods"]}]
    spec = {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "i"}]}
    pods = "/api/v1/namespaces/default/pods"
    await api("POST /api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "a"}})
    await api(f"POST {pods}", {"metadata": {"name": "p"}, "spec": spec | {"serviceAccountName": "a"}})
    await api.validating("p", "false", matchConstraints={"resourceRules": rules})
    refused = await api(f"DELETE {pods}", code=422)
    assert refused["details"]["name"] == "Unknown"
    await api(f"POST {pods}/p/eviction", {"metadata": {"name": "p"}})
