from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.api.machinery.user import ADMIN, ANONYMOUS, UserInfo
from setpoint.apiserver import heads
from setpoint.apiserver.authorization import denied
from setpoint.apiserver.impersonation import Impersonation, wanted_user
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo, parse

from .conftest import Api

DEV = UserInfo("dev", groups=("system:authenticated",))
AGENT = UserInfo(
    "system:serviceaccount:kube-system:agent",
    groups=("system:serviceaccounts", "system:authenticated"),
    extra={"authentication.kubernetes.io/node-name": ("n1",), "authentication.kubernetes.io/pod-name": ("p",)},
)


class Grants:
    """Allows what it was told: (verb, resource with subresource, namespace, name)."""

    def __init__(self, *grants: tuple[str, str, str, str]) -> None:
        self.grants = set(grants)
        self.asked: list[tuple[str, str, str, str]] = []
        self.extra: list[Mapping[str, Any]] = []

    async def authorize(self, request: Request, info: RequestInfo) -> None:
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        question = (info.verb, resource or info.path, info.namespace, info.name)
        self.asked.append(question)
        self.extra.append(request.user.extra)
        if question not in self.grants:
            raise denied(request.user, info)


async def act(authorizer: Grants, user: UserInfo, line: str = "GET /api/v1/namespaces/d/pods", **headers: str) -> Request:
    method, path = line.split(" ")
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request(method, path, headers=given, user=user)
    await Impersonation().apply(request, parse(request), authorizer)
    return request


async def refused(authorizer: Grants, user: UserInfo, line: str = "GET /api/v1/namespaces/d/pods", **headers: str) -> str:
    with pytest.raises(StatusError) as refusal:
        await act(authorizer, user, line, **headers)
    assert refusal.value.code == 403
    return refusal.value.message


async def test_the_classic_right_covers_a_user_and_takes_the_headers_away() -> None:
    request = await act(Grants(("impersonate", "users", "", "bob")), DEV, impersonate_user="bob", accept="x")
    assert (request.user.name, request.user.groups) == ("bob", ("system:authenticated",))
    assert request.headers == {"accept": "x"}
    assert (request.impersonated.by, request.impersonated.constraint) == (DEV, "")


async def test_each_part_of_an_identity_needs_its_right() -> None:
    headers = {"impersonate_user": "bob", "impersonate_group": "a\nb", "impersonate_uid": "7", "impersonate_extra_scopes": "s"}
    grants = Grants(("impersonate", "users", "", "bob"))
    assert await refused(grants, DEV, **headers) == (
        'uids.authentication.k8s.io "7" is forbidden: User "dev" cannot impersonate resource "uids" '
        'in API group "authentication.k8s.io" at the cluster scope'
    )
    grants.grants |= {("impersonate", "uids", "", "7"), ("impersonate", "groups", "", "a")}
    assert 'groups "b" is forbidden: User "dev" cannot impersonate resource "groups" in API' in await refused(
        grants, DEV, **headers
    )
    grants.grants.add(("impersonate", "groups", "", "b"))
    assert 'cannot impersonate resource "userextras/scopes"' in await refused(grants, DEV, **headers)
    grants.grants.add(("impersonate", "userextras/scopes", "", "s"))
    user = (await act(grants, DEV, **headers)).user
    assert user == UserInfo("bob", "7", ("a", "b", "system:authenticated"), {"scopes": ("s",)})


@pytest.mark.parametrize(
    ("name", "groups", "expected"),
    [
        ("a", "", ("system:authenticated",)),
        ("a", "system:unauthenticated", ("system:unauthenticated",)),
        ("a", "system:authenticated", ("system:authenticated",)),
        ("system:anonymous", "", ("system:unauthenticated",)),
        ("system:node:n1", "", ("system:authenticated",)),
        ("system:serviceaccount:d:b", "", ("system:serviceaccounts", "system:serviceaccounts:d", "system:authenticated")),
        ("system:serviceaccount:d:b", "x", ("x", "system:authenticated")),
    ],
)
async def test_groups_that_follow_from_the_name(api: Api, name: str, groups: str, expected: tuple[str, ...]) -> None:
    headers = {"impersonate_user": name} | ({"impersonate_group": groups} if groups else {})
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await api("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", review, code=201, **headers)
    assert answer["status"]["userInfo"] == {"username": name, "groups": list(expected)}


@pytest.mark.parametrize(
    ("header", "value", "printed"),
    [
        ("impersonate-group", 'a"\nb', 'UID:"", Groups:[]string{"a\\"", "b"}, Extra:map[string][]string(nil)'),
        ("impersonate-uid", "a", 'UID:"a", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        ("impersonate-extra-a.b%2fc", "x", 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a.b/c":[]string{"x"}}'),
    ],
)
def test_parts_without_a_name_are_a_bad_request(header: str, value: str, printed: str) -> None:
    with pytest.raises(StatusError) as refusal:
        wanted_user({header: value})
    assert refusal.value.code == 400
    assert refusal.value.message == f'requested &user.DefaultInfo{{Name:"", {printed}}} without impersonating a user name'


async def test_whoever_is_no_person_is_told_of_the_constrained_right_first() -> None:
    message = await refused(Grants(), ANONYMOUS, "GET /healthz", impersonate_user="bob")
    assert message == 'forbidden: User "system:anonymous" cannot impersonate-on:user-info:get path "/healthz"'
    message = await refused(Grants(), DEV, "GET /healthz", impersonate_user="bob")
    assert (
        message == 'users "bob" is forbidden: User "dev" cannot impersonate resource "users" in API group "" at the cluster scope'
    )


async def test_constrained_impersonation_needs_both_rights() -> None:
    what = ("impersonate-on:user-info:list", "pods", "d", "")
    who = ("impersonate:user-info", "users", "", "bob")
    for missing in (what, who):
        await refused(Grants(*({what, who} - {missing})), DEV, impersonate_user="bob")
    request = await act(Grants(what, who), DEV, impersonate_user="bob")
    assert request.impersonated.constraint == "impersonate:user-info"
    await refused(Grants(what, who), DEV, "GET /api/v1/namespaces/d/secrets", impersonate_user="bob")


async def test_constrained_impersonation_never_gives_the_masters_group() -> None:
    grants = Grants(
        ("impersonate-on:user-info:list", "pods", "d", ""),
        ("impersonate:user-info", "users", "", "bob"),
        ("impersonate:user-info", "groups", "", "system:masters"),
        ("impersonate:user-info", "groups", "", "*"),
    )
    message = await refused(grants, AGENT, impersonate_user="bob", impersonate_group="a\nb\nc\nsystem:masters")
    assert message.endswith("at the cluster scope: impersonating the system:masters group is not allowed")
    await act(grants, AGENT, impersonate_user="bob", impersonate_group="a\nb\nc\nd")


async def test_an_agent_acts_as_the_node_that_it_runs_on() -> None:
    grants = Grants(
        ("impersonate-on:associated-node:list", "pods", "d", ""),
        ("impersonate:associated-node", "nodes", "", "*"),
    )
    user = (await act(grants, AGENT, impersonate_user="system:node:n1")).user
    assert (user.name, user.groups) == ("system:node:n1", ("system:nodes", "system:authenticated"))
    assert "authentication.kubernetes.io/associated-node-keys" in grants.extra[0]
    assert "arbitrary-node" in await refused(grants, AGENT, impersonate_user="system:node:n2")


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("scopes", "x", 'extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")'),
        ("a.b%2f%41", "x", 'impersonating a non-lowercase key in extra is not allowed: "a.b/A"'),
        ("a.b%2fc", "", "impersonating the empty string value in extra is not allowed"),
    ],
)
async def test_constrained_impersonation_is_strict_about_extra(key: str, value: str, complaint: str) -> None:
    grants = Grants(("impersonate-on:user-info:list", "pods", "d", ""), ("impersonate:user-info", "users", "", "bob"))
    request = Request(
        "GET", "/api/v1/namespaces/d/pods", headers={"impersonate-user": "bob", f"impersonate-extra-{key}": value}, user=AGENT
    )
    with pytest.raises(StatusError) as refusal:
        await Impersonation().apply(request, parse(request), grants)
    assert refusal.value.message.endswith(complaint)


async def test_who_succeeded_one_way_is_asked_that_way_first() -> None:
    impersonation, grants = Impersonation(), Grants(("impersonate", "users", "", "bob"))
    for _ in range(2):
        request = Request("GET", "/api/v1/namespaces/d/pods", headers={"impersonate-user": "bob"}, user=AGENT)
        grants.asked.clear()
        await impersonation.apply(request, parse(request), grants)
    assert grants.asked == [("impersonate", "users", "", "bob")]


def test_repeated_headers_all_count() -> None:
    head = heads.parse(b"GET / HTTP/1.1\r\nHost: a\r\nImpersonate-Group: a\r\nImpersonate-Group: b,c\r\nImpersonate-User: u")
    assert head is not None
    wanted = wanted_user(head.headers)
    assert wanted is not None
    assert wanted.groups == ("a", "b,c")


async def test_without_headers_nothing_changes() -> None:
    request = Request("GET", "/api/v1/pods", headers={"impersonate-user": ""}, user=ADMIN)
    await Impersonation().apply(request, parse(request), Grants())
    assert request.user == ADMIN
    assert request.impersonated is None


def test_a_name_that_is_no_text_is_told_as_one() -> None:
    head = heads.parse(b"GET / HTTP/1.1\r\nHost: a\r\nImpersonate-User: bo\xff\r\nImpersonate-Group: \xc3\xa9")
    assert head is not None
    wanted = wanted_user(head.headers)
    assert wanted is not None
    assert (wanted.name, wanted.groups) == ("bo\ufffd", ("é",))
