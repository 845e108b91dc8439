"""Roles and bindings: what they allow, how refusals and reviews say so, and how soon changes hold."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.rbac.index import Index, binding_of
from setpoint.apiserver.routing import RequestInfo

from .conftest import RBAC, World, account, person, rule, user

DEV = person("dev")
AUTHORIZATION = "/apis/authorization.k8s.io/v1"


def asked(verb: str, resource: str, **more: Any) -> RequestInfo:
    return RequestInfo(is_resource=True, path="", verb=verb, resource=resource, **more)


def index(*rules: dict[str, Any], subject: dict[str, str] | None = None, namespace: str = "") -> Index:
    found = Index()
    found.set_role((namespace, "r"), rules)
    kind = "Role" if namespace else "ClusterRole"
    binding = {
        "metadata": {"name": "b", "namespace": namespace},
        "roleRef": {"kind": kind, "name": "r"},
        "subjects": [subject or user("dev")],
    }
    found.set_binding((namespace, "b"), binding_of(binding))
    return found


@pytest.mark.parametrize(
    ("resources", "question", "allowed"),
    [
        ("pods", asked("get", "pods"), True),
        ("pods", asked("get", "pods", subresource="log"), False),
        ("pods/log", asked("get", "pods", subresource="log"), True),
        ("pods/log", asked("get", "pods"), False),
        ("pods/*", asked("get", "pods", subresource="log"), False),
        ("*/log", asked("get", "pods", subresource="log"), True),
        ("*/log", asked("get", "pods"), False),
        ("*/", asked("get", "pods"), False),
        ("*/log", asked("get", "pods", subresource="logs"), False),
        ("*", asked("get", "pods", subresource="log"), True),
        ("*", asked("get", "anything"), True),
        ("pod", asked("get", "pods"), False),
    ],
)
async def test_resources(resources: str, question: RequestInfo, *, allowed: bool) -> None:
    assert (index(rule("get", resources)).find(DEV, question) is not None) is allowed


async def test_what_was_allowed_is_remembered_only_until_a_role_or_binding_changes() -> None:
    held = index(rule("get", "pods"))
    for _ in range(2):
        decision = held.decide(DEV, asked("get", "pods", name="a"))
        assert decision is not None
        assert decision.reason == 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "dev"'
    held.set_role(("", "r"), [rule("get", "secrets")])
    assert held.decide(DEV, asked("get", "pods", name="a")) is None
    assert held.decide(DEV, asked("get", "secrets")) is not None
    held.set_binding(("", "b"), None)
    assert held.decide(DEV, asked("get", "secrets")) is None


async def test_what_is_allowed_for_some_names_is_not_taken_to_be_for_others() -> None:
    held = index(rule("get", "pods", "", "a"), rule("get", "secrets"))
    assert held.decide(DEV, asked("get", "pods", name="a")) is not None
    assert held.decide(DEV, asked("get", "pods", name="b")) is None
    assert held.decide(DEV, asked("get", "pods")) is None
    long = asked("get", "secrets", namespace="n" * 1000)
    assert held.decide(DEV, long) == held.decide(DEV, long) is not None


async def test_verbs_groups_and_names() -> None:
    held = index(rule("get,list", "pods", "*", "a,b"), rule("*", "deployments", "apps"))
    assert held.find(DEV, asked("get", "pods", name="a", group="x")) is not None
    assert held.find(DEV, asked("get", "pods", name="c")) is None
    assert held.find(DEV, asked("list", "pods")) is None
    assert held.find(DEV, asked("list", "pods", selected="b")) is not None
    assert held.find(DEV, asked("bind", "deployments", group="apps")) is not None
    assert held.find(DEV, asked("get", "deployments")) is None
    assert held.find(DEV, asked("*", "deployments", group="apps")) is not None
    assert held.find(DEV, asked("*", "pods", name="a")) is None


@pytest.mark.parametrize(
    ("url", "path", "allowed"),
    [
        ("/metrics", "/metrics", True),
        ("/metrics", "/metrics/", False),
        ("/metrics", "/metric", False),
        ("/logs/*", "/logs/a/b", True),
        ("/logs/*", "/logs", False),
        ("/logs*", "/logs", True),
        ("*", "/anything", True),
        ("/a/*/b", "/a/x/b", False),
    ],
)
async def test_paths(url: str, path: str, *, allowed: bool) -> None:
    held = index({"verbs": ["get"], "nonResourceURLs": [url]})
    assert (held.find(DEV, RequestInfo(is_resource=False, path=path, verb="get")) is not None) is allowed
    assert held.find(DEV, RequestInfo(is_resource=False, path=path, verb="post")) is None


async def test_a_role_of_a_namespace_opens_no_paths() -> None:
    held = index({"verbs": ["get"], "nonResourceURLs": ["*"]}, namespace="team")
    assert held.find(DEV, RequestInfo(is_resource=False, path="/metrics", verb="get", namespace="team")) is None


async def test_accounts_are_users_and_default_to_the_bindings_namespace() -> None:
    mine = {"kind": "ServiceAccount", "name": "robot"}
    held = index(rule("get", "pods"), subject=mine, namespace="team")
    assert held.find(account("team", "robot"), asked("get", "pods", namespace="team")) is not None
    assert held.find(account("other", "robot"), asked("get", "pods", namespace="team")) is None
    everywhere = index(rule("get", "pods"), subject=mine)
    assert everywhere.find(account("team", "robot"), asked("get", "pods", namespace="team")) is None


async def test_what_changes_is_forgotten() -> None:
    held, question = index(rule("get", "pods")), asked("get", "pods")
    assert held.find(DEV, question) is not None
    held.set_role(("", "r"), [rule("list", "pods")])
    assert held.find(DEV, question) is None
    held.set_role(("", "r"), None)
    assert held.find(DEV, asked("list", "pods")) is None
    assert held.missing(DEV, "") == ['clusterrole.rbac.authorization.k8s.io "r" not found']
    held.set_role(("", "r"), [rule("get", "pods")])
    assert held.find(DEV, question) is not None
    assert held.missing(DEV, "") == []
    held.set_binding(("", "b"), None)
    assert held.find(DEV, question) is None
    assert held.missing(DEV, "") == []


async def test_of_several_bindings_the_first_by_name_is_told_those_of_the_cluster_before() -> None:
    held = index(rule("get", "pods"))
    for namespace, name in (("team", "a"), ("", "a2"), ("", "a1")):
        subjects = [user("somebody"), {"kind": "Group", "name": "system:authenticated"}, user("dev")]
        role = {"kind": "ClusterRole", "name": "r"}
        metadata = {"name": name, "namespace": namespace}
        held.set_binding((namespace, name), binding_of({"metadata": metadata, "roleRef": role, "subjects": subjects}))
    grant = held.find(DEV, asked("get", "pods", namespace="team"))
    assert grant is not None
    assert grant.reason == 'RBAC: allowed by ClusterRoleBinding "a1" of ClusterRole "r" to Group "system:authenticated"'


async def test_rights_hold_with_the_next_request_and_end_with_the_next(world: World) -> None:
    await world.role("team", "r", rule("get", "pods"))
    await world.bind("team", "b", "r", user("dev"), kind="Role")
    assert not await world.refused("GET /api/v1/namespaces/team/pods/a", DEV)
    await world(f"DELETE {RBAC}/namespaces/team/rolebindings/b")
    assert await world.refused("GET /api/v1/namespaces/team/pods/a", DEV)


async def test_a_missing_role_is_named_in_refusals(world: World) -> None:
    await world.bind("team", "a", "gone", user("dev"), kind="Role")
    await world.bind("", "b", "lost", user("dev"))
    why = await world.refused("GET /api/v1/namespaces/team/pods/a", DEV)
    assert why == (
        'pods "a" is forbidden: User "dev" cannot get resource "pods" in API group "" in the namespace "team": '
        'RBAC: [clusterrole.rbac.authorization.k8s.io "lost" not found, role.rbac.authorization.k8s.io "gone" not found]'
    )
    review = await world(f"POST {AUTHORIZATION}/selfsubjectrulesreviews", DEV, {"spec": {"namespace": "team"}})
    assert not review["status"]["incomplete"]
    assert "not found" in review["status"]["evaluationError"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("GET /api/v1/pods", 'pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope'),
        (
            "GET /apis/apps/v1/namespaces/team/deployments/a/scale",
            'deployments.apps "a" is forbidden: User "dev" cannot get resource "deployments/scale" in API group "apps" in the',
        ),
        (
            "GET /api/v1/namespaces/team/configmaps?fieldSelector=metadata.name%3Da",
            'configmaps "a" is forbidden: User "dev" cannot list resource "configmaps" in API group "" in the namespace "team"',
        ),
        (
            "DELETE /api/v1/namespaces/team/configmaps?fieldSelector=metadata.name%3Da",
            'configmaps is forbidden: User "dev" cannot',
        ),
        ("GET /a<b>&c", 'forbidden: User "dev" cannot get path "/a&lt;b&gt;&amp;c"'),
        ("PROPFIND /x", 'forbidden: User "dev" cannot propfind path "/x"'),
    ],
)
async def test_refusals_speak_as_kubernetes(world: World, line: str, why: str) -> None:
    assert (await world.refused(line, DEV)).startswith(why)


async def test_streams_by_get_need_create(world: World) -> None:
    await world.role("team", "r", rule("get", "pods/exec,pods/log"))
    await world.bind("team", "b", "r", user("dev"), kind="Role")
    assert "cannot create" in await world.refused("GET /api/v1/namespaces/team/pods/a/exec", DEV)
    assert not await world.refused("GET /api/v1/namespaces/team/pods/a/log", DEV)


async def test_a_review_of_masters_needs_no_role(world: World) -> None:
    spec = {"groups": ["system:masters"], "resourceAttributes": {"verb": "*", "resource": "*", "group": "*"}}
    review = await world(f"POST {AUTHORIZATION}/subjectaccessreviews", body={"spec": spec})
    assert review["status"] == {"allowed": True}


async def test_a_node_cannot_list_its_rights(world: World) -> None:
    node = UserInfo("system:node:n1", groups=("system:nodes", "system:authenticated"))
    review = await world(f"POST {AUTHORIZATION}/selfsubjectrulesreviews", node, {"spec": {"namespace": "team"}})
    assert review["status"]["incomplete"] is True
    assert review["status"]["evaluationError"] == "node authorizer does not support user rule resolution"


@pytest.mark.parametrize("line", ["PUT /api/v1/namespaces/team/endpoints/e", "PATCH /api/v1/namespaces/team/endpoints/e"])
async def test_a_change_that_creates_needs_the_right_to_create(world: World, line: str) -> None:
    await world.role("team", "r", rule("update,patch", "endpoints"))
    await world.bind("team", "b", "r", user("dev"), kind="Role")
    body = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "e"}}
    target = line if line.startswith("PUT") else f"{line}?fieldManager=m"
    kind = "application/json" if line.startswith("PUT") else "application/apply-patch+yaml"
    answer = await world(target, DEV, body, code=403, content_type=kind)
    assert 'User "dev" cannot create resource "endpoints" in API group ""' in answer["message"]
    await world(target, body=body, code=201, content_type=kind)
    await world(target, DEV, body, code=200, content_type=kind)


def test_a_rule_of_very_many_entries_allows_the_same() -> None:
    words = [f"w{number}" for number in range(2_000)]
    many = {"verbs": [*words, "get"], "apiGroups": [*words, ""], "resources": [*words, "pods", "*/log"], "resourceNames": ["a"]}
    urls = {"verbs": [*words, "get"], "nonResourceURLs": [f"/{word}/*" for word in words]}
    held = index(rule("list", "pods"), many, urls)
    assert held.find(DEV, asked("list", "pods")) is not None
    assert held.find(DEV, asked("get", "pods", name="a")) is not None
    assert held.find(DEV, asked("w7", "w8", name="a", group="w9")) is not None
    assert held.find(DEV, asked("get", "nodes", name="a", subresource="log")) is not None
    assert held.find(DEV, asked("get", "pods", name="b")) is None
    assert held.find(DEV, asked("get", "pods")) is None
    assert held.find(DEV, asked("get", "nodes", name="a")) is None
    assert held.find(DEV, RequestInfo(is_resource=False, path="/w3/x", verb="get")) is not None
    assert held.find(DEV, RequestInfo(is_resource=False, path="/x", verb="get")) is None
