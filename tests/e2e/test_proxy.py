"""HTTP through the API server to real pods, by kubectl and by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.e2e.wire import wire_of

from setpoint.testing.real import Cluster, Kubectl

WEB = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: app
    image: demo:v1
    command: [sh, -c, 'cd $(mktemp -d) && mkdir sub && echo hello > file && exec python3 -m http.server 8080 --bind $POD_IP']
    env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
    ports: [{containerPort: 8080}]
    readinessProbe: {httpGet: {path: /file, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: idle}
spec: {selector: {app: none}, ports: [{port: 80}]}
"""


@pytest.fixture(scope="module")
def web(kubectl: Kubectl) -> Iterator[str]:
    """The path of a namespace with a pod that serves files, and its service."""
    namespace = f"proxy-{os.getpid()}"
    kubectl("create", "namespace", namespace)
    kubectl("apply", "-n", namespace, "-f", "-", stdin=WEB)
    kubectl("wait", "-n", namespace, "pod/web", "--for=condition=Ready", "--timeout=60s", seconds=90)
    condition = "--for=jsonpath={.subsets[0].addresses[0].targetRef.name}=web"
    kubectl("wait", "-n", namespace, "endpoints/web", condition, "--timeout=30s")
    yield f"/api/v1/namespaces/{namespace}"
    kubectl("delete", "namespace", namespace, "--wait=false")


def test_kubectl_reaches_a_pod_and_a_service_through_the_api_server(kubectl: Kubectl, web: str) -> None:
    for place in ("pods/web", "pods/web:8080", "services/web:http", "services/web:80", "services/http:web:80"):
        assert kubectl("get", "--raw", f"{web}/{place}/proxy/file") == "hello\n"
    page = kubectl("get", "--raw", f"{web}/pods/web/proxy/")
    assert '<a href="sub/">' in page


def test_what_cannot_be_reached_is_said(shared_cluster: Cluster, web: str, tmp_path: Path) -> None:
    wire = wire_of(shared_cluster, tmp_path)
    for path, code, message in (
        ("services/idle/proxy/", 503, 'no endpoints available for service "idle"'),
        ("services/web/proxy/", 503, 'no endpoints available for service "web"'),  # its port has a name
        ("pods/web:1/proxy/", 503, "error trying to reach service: dial tcp"),
        ("pods/none/proxy/", 404, 'pods "none" not found'),
    ):
        answer = wire.request(f"GET {web}/{path}")
        assert answer.status == code
        assert message in answer.json["message"]
    moved = wire.request(f"GET {web}/pods/web/proxy/sub")  # the pod's own redirect, led back through the proxy
    assert (moved.status, moved.headers["location"]) == (301, f"{web}/pods/web/proxy/sub/")


def test_a_nodes_agent_is_reached_and_a_stranger_is_refused(kubectl: Kubectl, web: str) -> None:
    node = kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    summary = orjson.loads(kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/stats/summary"))
    assert summary["node"]["nodeName"] == node
    refused = kubectl.run("get", "--raw", f"{web}/pods/web/proxy/file", "--as", "jane")
    assert refused.returncode == 1
    assert 'cannot get resource "pods/proxy"' in refused.stderr
