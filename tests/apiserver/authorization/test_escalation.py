"""Nobody can grant rights that he does not have."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.registry.rbac.escalation import described, missing_rights

from .conftest import RBAC, World, person, rule, user

DEV = person("dev")
GROUP = "rbac.authorization.k8s.io"
ROLES, BINDINGS = f"{RBAC}/namespaces/team/roles", f"{RBAC}/namespaces/team/rolebindings"


@pytest.fixture
async def dev(world: World) -> World:
    """Dev may write roles and bindings in `team`, and get pods there."""
    await world.role("team", "dev", rule("*", "roles,rolebindings", GROUP), rule("get", "pods"))
    await world("PATCH " + ROLES + "/dev", body=_without_star(), content_type="application/merge-patch+json")
    await world.bind("team", "dev", "dev", user("dev"), kind="Role")
    return world


def _without_star() -> dict[str, Any]:
    verbs = "get,list,create,update,patch,delete"
    return {"rules": [rule(verbs, "roles,rolebindings", GROUP), rule("get", "pods")]}


def binding(name: str, kind: str, role: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "roleRef": {"kind": kind, "name": role}, "subjects": [user("dev")]}


async def test_what_is_held_may_be_given(dev: World) -> None:
    body = {"metadata": {"name": "a"}, "rules": [rule("get", "pods", names="p")]}
    await dev(f"POST {ROLES}", DEV, body, code=201)
    await dev(f"POST {BINDINGS}", DEV, binding("own", "Role", "a"), code=201)


async def test_what_is_not_held_may_not(dev: World) -> None:
    body = {"metadata": {"name": "a"}, "rules": [rule("get,list", "pods,secrets"), rule("*", "deployments", "apps", "x")]}
    why = (await dev(f"POST {ROLES}", DEV, body, code=403))["message"]
    assert why == (
        'roles.rbac.authorization.k8s.io "a" is forbidden: user "dev" (groups=["system:authenticated"]) is attempting to grant '
        'RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n'
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["x"], Verbs:["*"]}'
    )


async def test_bindings_to_more_than_one_has(dev: World) -> None:
    answer = await dev(f"POST {BINDINGS}", DEV, binding("b", "ClusterRole", "admin"), code=403)
    assert answer["message"].startswith('rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "dev"')
    missing = await dev(f"POST {BINDINGS}", DEV, binding("b", "Role", "gone"), code=404)
    assert missing["message"] == 'rolebindings.rbac.authorization.k8s.io "gone" not found'


@pytest.mark.parametrize(
    ("kind", "role", "code", "why"),
    [
        ("Robot", "x", 500, 'unsupported role reference kind: "Robot"'),
        ("ClusterRole", "", 400, "Name parameter required."),
        ("Role", "a/b", 400, "Name parameter invalid: \"a/b\": may not contain '/'"),
    ],
)
async def test_bindings_to_what_no_role_can_be(dev: World, kind: str, role: str, code: int, why: str) -> None:
    assert (await dev(f"POST {BINDINGS}", DEV, binding("b", kind, role), code=code))["message"] == why


async def test_a_name_that_is_not_made_yet_is_not_told(dev: World) -> None:
    body = {"metadata": {"generateName": "a"}, "rules": [rule("get", "secrets")]}
    why = (await dev(f"POST {ROLES}", DEV, body, code=403))["message"]
    assert why.startswith("roles.rbac.authorization.k8s.io is forbidden: user")


async def test_bind_by_name_allows_that_role_alone(dev: World) -> None:
    await dev.role("team", "binder", rule("bind", "clusterroles", GROUP, "admin"))
    await dev.bind("team", "binder", "binder", user("dev"), kind="Role")
    await dev(f"POST {BINDINGS}", DEV, binding("b", "ClusterRole", "admin"), code=201)
    await dev(f"POST {BINDINGS}", DEV, binding("c", "ClusterRole", "cluster-admin"), code=403)


async def test_escalate_allows_all(dev: World) -> None:
    await dev.role("team", "e", rule("escalate", "roles", GROUP))
    await dev.bind("team", "e", "e", user("dev"), kind="Role")
    await dev(f"POST {ROLES}", DEV, {"metadata": {"name": "a"}, "rules": [rule("*", "*", "*")]}, code=201)


async def test_escalate_on_one_role_allows_to_make_it_by_its_url(dev: World) -> None:
    await dev.role("team", "e", rule("update", "roles", GROUP), rule("escalate", "roles", GROUP, names="a"))
    await dev.bind("team", "e", "e", user("dev"), kind="Role")
    body = {"metadata": {"name": "a"}, "rules": [rule("*", "*", "*")]}
    await dev(f"POST {ROLES}", DEV, body, code=403)
    await dev(f"PUT {ROLES}/a", DEV, body, code=201)


async def test_all_verbs_on_roles_include_escalate_and_bind(dev: World) -> None:
    await dev.role("team", "s", rule("*", "*", GROUP))
    await dev.bind("team", "s", "s", user("dev"), kind="Role")
    await dev(f"POST {ROLES}", DEV, {"metadata": {"name": "a"}, "rules": [rule("get", "secrets")]}, code=201)
    await dev(f"POST {BINDINGS}", DEV, binding("b", "ClusterRole", "cluster-admin"), code=201)


async def test_masters_are_not_asked(dev: World) -> None:
    await dev(
        f"POST {ROLES}", person("root", "system:masters"), {"metadata": {"name": "a"}, "rules": [rule("*", "*", "*")]}, code=201
    )


@pytest.mark.parametrize("kind", ["application/merge-patch+json", "application/apply-patch+yaml"])
async def test_patches_and_applies_are_judged_as_a_whole(dev: World, kind: str) -> None:
    await dev(f"POST {ROLES}", body={"metadata": {"name": "big"}, "rules": [rule("get", "secrets")]})
    head = {"apiVersion": f"{GROUP}/v1", "kind": "Role"}
    query = "?fieldManager=m&force=1" if "apply" in kind else ""
    labels = {**head, "metadata": {"name": "big", "labels": {"a": "b"}}}
    await dev(f"PATCH {ROLES}/big{query}", DEV, labels, code=403, content_type=kind)
    owned = {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u"}]}}
    if not query:
        await dev(f"PATCH {ROLES}/big", DEV, owned, code=200, content_type=kind)
    emptied = {"metadata": {"name": "big"}, "rules": []}
    await dev(f"PATCH {ROLES}/big", DEV, emptied, content_type="application/merge-patch+json")


async def test_put_that_creates_is_judged_too(dev: World) -> None:
    await dev(f"PUT {ROLES}/new", DEV, {"metadata": {"name": "new"}, "rules": [rule("get", "secrets")]}, code=403)


async def test_aggregation_needs_everything(dev: World) -> None:
    await dev.role("", "cr", rule("create", "clusterroles", GROUP), rule("get", "pods"))
    await dev.bind("", "cr", "cr", user("dev"))
    gathering = {"metadata": {"name": "g"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    answer = await dev(f"POST {RBAC}/clusterroles", DEV, gathering, code=403)
    assert answer["message"].endswith("must have cluster-admin privileges to use the aggregationRule")


@pytest.mark.parametrize(
    ("held", "wanted", "covered"),
    [
        (rule("get", "pods"), rule("get", "pods", names="a"), True),
        (rule("get", "pods", names="a"), rule("get", "pods"), False),
        (rule("get", "pods", names="a,b"), rule("get", "pods", names="b"), True),
        (rule("*", "*", "*"), rule("escalate", "roles", GROUP), True),
        (rule("get", "*/scale", "*"), rule("get", "deployments/scale", "apps"), True),
        (rule("get", "pods"), rule("get", "pods/log"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/a*"]}, {"verbs": ["get"], "nonResourceURLs": ["/a/b", "/a*"]}, True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, {"verbs": ["get"], "nonResourceURLs": ["/a*"]}, False),
    ],
)
def test_covering(held: dict[str, Any], wanted: dict[str, Any], *, covered: bool) -> None:
    assert (not missing_rights([held], [wanted])) is covered


def test_parts_of_one_resource_are_told_together() -> None:
    parts = missing_rights([], [rule("list,get", "b,a"), {"verbs": ["get"], "nonResourceURLs": ["/x"]}])
    assert described(parts).splitlines() == [
        '{APIGroups:[""], Resources:["a"], Verbs:["list" "get"]}',
        '{APIGroups:[""], Resources:["b"], Verbs:["list" "get"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]


def test_a_rule_of_very_many_parts_is_not_taken_apart() -> None:
    words = [f"w{number}" for number in range(2_000)]
    many = {"verbs": words, "apiGroups": words, "resources": words}
    assert missing_rights([rule("get", "pods")], [many]) == [many]
    assert described([many]).startswith('{APIGroups:["w0" "w1"')
    assert missing_rights([many], [many]) == []
    assert missing_rights([rule("*", "*", "*")], [many]) == []
    urls = {"verbs": ["get", *words], "nonResourceURLs": [f"/{word}" for word in words]}
    assert missing_rights([urls], [urls]) == []
    assert missing_rights([{"verbs": ["*"], "nonResourceURLs": ["/w0", "/w1"]}], [urls]) == [urls]
