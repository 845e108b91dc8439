from __future__ import annotations

from typing import Any

import orjson
import pytest

from setpoint.api.machinery import yaml_bodies
from setpoint.apiserver import large_yaml
from setpoint.apiserver.request import Request, warning_header
from setpoint.apiserver.routing import parse

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"


@pytest.mark.parametrize(
    ("method", "path", "want"),
    [
        ("GET", "/api/v1/pods", ("list", "", "pods", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/", ("list", "a", "pods", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/p", ("get", "a", "pods", "p", "")),
        ("PUT", "/api/v1/namespaces/a/pods/p/status", ("update", "a", "pods", "p", "status")),
        ("DELETE", "/apis/apps/v1/namespaces/a/deployments", ("deletecollection", "a", "deployments", "", "")),
        ("GET", "/api/v1/namespaces/a", ("get", "a", "namespaces", "a", "")),
        ("PUT", "/api/v1/namespaces/a/finalize", ("update", "a", "namespaces", "a", "finalize")),
        ("GET", "/api/v1/watch/namespaces/a/pods/p", ("watch", "a", "pods", "p", "")),
        ("GET", "/api/v1/namespaces//pods", ("list", "", "pods", "", "")),
        ("GET", "/apis/g.io/v1//namespaces/a/pods", ("get", "", "", "namespaces", "a")),
        ("GET", "/api/v1//pods", ("get", "", "", "pods", "")),
        ("PUT", "/api/v1/namespaces/a/pods", ("update", "a", "pods", "", "")),
        ("PATCH", "/api/v1/nodes", ("patch", "", "nodes", "", "")),
        ("OPTIONS", "/api/v1/nodes", ("", "", "nodes", "", "")),
        ("GET", "/api/v1/proxy/namespaces/a/pods/p/x", ("proxy", "a", "pods", "p", "")),
    ],
)
def test_what_a_path_asks_for(method: str, path: str, want: tuple[str, ...]) -> None:
    info = parse(Request(method, path))
    assert (info.verb, info.namespace, info.resource, info.name, info.subresource) == want


async def test_unknown_things_are_404_and_wrong_methods_405(api: Any) -> None:
    assert (await api("GET /api/v1/nones", code=404))["message"] == "the server could not find the requested resource"
    assert (await api("GET /api/v1/configmaps/a", code=404))["details"] == {}
    assert (await api(f"PUT {CONFIGMAPS}", {}, code=405))["reason"] == "MethodNotAllowed"
    assert (await api("DELETE /api/v1/configmaps", code=405))["reason"] == "MethodNotAllowed"
    assert (await api("POST /api/v1/watch/configmaps", {}, code=405))["reason"] == "MethodNotAllowed"
    response = await api.respond("GET /apis/none.example.com/v1/things")
    assert (response.status, response.body) == (404, b"404 page not found\n")


async def test_types_of_bodies_and_answers(api: Any) -> None:
    body = orjson.dumps({"metadata": {"name": "a"}})
    await api(f"POST {CONFIGMAPS}", body, code=415, content_type="application/x-www-form-urlencoded")
    await api(f"POST {CONFIGMAPS}", body, code=201)
    await api(f"POST {CONFIGMAPS}", b"metadata: {name: b}", code=201, content_type="application/yaml")
    await api(f"GET {CONFIGMAPS}/a", code=406, accept="image/png")
    await api(f"GET {CONFIGMAPS}/a", accept="application/vnd.kubernetes.protobuf,application/json")
    response = await api.respond(f"GET {CONFIGMAPS}/none", accept="application/yaml")
    assert response.headers["Content-Type"] == "application/yaml"
    assert b"reason: NotFound" in response.body


async def test_unknown_and_repeated_fields_are_warned_of_by_default(api: Any) -> None:
    body = b'{"metadata":{"name":"a"},"data":{"k":"1","k":"2"},"odd":1}'
    response = await api.respond(f"POST {CONFIGMAPS}", body)
    assert response.status == 201
    assert sorted(response.warnings) == ['duplicate field "data.k"', 'unknown field "odd"']
    assert orjson.loads(response.body)["data"] == {"k": "2"}
    assert (await api(f"POST {CONFIGMAPS}?fieldValidation=Strict", body, code=400))["reason"] == "BadRequest"
    assert warning_header('unknown field "odd"') == '299 - "unknown field \\"odd\\""'


async def test_a_lease_needs_a_version_and_a_config_map_does_not(api: Any) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/ns1/leases"
    await api(f"POST {leases}", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}})
    refused = await api(f"PUT {leases}/l", {"metadata": {"name": "l"}, "spec": {"holderIdentity": "you"}}, code=422)
    assert refused["details"]["causes"][0]["field"] == "metadata.resourceVersion"
    await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}})
    await api(f"PUT {CONFIGMAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "v"}})


async def test_apply_conflicts_with_an_update_of_another_manager(api: Any) -> None:
    await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}, "data": {"k": "v1"}})
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v2"}}
    line, media = f"PATCH {CONFIGMAPS}/a?fieldManager=test", "application/apply-patch+yaml"
    refused = await api(line, applied, code=409, content_type=media)
    assert refused["details"]["causes"][0]["field"] == ".data.k"
    forced = await api(f"{line}&force=true", applied, content_type=media)
    assert forced["data"] == {"k": "v2"}
    assert await api(line, applied, content_type=media) == forced


async def test_only_fields_that_a_kind_offers_can_be_selected(api: Any) -> None:
    await api(f"GET {CONFIGMAPS}?fieldSelector=data.k=v", code=400)
    await api(f"DELETE {CONFIGMAPS}?fieldSelector=data.k=v", code=400)
    await api(f"GET {CONFIGMAPS}?watch=1&fieldSelector=data.k=v", code=400)
    await api(f"GET {CONFIGMAPS}?fieldSelector=metadata.name=a")


async def test_a_watch_sends_the_columns_of_a_table_once(api: Any) -> None:
    made = await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    table = await api(f"GET {CONFIGMAPS}", accept=accept)
    assert (table["kind"], len(table["rows"])) == ("Table", 1)
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    version = made["metadata"]["resourceVersion"]
    response = await api.respond(f"GET {CONFIGMAPS}?watch=1&resourceVersion={version}", accept=accept)
    for value in ("1", "2"):
        await api.merge(f"{CONFIGMAPS}/a", {"data": {"k": value}})
    events = [orjson.loads(line) for line in (await anext(response.stream)).splitlines()]
    assert [bool(event["object"]["columnDefinitions"]) for event in events] == [True, False]
    await response.stream.aclose()


async def test_generated_names_differ_and_a_taken_name_is_409(api: Any) -> None:
    names = {(await api(f"POST {CONFIGMAPS}", {"metadata": {"generateName": "n-"}}))["metadata"]["name"] for _ in range(5)}
    assert len(names) == 5
    assert all(len(name) == 7 for name in names)
    taken = await api(f"POST {CONFIGMAPS}", {"metadata": {"name": names.pop()}}, code=409)
    assert taken["reason"] == "AlreadyExists"


async def test_health_version_and_metrics_answer(api: Any) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/readyz/ping"):
        response = await api.respond(f"GET {path}")
        assert (response.status, response.body) == (200, b"ok")
    assert (await api("GET /version"))["minor"] == "36"
    assert b"apiserver_request_total" in (await api.respond("GET /metrics")).body
    api.pipeline.health.shutting_down = True
    assert (await api.respond("GET /readyz")).status == 500
    assert (await api.respond("GET /livez")).status == 200


async def test_strangers_make_no_metrics(api: Any) -> None:
    known = len(api.pipeline.measure._children)
    for number in range(20):
        await api.respond(f"GET /api/v1/namespaces/d/pods/p/invented{number}")
    assert len(api.pipeline.measure._children) == known


async def test_versions_beyond_uint64_are_refused(api: Any) -> None:
    for digits in ("9" * 20, "9" * 5000):
        refused = await api(f"GET /api/v1/configmaps?resourceVersion={digits}", code=400)
        assert "value out of range" in refused["message"]
        await api(f"GET /api/v1/configmaps?watch=1&resourceVersion={digits}", code=500)


async def test_yaml_too_deep_is_the_clients_fault(api: Any) -> None:
    deep = b"[" * 900 + b"]" * 900
    for body in (deep, deep + b"\n---\n" + deep):
        await api("DELETE /api/v1/namespaces/d/configmaps/a", body, code=400, content_type="application/yaml")
        await api("POST /api/v1/namespaces/d/configmaps", body, code=400, content_type="application/yaml")


async def test_large_yaml_is_read_ahead(api: Any) -> None:
    text = b"x" * large_yaml.LARGE
    for body, code in ((b"metadata: {name: a}\ndata: {a: %b}" % text, 201), (b"a: *%b" % text, 400)):
        refused = await api(f"POST {CONFIGMAPS}", body, code=code, content_type="application/yaml")
        assert code == 201 or "unknown anchor" in refused["message"]
    assert not yaml_bodies._known


@pytest.mark.parametrize("depth", [300, 900, 5000])
@pytest.mark.parametrize("kind", ["merge-patch", "strategic-merge-patch", "json-patch"])
async def test_a_patch_too_deep_is_the_clients_fault(api: Any, kind: str, depth: int) -> None:
    await api("POST /api/v1/namespaces/d/configmaps", {"metadata": {"name": "a"}})
    value = b'{"a":' * depth + b"1" + b"}" * depth
    body = b'[{"op":"add","path":"/data","value":%b}]' % value if kind == "json-patch" else b'{"data":%b}' % value
    refused = await api("PATCH /api/v1/namespaces/d/configmaps/a", body, code=400, content_type=f"application/{kind}+json")
    assert "exceeded max depth" in refused["message"]


@pytest.mark.parametrize("metadata", [1, True, [], "x", 1.5])
async def test_an_applied_metadata_of_a_wrong_type_is_told(api: Any, metadata: Any) -> None:
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    path = "PATCH /api/v1/namespaces/d/configmaps/a?fieldManager=m"
    refused = await api(path, applied, code=500, content_type="application/apply-patch+yaml")
    assert "AttributeError" not in refused["message"]
    assert "has no attribute" not in refused["message"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("fieldSelector=metadata.name=scheduler", ["scheduler"]),
        ("fieldSelector=metadata.name!=scheduler", ["controller-manager", "etcd-0"]),
        ("labelSelector=a=b", []),
    ],
)
async def test_parts_of_the_control_plane_are_selected(api: Any, query: str, names: list[str]) -> None:
    listed = await api(f"GET /api/v1/componentstatuses?{query}")
    assert [item["metadata"]["name"] for item in listed["items"]] == names
