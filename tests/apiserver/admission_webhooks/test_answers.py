"""What a webhook may answer and what comes of it; the texts are Kubernetes'."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from aiohttp import web
from tests.apiserver.admission_webhooks.conftest import Api, Hooks, allow, patching

_LABEL = {"op": "add", "path": "/metadata/labels", "value": {"by": "hook"}}


async def test_what_a_webhook_is_told(api: Api, hooks: Hooks) -> None:
    await api.configure("validating", "v", hooks.hook("look"))
    await api.make(query="?dryRun=All&fieldManager=me", data={"k": "v"})
    ((_, asked),) = hooks.asked
    assert asked.pop("uid")
    obj = asked.pop("object")
    assert (obj["kind"], obj["apiVersion"], obj["data"], bool(obj["metadata"]["uid"])) == ("ConfigMap", "v1", {"k": "v"}, True)
    assert asked == {
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "requestKind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "requestResource": {"group": "", "version": "v1", "resource": "configmaps"},
        "name": "a",
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "oldObject": None,
        "dryRun": True,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"], "fieldManager": "me"},
    }


async def test_a_patch_changes_the_object_in_dry_runs_too(api: Api, hooks: Hooks) -> None:
    hooks.answers["m"] = patching(_LABEL, {"op": "add", "path": "/nosuch", "value": 1})
    await api.configure("mutating", "m", hooks.hook("m", sideEffects="NoneOnDryRun"))
    for query in ("?dryRun=All", ""):
        made = await api.make(query=query)
        assert made["metadata"]["labels"] == {"by": "hook"}
        assert "nosuch" not in made
    first = hooks.asked[0][1]
    assert first["dryRun"] is True
    assert "uid" not in first["object"]["metadata"]
    assert "creationTimestamp" not in first["object"]["metadata"]


async def test_owners_are_those_of_the_request_alone(api: Api, hooks: Hooks) -> None:
    hooks.answers["m"] = patching(_LABEL)
    await api.configure("mutating", "m", hooks.hook("m"))
    made = await api.make(data={"k": "v"})
    (entry,) = made["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:k": {}}}


async def test_owners_that_mean_nothing_are_put_right(api: Api, hooks: Hooks) -> None:
    hooks.answers["m"] = patching({"op": "replace", "path": "/metadata/managedFields/0/operation", "value": "Guess"})
    await api.configure("mutating", "m", hooks.hook("m"))
    response = await api.respond("POST /api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert response.status == 201
    assert response.warnings[0].startswith(".metadata.managedFields was in an invalid state after admission;")


async def test_a_generated_name_is_not_seen_by_mutating_webhooks(api: Api, hooks: Hooks) -> None:
    await api.configure("mutating", "m", hooks.hook("m"))
    await api.configure("validating", "v", hooks.hook("v"))
    made = await api("POST /api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "x-"}})
    (_, mutating), (_, validating) = hooks.asked
    assert "name" not in mutating
    assert "name" not in mutating["object"]["metadata"]
    assert validating["name"] == validating["object"]["metadata"]["name"] == made["metadata"]["name"]


async def test_defaults_are_set_after_a_patch(api: Api, hooks: Hooks) -> None:
    container = {"name": "sidecar", "image": "proxy", "ports": [{"containerPort": 80}]}
    hooks.answers["m"] = patching({"op": "add", "path": "/spec/containers/-", "value": container})
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    await api.configure("mutating", "m", hooks.hook("m", rules=rules))
    body = {
        "metadata": {"name": "p"},
        "spec": {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "i"}]},
    }
    await api("POST /api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    pod = await api("POST /api/v1/namespaces/default/pods", body)
    sidecar = pod["spec"]["containers"][1]
    assert sidecar["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert sidecar["terminationMessagePolicy"] == "File"


async def test_what_a_patch_makes_is_validated(api: Api, hooks: Hooks) -> None:
    hooks.answers["m"] = patching({"op": "add", "path": "/data", "value": {"not a key!": "x"}})
    await api.configure("mutating", "m", hooks.hook("m"))
    refused = await api.make(code=422)
    assert refused["details"]["causes"][0]["field"] == "data[not a key!]"


@pytest.mark.parametrize(
    ("status", "code", "reason", "message"),
    [
        (None, 400, "", " denied the request without explanation"),
        ({"message": "no"}, 400, "", " denied the request: no"),
        ({"reason": "Forbidden"}, 400, "Forbidden", " denied the request: Forbidden"),
        ({"message": "no", "code": 403, "reason": "Forbidden"}, 403, "Forbidden", " denied the request: no"),
        ({"message": "no", "code": 200, "status": "Success"}, 400, "", " denied the request: no"),
    ],
)
@pytest.mark.parametrize("kind", ["mutating", "validating"])
async def test_refusals(api: Api, hooks: Hooks, kind: str, status: Any, code: int, reason: str, message: str) -> None:
    hooks.answers["h"] = lambda _: {"allowed": False, "status": status}
    await api.configure(kind, "c", hooks.hook("h", failurePolicy="Ignore"))
    refused = await api.make(code=code)
    assert refused["message"] == f'admission webhook "h.example.com"{message}'
    assert refused.get("reason", "") == reason
    assert refused["status"] == "Failure"


_FAILED = 'Internal error occurred: failed calling webhook "h.example.com": '


def _raw(text: str, status: int = 200) -> Any:
    return lambda _: web.Response(text=text, status=status, content_type="application/json")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (_raw("{}"), "received invalid webhook response: webhook response was absent"),
        (allow(uid="other"), "received invalid webhook response: expected response.uid="),
        (allow(patch="W10="), "received invalid webhook response: webhook returned response.patch but not response.patchType"),
        (
            allow(patchType="JSONPatch"),
            "received invalid webhook response: webhook returned response.patchType but not response.patch",
        ),
        (allow(patch="!", patchType="JSONPatch"), "failed to call webhook: json: cannot unmarshal"),
        (allow(patch="bm8=", patchType="JSONPatch"), "received undecodable patch in webhook response: invalid character 'o'"),
        (allow(patch="W3t9XQ==", patchType="Other"), 'unsupported patch type "Other"'),
        (_raw(""), "failed to call webhook: 0-length response"),
        (_raw("nothing"), "failed to call webhook: couldn't get version/kind; json parse error: "),
        (_raw("boom", 500), 'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding'),
        (_raw("", 404), "failed to call webhook: the server could not find the requested resource"),
        (
            _raw("", 302),
            "failed to call webhook: the server responded with the status code 302 but did not return more information",
        ),
        (_raw(" " * 10_000_000), "failed to call webhook: the answer is larger than 8388608 bytes"),
    ],
)
async def test_answers_that_mean_nothing_are_the_failure_policys(api: Api, hooks: Hooks, answer: Any, message: str) -> None:
    hooks.answers["h"] = answer
    await api.configure("mutating", "c", hooks.hook("h"))
    failed = await api.make(code=500)
    assert failed["message"].startswith(f"{_FAILED}{message}"), failed["message"]
    assert failed["reason"] == "InternalError"
    await api("DELETE /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/c")
    await api.configure("mutating", "d", hooks.hook("h", failurePolicy="Ignore"))
    await api.make()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            {"op": "remove", "path": "/data/x"},
            "error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
        ),
        ({"op": "add", "path": "/x/y", "value": 1}, 'add operation does not apply: doc is missing path: "/x/y": missing value'),
        ({"op": "test", "path": "/data/k", "value": "w"}, "testing value /data/k failed: test failed"),
        (
            {"op": "replace", "path": "/data", "value": 3},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type",
        ),
    ],
)
async def test_a_patch_that_does_not_fit_is_an_error_whatever_the_policy(
    api: Api, hooks: Hooks, operation: dict[str, Any], message: str
) -> None:
    hooks.answers["h"] = patching(operation)
    await api.configure("mutating", "c", hooks.hook("h", failurePolicy="Ignore"))
    failed = await api.make(code=500, data={"k": "v"})
    assert failed["message"].startswith(f"Internal error occurred: {message}"), failed["message"]


async def test_validating_webhooks_may_not_patch(api: Api, hooks: Hooks) -> None:
    hooks.answers["h"] = patching(_LABEL)
    await api.configure("validating", "c", hooks.hook("h"))
    failed = await api.make(code=500)
    assert failed["message"] == f"{_FAILED}received invalid webhook response: validating webhook may not return response.patch"


async def test_a_deletion_cannot_be_patched(api: Api, hooks: Hooks) -> None:
    await api.make()
    hooks.answers["h"] = patching(_LABEL)
    await api.configure("mutating", "c", hooks.hook("h"))
    failed = await api("DELETE /api/v1/namespaces/default/configmaps/a", code=500)
    why = 'admission webhook "h.example.com" attempted to modify the object, which is not supported for this operation'
    assert failed["message"] == f"Internal error occurred: {why}"


async def test_the_old_review_version(api: Api, hooks: Hooks) -> None:
    text = base64.b64encode(b'[{"op":"add","path":"/data","value":{"a":"b"}}]').decode()
    hooks.answers["h"] = allow(uid="whatever", patch=text)
    await api.configure("mutating", "c", hooks.hook("h", admissionReviewVersions=["v7", "v1beta1", "v1"]))
    made = await api.make()
    assert made["data"] == {"a": "b"}


async def test_warnings_and_audit_annotations(api: Api, hooks: Hooks) -> None:
    hooks.answers["m"] = patching(_LABEL, warnings=["careful", ""], auditAnnotations={"key": "value"})
    hooks.answers["v"] = lambda _: web.Response(status=500)
    await api.configure("mutating", "m", hooks.hook("m"))
    await api.configure("validating", "v", hooks.hook("v", failurePolicy="Ignore"))
    response = await api.respond("POST /api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})
    assert "careful" in response.warnings
    assert api.request.annotations == {
        "m.example.com/key": "value",
        "mutation.webhook.admission.k8s.io/round_0_index_0": '{"configuration":"m","webhook":"m.example.com","mutated":true}',
        "patch.webhook.admission.k8s.io/round_0_index_0": (
            '{"configuration":"m","webhook":"m.example.com",'
            '"patch":[{"op":"add","path":"/metadata/labels","value":{"by":"hook"}}],"patchType":"JSONPatch"}'
        ),
        "failed-open.validating.webhook.admission.k8s.io/round_0_index_0": "v.example.com",
    }


async def test_a_webhook_that_hangs_costs_its_timeout(api: Api, hooks: Hooks) -> None:
    async def hang(_: Any) -> None:
        await asyncio.sleep(30)

    hooks.answers["h"] = hooks.answers["g"] = hang
    await api.configure("validating", "c", hooks.hook("h", timeoutSeconds=1), hooks.hook("g", timeoutSeconds=1))
    loop = asyncio.get_running_loop()
    start = loop.time()
    failed = await api.make(code=500)
    assert loop.time() - start < 2
    url = f"https://127.0.0.1:{hooks.port}/h?timeout=1s"
    assert failed["message"] == f'{_FAILED}failed to call webhook: Post "{url}": context deadline exceeded'


async def test_a_webhook_that_writes_what_it_is_asked_about_ends(api: Api, hooks: Hooks) -> None:
    calls = 0

    async def again(_: Any) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        await api.respond("POST /api/v1/namespaces/default/configmaps?dryRun=All", {"metadata": {"name": f"n{calls}"}})
        return {"allowed": True}

    hooks.answers["h"] = again
    await api.configure("validating", "c", hooks.hook("h", timeoutSeconds=1))
    failed = await api.make(code=500)
    assert "context deadline exceeded" in failed["message"]


async def test_an_injected_sidecar_gets_what_every_container_gets(api: Api, hooks: Hooks) -> None:
    """The server's own plugins see a changed object once more: the sidecar has the account's token, like the others."""
    container = {"name": "sidecar", "image": "proxy"}
    hooks.answers["injector"] = patching({"op": "add", "path": "/spec/containers/-", "value": container})
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    await api.configure("mutating", "m", hooks.hook("injector", rules=rules))
    await api("POST /api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    pod = await api("POST /api/v1/namespaces/default/pods", body)
    assert hooks.names() == ["injector"]
    mounts = [[mount["mountPath"] for mount in each["volumeMounts"]] for each in pod["spec"]["containers"]]
    assert mounts == [["/var/run/secrets/kubernetes.io/serviceaccount"]] * 2
    assert len(pod["spec"]["volumes"]) == 1
