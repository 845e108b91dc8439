"""Ports of pods, forwarded by stock kubectl, the official Python client and kr8s: to the pod's localhost and nobody else's."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from setpoint.testing.real import Cluster, Kubectl, eventually

#: answers, once all is sent or the last word is said, with a digest and as many zeros
SERVER = """
import hashlib, socket, sys, threading
def serve(connection):
    digest, length = hashlib.sha256(), 0
    while data := connection.recv(65536):
        digest.update(data)
        length += len(data)
        if data.endswith(b"THE END"):
            break
    connection.sendall(digest.hexdigest().encode() + bytes(length))
    connection.close()
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"""
SIZE = 5_000_000


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Pod:
    """A pod that serves on `port` of its localhost."""

    def __init__(self, kubectl: Kubectl, namespace: str, **spec: Any) -> None:
        self.namespace = namespace
        self.port = free_port()  # where pods share the host's network, two cannot have the same
        container: dict[str, Any] = {"name": "app", "image": "demo:v1", "command": ["python3", "-c", SERVER, str(self.port)]}
        listens = {"exec": {"command": ["python3", "-c", f"import socket; socket.create_connection(('127.0.0.1', {self.port}))"]}}
        container["readinessProbe"] = {**listens, "periodSeconds": 1}
        spec |= {"terminationGracePeriodSeconds": 1, "containers": [container]}
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(manifest))
        kubectl("wait", "-n", namespace, "pod/p", "--for=condition=Ready", "--timeout=60s", seconds=90)


@pytest.fixture
def pod(kubectl: Kubectl, namespace: str) -> Pod:
    return Pod(kubectl, namespace)


class Forwarding:
    """A `kubectl port-forward` that runs; `local` is its end here."""

    def __init__(self, kubectl: Kubectl, namespace: str, port: int, folder: Path) -> None:
        self.local = free_port()
        self._said = folder / f"forward-{self.local}"
        command = ["kubectl", "port-forward", "-n", namespace, "pod/p", f"{self.local}:{port}"]
        environment = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig), "HOME": str(folder)}
        with self._said.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        eventually(lambda: f"127.0.0.1:{self.local} ->" in self.said())

    def said(self) -> str:
        return self._said.read_text()

    def ask(self, data: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.local), 30) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return received(connection)


def received(connection: socket.socket) -> bytes:
    said = b""
    while data := connection.recv(65536):
        said += data
    return said


def answer(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode() + bytes(len(data))


@pytest.fixture
def forwarding(kubectl: Kubectl, pod: Pod, tmp_path: Path) -> Iterator[Forwarding]:
    made = Forwarding(kubectl, pod.namespace, pod.port, tmp_path)
    yield made
    made.process.terminate()
    made.process.wait(20)


def test_kubectl_forwards_connections_beside_each_other(forwarding: Forwarding) -> None:
    data = os.urandom(SIZE)
    assert forwarding.ask(data) == answer(data)
    silent = [socket.create_connection(("127.0.0.1", forwarding.local), 30) for _ in range(10)]
    assert forwarding.ask(b"small") == answer(b"small")
    for number, connection in enumerate(silent):
        connection.sendall(b"%d" % number)
        connection.shutdown(socket.SHUT_WR)
    for number, connection in enumerate(silent):
        assert received(connection) == answer(b"%d" % number)
        connection.close()


@pytest.mark.parametrize("host_network", [False, True])
def test_a_port_of_somebody_else_is_refused(kubectl: Kubectl, namespace: str, tmp_path: Path, host_network: bool) -> None:
    """On the host's network, too: that the test listens there makes it no port of the pod's."""
    pod = Pod(kubectl, namespace, hostNetwork=host_network)
    with socket.create_server(("127.0.0.1", 0)) as mine:
        port = mine.getsockname()[1]
        own, other = (Forwarding(kubectl, namespace, number, tmp_path) for number in (pod.port, port))
        try:
            assert own.ask(b"hello") == answer(b"hello")
            assert other.ask(b"hello") == b""
            eventually(lambda: f"failed to connect to localhost:{port} inside the pod: connection refused" in other.said())
            assert f"error forwarding port {port} to pod p_{namespace}, uid " in other.said()
        finally:
            for each in (own, other):
                each.process.terminate()
                each.process.wait(20)


def test_a_connection_ends_with_its_pod(kubectl: Kubectl, pod: Pod, forwarding: Forwarding) -> None:
    with socket.create_connection(("127.0.0.1", forwarding.local), 30) as connection:
        connection.sendall(b"and then")
        time.sleep(0.2)  # the pod has it
        kubectl("delete", "-n", pod.namespace, "pod/p", "--wait=false")
        assert received(connection) == b""


#: processes of their own, since both leave connections to the end
OFFICIAL = """
import sys
from kubernetes import client, config, stream
kubeconfig, namespace, port, other = sys.argv[1:]
api = client.CoreV1Api(config.new_client_from_config(kubeconfig))
forward = stream.portforward(api.connect_get_namespaced_pod_portforward, "p", namespace, ports=f"{port},{other}")
here = forward.socket(int(port))
here.setblocking(True)
here.sendall(b"hello THE END")
while data := here.recv(1000):
    sys.stdout.buffer.write(data)
assert forward.error(int(port)) is None
assert f"failed to connect to localhost:{other} inside the pod" in forward.error(int(other))
"""
KR8S = """
import asyncio, sys, kr8s
async def main(kubeconfig, namespace, port, _):
    api = await kr8s.asyncio.api(kubeconfig=kubeconfig)
    pod = await kr8s.asyncio.objects.Pod.get("p", namespace=namespace, api=api)
    async with pod.portforward(int(port), local_port="auto") as local:
        reader, writer = await asyncio.open_connection("127.0.0.1", local)
        writer.write(b"hello THE END")
        sys.stdout.buffer.write(await reader.readexactly(64 + 13))
        writer.close()
asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("script", [OFFICIAL, KR8S], ids=["kubernetes", "kr8s"])
def test_clients_in_python(shared_cluster: Cluster, pod: Pod, script: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mine:
        words = str(shared_cluster.kubeconfig), pod.namespace, str(pod.port), str(mine.getsockname()[1])
        done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == (answer(b"hello THE END"), 0), done.stderr.decode()


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing", 'pods "missing" not found'), ("unbound", "pod unbound does not have a host assigned")],
)
def test_pods_that_have_no_ports(kubectl: Kubectl, namespace: str, name: str, message: str) -> None:
    spec = {"nodeSelector": {"no": "such"}, "containers": [{"name": "c", "image": "demo:v1", "command": ["sleep", "1"]}]}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "unbound"}, "spec": spec}
    kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(manifest))
    done = kubectl.run("get", "--raw", f"/api/v1/namespaces/{namespace}/pods/{name}/portforward")
    assert (done.returncode, message in done.stderr) == (1, True)
