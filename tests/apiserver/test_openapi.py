"""The published schemas over HTTP's rules."""

from __future__ import annotations

import orjson
import pytest

from setpoint.api.machinery.schema import trees
from setpoint.apiserver.openapi import OpenAPI
from setpoint.apiserver.request import Request, Response
from setpoint.registry.table import RESOURCES


@pytest.fixture(scope="module")
def published() -> OpenAPI:
    return OpenAPI(trees.load(), lambda: RESOURCES)


async def get(published: OpenAPI, path: str, **headers: str) -> Response:
    path, _, query = path.partition("?hash=")
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await published.handle(Request("GET", path, {"hash": [query]} if query else {}, names))


async def test_the_index_points_at_documents_with_their_hash(published: OpenAPI) -> None:
    index = await get(published, "/openapi/v3")
    assert index.headers["Content-Type"] == "text/plain; charset=utf-8"
    paths = orjson.loads(index.body or b"")["paths"]
    assert {"api", "apis", "api/v1", "apis/apps", "apis/apps/v1", "version"} <= set(paths)
    url = paths["apis/apps/v1"]["serverRelativeURL"]
    document = await get(published, url)
    assert orjson.loads(document.body or b"")["openapi"] == "3.0.0"
    assert document.headers["Cache-Control"] == "public, immutable"
    moved = await get(published, "/openapi/v3/apis/apps/v1?hash=0")
    assert (moved.status, moved.headers["Location"]) == (301, url)


async def test_v2(published: OpenAPI) -> None:
    document = await get(published, "/openapi/v2", accept="*/*")
    assert orjson.loads(document.body or b"")["swagger"] == "2.0"
    assert (await get(published, "/openapi/v2", if_none_match="*")).status == 304
    assert (await get(published, "/openapi/v2", if_none_match=document.headers["Etag"])).status == 304
    assert (await get(published, "/openapi/v2", accept="text/html")).status == 406
    assert (await get(published, "/openapi/v2/x")).status == 404


@pytest.mark.parametrize(
    "path", ["/openapi/v3/", "/openapi/v3/apis/none.example.com/v1", "/openapi/v3/healthz", "/openapi/v3/v2"]
)
async def test_unknown_documents(published: OpenAPI, path: str) -> None:
    answer = await get(published, path)
    assert (answer.status, answer.body) == (404, b"")


async def test_roots(published: OpenAPI) -> None:
    for path in ("api", "apis", "version", "apis/batch"):
        document = orjson.loads((await get(published, f"/openapi/v3/{path}")).body or b"")
        assert list(document["paths"]) == [f"/{path}/"]


async def test_v2_as_protobuf(published: OpenAPI) -> None:
    for version in (".v1.0", "@v1.0"):
        answer = await get(published, "/openapi/v2", accept=f"application/com.github.proto-openapi.spec.v2{version}+protobuf")
        assert answer.headers["Content-Type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert (answer.body or b"").startswith(b"\x0a\x032.0\x12")
    plain = await get(published, "/openapi/v2", accept="application/json")
    assert plain.headers["Etag"] != answer.headers["Etag"]


async def test_every_operation_has_a_name_of_its_own(published: OpenAPI) -> None:
    document = orjson.loads((await get(published, "/openapi/v2", accept="*/*")).body or b"")
    operations = [
        operation for item in document["paths"].values() for method, operation in item.items() if method != "parameters"
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert {
        "getCoreAPIVersions",
        "getAPIVersions",
        "getAppsAPIGroup",
        "getAppsV1APIResources",
        "getRbacAuthorizationV1APIResources",
        "getCodeVersion",
        "getServiceAccountIssuerOpenIDKeyset",
        "watchAppsV1NamespacedDeploymentList",
        "watchAppsV1DeploymentListForAllNamespaces",
        "watchCoreV1Node",
        "connectCoreV1GetNamespacedPodExec",
        "connectCoreV1PostNamespacedPodExec",
        "connectCoreV1OptionsNamespacedServiceProxyWithPath",
        "readCoreV1NamespacedPodLog",
    } <= set(names)
    assert all(operation["description"] and operation["tags"] for operation in operations)
