"""Which webhooks are asked about which writes, in which order and in which version."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.apiserver.admission_webhooks.conftest import CONFIG_MAPS, Api, Hooks, allow, patching

from setpoint.api.machinery.user import UserInfo

_MAPS = "/api/v1/namespaces/default/configmaps"


def _rule(**more: Any) -> dict[str, Any]:
    return {**CONFIG_MAPS, **more}


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        (_rule(operations=["UPDATE", "DELETE"]), False),
        (_rule(operations=["CREATE"]), True),
        (_rule(apiGroups=["apps"]), False),
        (_rule(apiGroups=["*"], resources=["*"]), True),
        (_rule(resources=["*/*"]), True),
        (_rule(resources=["configmaps/*"]), True),
        (_rule(resources=["configmaps/status"]), False),
        (_rule(apiVersions=["v2"]), False),
        (_rule(scope="Cluster"), False),
        (_rule(scope="Namespaced"), True),
    ],
)
async def test_rules(api: Api, hooks: Hooks, rule: dict[str, Any], asked: bool) -> None:
    await api.configure("validating", "c", hooks.hook("h", rules=[rule]))
    await api.make()
    assert bool(hooks.asked) is asked


async def test_operations_and_parts(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments", "deployments/*"]}]
    await api.configure("validating", "c", hooks.hook("h", rules=rules))
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    path, selector = "/apis/apps/v1/namespaces/default/deployments", {"matchLabels": {"a": "b"}}
    spec = {"selector": selector, "template": pod, "replicas": 1}
    await api(f"POST {path}", {"metadata": {"name": "d"}, "spec": spec})
    await api(f"PATCH {path}/d/scale", {"spec": {"replicas": 3}}, kind="application/merge-patch+json")
    await api(f"PATCH {path}/d/status", {"status": {"replicas": 2}}, kind="application/merge-patch+json")
    await api(
        f"DELETE {path}/d?propagationPolicy=Background", {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    )
    await api(f"POST {path}", {"metadata": {"name": "e"}, "spec": spec})
    await api(f"DELETE {path}")
    told = [
        (asked["operation"], asked.get("subResource", ""), asked["kind"]["kind"], asked.get("name", ""))
        for _, asked in hooks.asked
    ]
    assert told == [
        ("CREATE", "", "Deployment", "d"),
        ("UPDATE", "scale", "Scale", "d"),
        ("UPDATE", "status", "Deployment", "d"),
        ("DELETE", "", "Deployment", "d"),
        ("CREATE", "", "Deployment", "e"),
        ("DELETE", "", "Deployment", ""),
    ]
    scale, deleted = hooks.asked[1][1], hooks.asked[3][1]
    assert (scale["kind"]["group"], scale["object"]["spec"], scale["oldObject"]["spec"]) == (
        "autoscaling",
        {"replicas": 3},
        {"replicas": 1},
    )
    assert (deleted["object"], deleted["oldObject"]["metadata"]["name"], deleted["options"]["kind"]) == (
        None,
        "d",
        "DeleteOptions",
    )


async def test_a_scale_can_be_patched(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments/scale"]}]
    hooks.answers["h"] = patching({"op": "replace", "path": "/spec/replicas", "value": 2})
    await api.configure("mutating", "c", hooks.hook("h", rules=rules))
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    path = "/apis/apps/v1/namespaces/default/deployments"
    await api(f"POST {path}", {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod}})
    scale = await api(f"PATCH {path}/d/scale", {"spec": {"replicas": 9}}, kind="application/merge-patch+json")
    assert scale["spec"]["replicas"] == 2
    assert (await api(f"GET {path}/d"))["spec"]["replicas"] == 2


async def test_an_equivalent_version_is_asked_about_in_that_version(api: Api, hooks: Hooks) -> None:
    rules = [
        {"apiGroups": ["autoscaling"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["horizontalpodautoscalers"]}
    ]
    hooks.answers["m"] = patching({"op": "replace", "path": "/spec/targetCPUUtilizationPercentage", "value": 33})
    await api.configure("mutating", "c", hooks.hook("m", rules=rules), hooks.hook("x", rules=rules, matchPolicy="Exact"))
    resource = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": target, "maxReplicas": 2, "metrics": [{"type": "Resource", "resource": resource}]}
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    made = await api(f"POST {path}", {"metadata": {"name": "h"}, "spec": spec})
    ((_, asked),) = hooks.asked
    assert (asked["kind"]["version"], asked["requestKind"]["version"], asked["object"]["apiVersion"]) == (
        "v1",
        "v2",
        "autoscaling/v1",
    )
    assert (asked["resource"]["version"], asked["requestResource"]["version"]) == ("v1", "v2")
    assert made["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 33
    assert made["apiVersion"] == "autoscaling/v2"


async def test_events_of_both_groups_are_the_same(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["events"]}]
    await api.configure("validating", "c", hooks.hook("h", rules=rules))
    body = {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "message": "words"}
    await api("POST /api/v1/namespaces/default/events", body)
    ((_, asked),) = hooks.asked
    assert (asked["kind"]["group"], asked["requestKind"]["group"], asked["object"]["note"]) == ("events.k8s.io", "", "words")


async def test_selectors(api: Api, hooks: Hooks) -> None:
    choose = {"objectSelector": {"matchLabels": {"go": "yes"}}}
    namespaces = {"namespaceSelector": {"matchExpressions": [{"key": "off", "operator": "DoesNotExist"}]}}
    await api.configure("validating", "c", hooks.hook("o", **choose), hooks.hook("n", **namespaces))
    await api.make()
    assert hooks.names() == ["n"]
    await api.make("b", labels={"go": "yes"}, metadata={"name": "b", "labels": {"go": "yes"}})
    assert sorted(hooks.names()) == ["n", "n", "o"]
    await api("PATCH /api/v1/namespaces/default", {"metadata": {"labels": {"off": "x"}}}, kind="application/merge-patch+json")
    hooks.asked.clear()
    await api(f"PATCH {_MAPS}/b", {"metadata": {"labels": {"go": "no"}}}, kind="application/merge-patch+json")
    assert hooks.names() == ["o"]  # it had the label before


async def test_namespaces_are_in_themselves(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["namespaces"], "scope": "Cluster"}]
    await api.configure("validating", "c", hooks.hook("h", rules=rules, namespaceSelector={"matchLabels": {"x": "y"}}))
    await api("POST /api/v1/namespaces", {"metadata": {"name": "one"}})
    await api("POST /api/v1/namespaces", {"metadata": {"name": "two", "labels": {"x": "y"}}})
    ((_, asked),) = hooks.asked
    assert (asked["name"], asked["namespace"]) == ("two", "two")


async def test_match_conditions(api: Api, hooks: Hooks) -> None:
    conditions = [{"name": "a", "expression": "object.metadata.name != 'b' && request.userInfo.username == 'admin'"}]
    await api.configure("validating", "c", hooks.hook("h", matchConditions=conditions))
    await api.make("b")
    assert not hooks.asked
    other = UserInfo("other", groups=("system:masters", "system:authenticated"))
    assert (await api.respond(f"POST {_MAPS}", {"metadata": {"name": "c"}}, user=other)).status == 201
    assert not hooks.asked
    await api.make("a")
    assert hooks.names() == ["h"]


async def test_conditions_that_fail(api: Api, hooks: Hooks) -> None:
    broken = [{"name": "x", "expression": "object.data.x == 'y'"}, {"name": "n", "expression": "object.metadata.name != 'out'"}]
    await api.configure("validating", "c", hooks.hook("h", matchConditions=broken))
    refused = await api.make("a", code=403)
    why = "expression 'object.data.x == 'y'' resulted in error: no such key: data"
    assert refused["message"] == f'configmaps "a" is forbidden: {why}'
    await api.make("out")  # one that is false decides, whatever the others come to
    assert not hooks.asked


async def test_order_and_second_pass(api: Api, hooks: Hooks) -> None:
    hooks.answers["last"] = patching({"op": "add", "path": "/data", "value": {"sidecar": "yes"}})
    hooks.answers["first"] = lambda asked: (
        {"allowed": True}
        if "data" not in asked["object"]
        else patching({"op": "add", "path": "/data/seen", "value": "yes"})(asked)
    )
    await api.configure("mutating", "b", hooks.hook("last"))
    await api.configure("mutating", "a", hooks.hook("first", reinvocationPolicy="IfNeeded"), hooks.hook("never"))
    made = await api.make()
    assert hooks.names() == ["first", "never", "last", "first"]
    assert made["data"] == {"sidecar": "yes", "seen": "yes"}
    assert "mutation.webhook.admission.k8s.io/round_1_index_0" in api.request.annotations


async def test_no_second_pass_when_nothing_changes_after(api: Api, hooks: Hooks) -> None:
    hooks.answers["only"] = patching({"op": "add", "path": "/data", "value": {"a": "b"}})
    await api.configure("mutating", "a", hooks.hook("only", reinvocationPolicy="IfNeeded"), hooks.hook("quiet"))
    await api.make()
    assert hooks.names() == ["only", "quiet"]


async def test_validating_webhooks_are_asked_at_once(api: Api, hooks: Hooks) -> None:
    barrier = asyncio.Barrier(3)

    async def meet(_: Any) -> dict[str, Any]:
        await barrier.wait()
        return {"allowed": True}

    for name in "abc":
        hooks.answers[name] = meet
    await api.configure("validating", "c", *map(hooks.hook, "abc"))
    await api.make()


async def test_configurations_are_not_reviewed(api: Api, hooks: Hooks) -> None:
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    hooks.answers["h"] = allow(allowed=False)
    await api.configure("validating", "c", hooks.hook("h", rules=everything))
    await api("DELETE /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c")
    await api.settle()
    await api.make()
    assert not hooks.asked


async def test_dry_runs_are_kept_from_webhooks_with_effects(api: Api, hooks: Hooks) -> None:
    """Such configurations can no longer be written, but may be stored from before."""
    await api.configure("mutating", "c", hooks.hook("h"))
    key = "mutatingwebhookconfigurations.admissionregistration.k8s.io/c"
    record = await api.pipeline.store.get(key)
    from setpoint.storage.protocol import Encoded

    value = record.value.replace(b'"sideEffects":"None"', b'"sideEffects":"Some"')
    await api.pipeline.store.update(key, lambda _: Encoded(value))
    await api.settle()
    refused = await api.make(query="?dryRun=All", code=400)
    assert refused["message"] == 'admission webhook "h.example.com" does not support dry run'
    await api.make()


async def test_connections_are_reviewed(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]}]
    hooks.answers["h"] = allow(allowed=False)
    await api.configure("validating", "c", hooks.hook("h", rules=rules))
    api.pipeline.subresource("pods/exec", _unreached)
    path = "/api/v1/namespaces/default/pods/p/exec?command=ls&command=-l&stdin=true&container=c"
    assert (await api.respond(f"POST {path}")).status == 400
    ((_, asked),) = hooks.asked
    assert (asked["operation"], asked["subResource"], asked["kind"]["kind"], asked["options"]) == (
        "CONNECT",
        "exec",
        "PodExecOptions",
        None,
    )
    assert asked["object"] == {
        "kind": "PodExecOptions",
        "apiVersion": "v1",
        "stdin": True,
        "container": "c",
        "command": ["ls", "-l"],
    }


async def _unreached(_call: Any) -> Any:
    raise AssertionError


async def test_evictions_and_tokens_are_reviewed(api: Api, hooks: Hooks) -> None:
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}]
    hooks.answers["h"] = allow(allowed=False, status={"message": "stays"})
    await api.configure("validating", "c", hooks.hook("h", rules=rules))
    refused = await api("POST /api/v1/namespaces/default/pods/p/eviction", {"metadata": {"name": "p"}}, code=400)
    assert refused["message"] == 'admission webhook "h.example.com" denied the request: stays'
    ((_, asked),) = hooks.asked
    assert (asked["kind"], asked["resource"]["resource"]) == ({"group": "policy", "version": "v1", "kind": "Eviction"}, "pods")


@pytest.mark.parametrize("media", ["application/json", "application/yaml"])
async def test_what_is_never_stored_is_reviewed_too(api: Api, hooks: Hooks, media: str) -> None:
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
    await api.configure("validating", "c", hooks.hook("h", rules=everything))
    spec = {"resourceAttributes": {"verb": "get", "resource": "pods"}}
    body = {"spec": spec} if "json" in media else b"spec: {resourceAttributes: {verb: get, resource: pods}}"
    made = await api("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body, kind=media)
    assert made["status"]["allowed"] is True
    ((_, asked),) = hooks.asked
    assert (asked["kind"]["kind"], asked["object"]["spec"]) == ("SelfSubjectAccessReview", spec)


async def test_a_webhook_that_cannot_be_reached_does_not_keep_the_server_from_starting(api: Api, hooks: Hooks) -> None:
    """While it starts, the server's own objects are not reviewed; everybody else's are."""
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    closed = {"url": "https://127.0.0.1:1/x", "caBundle": hooks.bundle}
    await api.configure("validating", "c", hooks.hook("h", rules=everything, clientConfig=closed))
    ourselves = UserInfo("system:apiserver", groups=("system:masters", "system:authenticated"))
    api.pipeline.health.started = False
    assert (await api.respond(f"POST {_MAPS}", {"metadata": {"name": "a"}}, user=ourselves)).status == 201
    assert (await api.respond(f"POST {_MAPS}", {"metadata": {"name": "b"}})).status == 500
    api.pipeline.health.started = True
    assert (await api.respond(f"POST {_MAPS}", {"metadata": {"name": "c"}}, user=ourselves)).status == 500
