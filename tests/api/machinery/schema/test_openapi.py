"""The published schemas, and kubectl reading them."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from setpoint.api.machinery.schema import openapi, trees

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
STATUS = openapi.Subresource("status", ("get", "patch", "update"), "Deployment", "apps", "v1", "io.k8s.api.apps.v1.Deployment")
SCALE = openapi.Subresource("scale", ("get", "patch", "update"), "Scale", "autoscaling", "v1", "io.k8s.api.autoscaling.v1.Scale")
PODS = openapi.Published("", "v1", "pods", "Pod", True, VERBS, "io.k8s.api.core.v1.Pod")
NODES = openapi.Published("", "v1", "nodes", "Node", False, VERBS, "io.k8s.api.core.v1.Node")
DEPLOYMENTS = openapi.Published(
    "apps", "v1", "deployments", "Deployment", True, VERBS, "io.k8s.api.apps.v1.Deployment", (STATUS, SCALE)
)
WIDGETS = openapi.Published(
    "demo.test",
    "v1",
    "widgets",
    "Widget",
    True,
    VERBS,
    "test.demo.v1.Widget",
    schema={"type": "object", "properties": {"spec": {"type": "object", "description": "What it should be."}}},
)
CRDS = openapi.Published(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    VERBS,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
)
ALL = (PODS, NODES, DEPLOYMENTS, WIDGETS, CRDS)


def refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from refs(item)
    elif isinstance(value, list):
        for item in value:
            yield from refs(item)


@pytest.mark.parametrize("resources", [(PODS, NODES), (DEPLOYMENTS,), (WIDGETS,), (CRDS,)])
def test_every_reference_of_v3_resolves(resources: tuple[openapi.Published, ...]) -> None:
    document = openapi.document_v3(trees.load(), resources)
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(refs(document)) <= known


def test_every_reference_of_v2_resolves() -> None:
    document = openapi.document_v2(trees.load(), ALL)
    assert set(refs(document)) <= {f"#/definitions/{name}" for name in document["definitions"]}
    assert document["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]["format"] == "int-or-string"


def test_operations() -> None:
    paths = openapi.document_v3(trees.load(), [DEPLOYMENTS])["paths"]
    item = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
    assert set(item) == {"get", "put", "patch", "delete", "parameters"}
    patch = item["patch"]
    assert patch["operationId"] == "patchAppsV1NamespacedDeployment"
    assert patch["x-kubernetes-action"] == "patch"
    assert patch["x-kubernetes-group-version-kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert {"fieldValidation", "dryRun", "fieldManager"} <= {parameter["name"] for parameter in patch["parameters"]}
    assert paths["/apis/apps/v1/deployments"]["get"]["operationId"] == "listAppsV1DeploymentForAllNamespaces"
    scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"]
    assert scale["x-kubernetes-group-version-kind"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}


def test_schemas_carry_what_clients_merge_by() -> None:
    schemas = openapi.document_v3(trees.load(), [PODS])["components"]["schemas"]
    containers = schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert containers["description"]
    assert schemas["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"] == [{"group": "", "kind": "Pod", "version": "v1"}]


def test_custom_kinds() -> None:
    schemas = openapi.document_v3(trees.load(), [WIDGETS])["components"]["schemas"]
    assert set(schemas["test.demo.v1.Widget"]["properties"]) == {"apiVersion", "kind", "metadata", "spec"}
    assert schemas["test.demo.v1.WidgetList"]["properties"]["items"]["items"] == {
        "$ref": "#/components/schemas/test.demo.v1.Widget"
    }


def test_fingerprints_follow_what_is_served() -> None:
    pack = trees.load()
    assert openapi.fingerprint(pack, [PODS]) == openapi.fingerprint(pack, [PODS])
    assert openapi.fingerprint(pack, [PODS]) != openapi.fingerprint(pack, [PODS, NODES])
    assert openapi.index({"api/v1": "AB"}) == {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=AB"}}}
    assert list(openapi.document_of_root(pack, "apis/batch")["paths"]) == ["/apis/batch/"]


def answers() -> dict[str, Any]:
    """Just enough of a server for kubectl explain."""
    pack = trees.load()
    names = {
        "name": "deployments",
        "singularName": "deployment",
        "namespaced": True,
        "kind": "Deployment",
        "verbs": ["get", "list"],
    }
    versions = [{"groupVersion": "apps/v1", "version": "v1"}]
    group = {"name": "apps", "versions": versions, "preferredVersion": versions[0]}
    return {
        "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]},
        "/api/v1": {"kind": "APIResourceList", "groupVersion": "v1", "resources": []},
        "/apis/apps/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps/v1", "resources": [names]},
        "/openapi/v3": openapi.index({"apis/apps/v1": openapi.fingerprint(pack, [DEPLOYMENTS])}),
        "/openapi/v3/apis/apps/v1": openapi.document_v3(pack, [DEPLOYMENTS]),
    }


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_kubectl_explains(tmp_path: Any) -> None:
    known = {path: json.dumps(body).encode() for path, body in answers().items()}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = known.get(urlsplit(self.path).path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = ["kubectl", "--server", f"http://127.0.0.1:{server.server_port}", "--cache-dir", str(tmp_path), "explain"]
        result = subprocess.run([*command, "deployments.spec.replicas"], capture_output=True, text=True, timeout=30, check=False)
        server.shutdown()
    assert result.returncode == 0, result.stderr
    assert "FIELD: replicas <integer>" in result.stdout
    assert "Number of desired pods" in result.stdout
