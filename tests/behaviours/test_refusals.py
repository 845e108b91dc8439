"""Patches that fail, unknown fields, selectors, and values whose form counts."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.behaviours.conftest import APPLY, JSON_PATCH

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ns1/deployments"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/ns1/leases"
PODS = "/api/v1/namespaces/ns1/pods"
DEPLOYMENT = (
    b'{"metadata":{"name":"d"},"spec":{"replicaz":2,"replicas":1,"replicas":2,"selector":{"matchLabels":{"a":"b"}},'
    b'"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'
)
UNKNOWN = ['unknown field "spec.replicaz"', 'duplicate field "spec.replicas"']


async def test_a_json_patch_that_fails_leaves_the_object_as_it_was(api: Any) -> None:
    made = await api.make(CONFIGMAPS, "m", data={"k": "1"})

    async def patch(*operations: Any, code: int = 0) -> Any:
        return await api(f"PATCH {CONFIGMAPS}/m", list(operations), code=code, content_type=JSON_PATCH)

    replace = {"op": "replace", "path": "/data/k", "value": "2"}
    refused = await patch(replace, {"op": "test", "path": "/data/k", "value": "other"}, code=422)
    assert refused["reason"] == "Invalid"
    await patch({"op": "remove", "path": "/metadata/labels/none"}, code=422)
    await api(f"PATCH {CONFIGMAPS}/m", {}, code=400, content_type=JSON_PATCH)
    stale = {"op": "test", "path": "/metadata/resourceVersion", "value": "1"}
    await patch(stale, replace, code=422)
    await patch(*[{"op": "test", "path": "/data/k", "value": "1"}] * 10_001, code=413)
    assert await api(f"GET {CONFIGMAPS}/m") == made
    done = await patch({**stale, "value": made["metadata"]["resourceVersion"]}, replace)
    assert done["data"] == {"k": "2"}


async def test_a_json_patch_that_adds_an_unknown_field(api: Any) -> None:
    await api(f"POST {DEPLOYMENTS}", DEPLOYMENT)
    operations = [{"op": "add", "path": "/spec/nosuch", "value": 1}]
    response = await api.respond(f"PATCH {DEPLOYMENTS}/d", operations, JSON_PATCH)
    assert response.status == 200
    assert response.warnings == ['unknown field "spec.nosuch"']
    assert b"nosuch" not in response.body
    refused = await api(f"PATCH {DEPLOYMENTS}/d?fieldValidation=Strict", operations, code=422, content_type=JSON_PATCH)
    assert 'unknown field "spec.nosuch"' in refused["message"]


@pytest.mark.parametrize(
    ("query", "warnings"), [("", UNKNOWN), ("?fieldValidation=Warn", UNKNOWN), ("?fieldValidation=Ignore", [])]
)
async def test_unknown_and_double_fields_are_dropped_with_a_warning(api: Any, query: str, warnings: list[str]) -> None:
    response = await api.respond(f"POST {DEPLOYMENTS}{query}", DEPLOYMENT)
    assert response.status == 201
    assert sorted(response.warnings) == sorted(warnings)
    made = orjson.loads(response.body)
    assert made["spec"]["replicas"] == 2
    assert "replicaz" not in made["spec"]


async def test_strict_refuses_all_of_them_at_once(api: Any) -> None:
    refused = await api(f"POST {DEPLOYMENTS}?fieldValidation=Strict", DEPLOYMENT, code=400)
    assert refused["reason"] == "BadRequest"
    assert all(problem in refused["message"] for problem in UNKNOWN)
    assert refused["message"].startswith("strict decoding error: ") or "strict decoding error: " in refused["message"]
    assert (await api(f"GET {DEPLOYMENTS}"))["items"] == []


async def test_pods_are_selected_by_the_fields_they_offer(api: Any) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    await api.make(PODS, "bound", spec={**spec, "nodeName": "n"})
    await api.make(PODS, "free", spec=spec)
    await api.merge(f"{PODS}/bound/status", {"status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}})

    async def names(selector: str) -> list[str]:
        listed = await api(f"GET {PODS}?fieldSelector={selector}")
        return [item["metadata"]["name"] for item in listed["items"]]

    assert await names("status.phase=Running") == ["bound"]
    assert await names("status.phase!=Running") == ["free"]
    assert await names("spec.nodeName!=") == ["bound"]
    assert await names("spec.nodeName=") == ["free"]
    assert await names("spec.host=n") == ["bound"]
    assert await names("status.podIP=10.0.0.1") == ["bound"]
    assert await names("spec.restartPolicy=Always,metadata.name=free") == ["free"]
    assert await names("spec.serviceAccountName=default,spec.schedulerName=default-scheduler") == ["bound", "free"]


@pytest.mark.parametrize(
    ("collection", "field"),
    [
        (PODS, "status.qosClass"),
        (CONFIGMAPS, "data.k"),
        (DEPLOYMENTS, "spec.replicas"),
        ("/api/v1/nodes", "spec.podCIDR"),
    ],
)
async def test_any_other_field_is_refused_and_deletes_nothing(api: Any, collection: str, field: str) -> None:
    for line in (f"GET {collection}?", f"GET {collection}?watch=1&", f"DELETE {collection}?"):
        refused = await api(f"{line}fieldSelector={field}=x", code=400)
        assert refused["reason"] == "BadRequest"
        assert (
            f"field label not supported: {field}" in refused["message"]
            or f'"{field}" is not a known field selector' in refused["message"]
        )


async def test_nodes_by_unschedulable(api: Any) -> None:
    await api.make("/api/v1/nodes", "open")
    await api.make("/api/v1/nodes", "closed", spec={"unschedulable": True})
    for value, name in (("false", "open"), ("true", "closed")):
        listed = await api(f"GET /api/v1/nodes?fieldSelector=spec.unschedulable={value}")
        assert [item["metadata"]["name"] for item in listed["items"]] == [name]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2030-01-02T03:04:05.123456Z", "2030-01-02T03:04:05.123456Z"),
        ("2030-01-02T03:04:05.123456+02:00", "2030-01-02T01:04:05.123456Z"),
        ("2030-01-02T03:04:05.000000Z", "2030-01-02T03:04:05.000000Z"),
        (None, None),
    ],
)
async def test_micro_times_that_are_taken(api: Any, given: str | None, kept: str | None) -> None:
    made = await api.make(LEASES, "l", spec={"renewTime": given})
    assert made["spec"].get("renewTime") == kept
    assert len(made["metadata"]["creationTimestamp"]) == len("2030-01-02T03:04:05Z")


@pytest.mark.parametrize(
    "given", ["2030-01-02T03:04:05.123Z", "2030-01-02T03:04:05.123456789Z", "2030-01-02T03:04:05Z", 5, "soon"]
)
async def test_micro_times_that_are_refused(api: Any, given: Any) -> None:
    refused = await api(f"POST {LEASES}", {"metadata": {"name": "l"}, "spec": {"renewTime": given}}, code=400)
    assert refused["reason"] == "BadRequest"


def pod(quantity: bytes) -> bytes:
    return (
        b'{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":'
        + quantity
        + b"}}}]}}"
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b'"1000m"', "1"),
        (b'"0.5"', "500m"),
        (b'"1.5Gi"', "1536Mi"),
        (b'"1024Mi"', "1Gi"),
        (b'"0.9Gi"', "966367641600m"),
        (b'"1.2Gi"', "1288490188800m"),
        (b'"1e3"', "1e3"),
        (b'"1000"', "1k"),
        (b'"0.30000000000000004"', "301m"),
        (b"2", "2"),
        (b"0.1", "100m"),
        (b'" 1"', "1"),
    ],
)
async def test_quantities_come_back_in_their_canonical_form(api: Any, given: bytes, kept: str) -> None:
    made = await api(f"POST {PODS}", pod(given))
    assert made["spec"]["containers"][0]["resources"]["requests"]["cpu"] == kept
    assert await api(f"PUT {PODS}/p", {**made, "spec": {**made["spec"]}}) == made


@pytest.mark.parametrize("given", [b'"1e3m"', b'"0.1mi"', b'""', b'"x"', b"true"])
async def test_what_is_no_quantity_is_refused(api: Any, given: bytes) -> None:
    before = await api.version(PODS)
    assert (await api(f"POST {PODS}", pod(given), code=400))["reason"] == "BadRequest"
    assert await api.version(PODS) == before


async def test_the_same_amount_in_other_words_is_no_change(api: Any) -> None:
    await api(f"POST {PODS}", pod(b'"1000m"'))
    applied = {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1.0"}}}]}}
    before = await api(f"GET {PODS}/p")
    assert await api(f"PATCH {PODS}/p", applied, content_type="application/strategic-merge-patch+json") == before


async def test_defaults_that_clients_read_back(api: Any) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec: dict[str, Any] = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    made = await api.make(DEPLOYMENTS, "d", spec=spec)
    held = made["spec"]
    assert (held["replicas"], held["revisionHistoryLimit"], held["progressDeadlineSeconds"]) == (1, 10, 600)
    assert held["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
    container = {"resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    assert held["template"]["spec"]["containers"] == [{"name": "c", "image": "i", "imagePullPolicy": "Always", **container}]
    claim = {"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    stateful = {**spec, "serviceName": "s", "volumeClaimTemplates": [claim]}
    made_set = await api.make("/apis/apps/v1/namespaces/ns1/statefulsets", "s", spec=stateful)
    assert (made_set["spec"]["replicas"], made_set["spec"]["revisionHistoryLimit"]) == (1, 10)
    templates = made_set["spec"]["volumeClaimTemplates"]
    assert (templates[0]["apiVersion"], templates[0]["kind"]) == ("v1", "PersistentVolumeClaim")
    daemons = await api.make("/apis/apps/v1/namespaces/ns1/daemonsets", "d", spec=spec)
    assert daemons["spec"]["revisionHistoryLimit"] == 10
    assert daemons["spec"]["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }


async def test_a_put_without_replicas_resets_them(api: Any) -> None:
    made = await api(f"POST {DEPLOYMENTS}", DEPLOYMENT)
    assert made["spec"].pop("replicas") == 2
    assert (await api(f"PUT {DEPLOYMENTS}/d", made))["spec"]["replicas"] == 1


@pytest.mark.parametrize("literal", [0, "0%"])
async def test_neither_surge_nor_unavailability_is_refused(api: Any, literal: Any) -> None:
    body = orjson.loads(DEPLOYMENT)
    del body["spec"]["replicaz"]
    body["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": literal, "maxUnavailable": literal}}
    refused = await api(f"POST {DEPLOYMENTS}", body, code=422)
    assert refused["details"]["causes"][0]["field"] == "spec.strategy.rollingUpdate.maxUnavailable"
    assert refused["details"]["causes"][0]["message"].endswith("may not be 0 when `maxSurge` is 0")


@pytest.mark.parametrize("fields", [{"binaryData": {"k": "!"}}, {"metadata": {"name": "m", "creationTimestamp": "soon"}}])
async def test_an_applied_value_that_its_field_cannot_hold(api: Any, fields: dict[str, Any]) -> None:
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, **fields}
    refused = await api(f"PATCH {CONFIGMAPS}/m?fieldManager=f", applied, code=500, content_type=APPLY)
    kind = "/v1, Kind=ConfigMap"
    expected = f"failed to convert new object (/m; {kind}) to proper version: unable to convert unstructured object to {kind}: "
    assert refused["message"].startswith(expected)
    assert (await api(f"GET {CONFIGMAPS}"))["items"] == []
