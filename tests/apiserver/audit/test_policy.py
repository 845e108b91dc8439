from __future__ import annotations

import re
from pathlib import Path

import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit import policy
from setpoint.apiserver.audit.event import LEVELS
from setpoint.apiserver.audit.policy import Policy
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import parse

POLICY = {
    "kind": "Policy",
    "apiVersion": "audit.k8s.io/v1",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": ["system:kube-proxy"], "verbs": ["watch"]},
        {"level": "None", "nonResourceURLs": ["/healthz*", "/version"]},
        {"level": "Metadata", "resources": [{"group": "", "resources": ["secrets", "configmaps"]}]},
        {"level": "RequestResponse", "resources": [{"group": "", "resources": ["pods"], "resourceNames": ["p"]}]},
        {"level": "Request", "resources": [{"group": "", "resources": ["pods/*", "*/status"]}], "omitStages": ["Panic"]},
        {"level": "Request", "namespaces": ["kube-system"], "omitManagedFields": True},
        {"level": "None", "namespaces": [""], "resources": [{"group": "apps"}]},
        {"level": "Metadata", "userGroups": ["auditors"]},
    ],
}


@pytest.mark.parametrize(
    ("line", "user", "groups", "expected"),
    [
        ("GET /healthz", "u", (), "None"),
        ("GET /healthz/etcd", "u", (), "None"),
        ("GET /version", "u", ("auditors",), "None"),
        ("GET /version/x", "u", ("auditors",), "Metadata"),
        ("GET /version/x", "u", (), "None"),
        ("GET /api/v1/namespaces/d/secrets/s", "u", (), "Metadata"),
        ("GET /api/v1/namespaces/d/pods/p", "u", (), "RequestResponse"),
        ("GET /api/v1/namespaces/d/pods/q", "u", (), "Request"),
        ("POST /api/v1/namespaces/d/pods/p/binding", "u", (), "Request"),
        ("PUT /api/v1/nodes/n/status", "u", (), "Request"),
        ("GET /apis/apps/v1/namespaces/kube-system/deployments", "u", (), "Request"),
        ("GET /apis/apps/v1/deployments", "u", ("auditors",), "None"),
        ("GET /apis/apps/v1/namespaces/d/deployments", "u", ("auditors",), "Metadata"),
    ],
)
def test_the_first_rule_that_matches_says_how_much(line: str, user: str, groups: tuple[str, ...], expected: str) -> None:
    method, path = line.split(" ")
    verdict = Policy(POLICY).judge(UserInfo(user, groups=groups), parse(Request(method, path)))
    assert LEVELS[verdict.level] == expected
    assert "RequestReceived" in verdict.omitted


def test_stages_are_left_out_by_policy_and_rule_together() -> None:
    rules = Policy(POLICY)
    verdict = rules.judge(UserInfo("u"), parse(Request("PUT", "/api/v1/nodes/n/status")))
    assert verdict.omitted == {"RequestReceived", "Panic"}
    assert not verdict.omit_managed_fields
    verdict = rules.judge(UserInfo("u"), parse(Request("GET", "/api/v1/namespaces/kube-system/endpoints")))
    assert verdict.omit_managed_fields


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ("[]", "loaded illegal policy with 0 rules"),
        ("[{}]", "rules[0].level: Required value"),
        (
            "[{level: All}]",
            'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
        ),
        (
            "[{level: None, nonResourceURLs: [x, /a*b]}]",
            (
                "rules[0].nonResourceURLs[0]: Invalid value: \"x\": non-resource URL rules must begin with a '/' character, "
                "rules[0].nonResourceURLs[1]: Invalid value: \"/a*b\": non-resource URL wildcards '*' must be the final "
                "character of the rule"
            ),
        ),
        (
            '[{level: None, omitStages: ["Foo"]}]',
            (
                'rules[0].omitStages[0]: Invalid value: "Foo": allowed stages are '
                "RequestReceived,ResponseStarted,ResponseComplete,Panic"
            ),
        ),
        (
            '[{level: None, resources: [{group: "", resourceNames: [a]}]}]',
            'rules[0].resources.resourceNames: Invalid value: ["a"]: using resourceNames requires at least one resource',
        ),
        (
            "[{level: None, nonResourceURLs: [/x], namespaces: [a]}]",
            'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
        ),
    ],
)
def test_wrong_policies_are_refused_with_all_that_is_wrong(tmp_path: Path, rules: str, complaint: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: {rules}\n")
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        policy.read(file)


def test_another_kind_is_no_policy(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("apiVersion: v1\nkind: Policy\nrules: [{level: None}]\n")
    with pytest.raises(ValueError, match="must be a Policy"):
        policy.read(file)
