"""What a client gets wrong is said exactly, changes nothing, and does the server no harm."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.refused import CONFIGMAPS, DEPLOYMENTS, JSON, LIMIT, REFUSED, SECRETS, UNRECOGNIZED, YAML, deployment
from tests.e2e.wire import Answer, Wire, read_answer, wire_of

from setpoint.testing.real import Cluster, Kubectl, eventually


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster that nobody else writes to."""
    made = Cluster(tmp_path_factory.mktemp("bad") / "data", ["--port", "0", "--nodes", "0"])
    made.start()
    yield made
    made.stop()
    assert "Traceback" not in made.text()


@pytest.fixture(scope="module")
def connected(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Wire:
    made = wire_of(cluster, tmp_path_factory.mktemp("wire"))
    eventually(lambda: len(made.request(f"GET {CONFIGMAPS}").json["items"]) == 1)  # the certificates' map comes by itself
    return made


@pytest.fixture
def wire(connected: Wire) -> Iterator[Wire]:
    """The wire; after the test, every collection is what it was and the server answers."""
    before = state(connected)
    yield connected
    assert state(connected) == before


def state(wire: Wire) -> list[Any]:
    """What there is. Not the version: leases and the like go on."""
    found = [wire.request(f"GET {path}").json for path in (CONFIGMAPS, DEPLOYMENTS, SECRETS)]
    return [answer["items"] for answer in found]


@pytest.mark.parametrize("name", REFUSED)
def test_the_error_is_exact_and_nothing_changes(wire: Wire, name: str) -> None:
    line, media, body, code, reason, message = REFUSED[name]
    answer = wire.request(line, body, media)
    status = answer.json
    assert status["message"].startswith(message)
    assert (answer.status, status["code"], status["reason"], status["status"]) == (code, code, reason, "Failure")
    assert (status["kind"], status["apiVersion"], status["metadata"]) == ("Status", "v1", {})


@pytest.mark.parametrize("media", [JSON, YAML])
def test_invalid_utf_8_is_replaced_in_json_and_refused_in_yaml(wire: Wire, media: str) -> None:
    answer = wire.request(f"POST {CONFIGMAPS}?dryRun=All", b'{"metadata":{"name":"x"},"data":{"k":"\xff"}}', media)
    if media == JSON:
        assert answer.json["data"] == {"k": "\ufffd"}
    else:
        assert answer.status == 400
        assert answer.json["message"].startswith(f"{UNRECOGNIZED}yaml: ")


POST = f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()
GET = b"GET /version HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("data", "code", "text"),
    [
        pytest.param(b"GARBAGE\r\n\r\n", 400, b"400 Bad Request", id="no request"),
        pytest.param(bytes(range(256)) + b"\r\n\r\n", 400, b"400 Bad Request", id="bytes"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", 400, b"400 Bad Request", id="version"),
        pytest.param(GET + b"\r\n", 400, b"400 Bad Request: missing required Host header", id="no host"),
        pytest.param(GET + b"Host: x\r\nBad Header\r\n\r\n", 400, b"400 Bad Request", id="no header"),
        pytest.param(POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, b"400 Bad Request", id="two lengths"),
        pytest.param(POST + b"Content-Length: -3\r\n\r\nabc", 400, b"400 Bad Request", id="negative length"),
        pytest.param(
            POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, b"400 Bad Request", id="smuggled"
        ),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc", 400, b"400 Bad Request", id="chunks"),
        pytest.param(
            b"GET /" + b"a" * 1_500_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            431,
            b"431 Request Header Fields Too Large",
            id="long line",
        ),
        pytest.param(
            GET + b"Host: x\r\n" + b"X: y\r\n" * 250_000 + b"\r\n", 431, b"431 Request Header Fields Too Large", id="many headers"
        ),
        pytest.param(b"GET /api/v1/pods/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, b"400 Bad Request", id="escape"),
    ],
)
def test_malformed_http(wire: Wire, data: bytes, code: int, text: bytes) -> None:
    answer = wire.say(data)
    assert (answer.status, answer.body) == (code, text)


def test_too_much_in_chunks_is_cut_off(wire: Wire) -> None:
    answer = wire.say(POST + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (LIMIT + 1) + b"a" * (LIMIT + 1) + b"\r\n0\r\n\r\n")
    assert (answer.status, answer.json["reason"]) == (413, "RequestEntityTooLarge")


def test_what_is_no_tls_is_hung_up_on(wire: Wire) -> None:
    for data in (b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01" + b"garbage" * 50):
        with socket.create_connection((wire.host, wire.port), 20) as plain:
            plain.sendall(data)
            with contextlib.suppress(ConnectionError):
                assert len(plain.recv(200)) < 100  # an alert at the most


def test_half_closed_connections(wire: Wire) -> None:
    """A client that breaks off in the middle of a body has made nothing."""
    for _ in range(20):
        with wire.open() as secure:
            secure.sendall(POST + b'Content-Length: 100\r\n\r\n{"metadata":{"name":"half"')
    with wire.open() as secure:
        secure.sendall(POST + b'Content-Length: 25\r\n\r\n{"metadata":{"name":"x"}')
        secure.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while secure.recv(65536):
                pass


def test_slow_and_idle_connections_do_not_stop_the_others(wire: Wire) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection((wire.host, wire.port), 20))
        for number in range(30):
            secure = stack.enter_context(wire.open())
            secure.sendall(POST + b"Content-Length: 100\r\n\r\n{" if number % 2 else GET)
        assert wire.request("GET /version").status == 200
        assert wire.request(f"POST {CONFIGMAPS}?dryRun=All", b'{"metadata":{"name":"x"}}').status == 201


def test_watchers_that_never_read_harm_nobody_and_leave_nothing(cluster: Cluster, wire: Wire) -> None:
    assert cluster.process is not None
    server = psutil.Process(cluster.process.pid)

    def held() -> set[int]:
        """The ports of the watchers whose connections the server holds."""
        return {connection.raddr.port for connection in server.net_connections() if connection.raddr} & ports

    ports: set[int] = set()
    body = json.dumps({"metadata": {"generateName": "big-"}, "data": {"k": "a" * 300_000}}).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            watcher = stack.enter_context(wire.open())
            ports.add(watcher.getsockname()[1])
            watcher.sendall(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        for _ in range(20):
            made = wire.request(f"POST {CONFIGMAPS}", body)
            assert made.status == 201
            assert wire.request(f"DELETE {CONFIGMAPS}/{made.json['metadata']['name']}").status == 200
        assert held() == ports
    eventually(lambda: not held())


def test_a_client_that_waits_is_told_to_go_on(wire: Wire) -> None:
    body = b'{"metadata":{"name":"x"}}'
    with wire.open() as secure:
        line = f"POST {CONFIGMAPS}?dryRun=All HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
        secure.sendall(line.encode())
        assert secure.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        secure.sendall(body)
        assert read_answer(secure).status == 201


def test_requests_on_one_connection_are_answered_in_order(wire: Wire) -> None:
    with wire.open() as secure:
        secure.sendall((GET + b"Host: x\r\n\r\n") * 3)
        answers: list[Answer] = []
        data = b""
        while data.count(b'"gitVersion"') < 3 and (piece := secure.recv(65536)):
            data += piece
        assert (data.count(b"HTTP/1.1 200 OK"), answers) == (3, [])


def test_strangers_are_401_and_anonymous_paths_are_not(cluster: Cluster, connected: Wire) -> None:
    context = connected.context.__class__(connected.context.protocol)
    context.load_verify_locations(cadata="".join(_authority(cluster)))
    context.check_hostname = False
    stranger = Wire(connected.host, connected.port, context)
    assert stranger.request(f"GET {CONFIGMAPS}").status in (401, 403)
    wrong = stranger.request(f"GET {CONFIGMAPS}", Authorization="Bearer wrong")
    assert (wrong.status, wrong.json["reason"], wrong.json["message"]) == (401, "Unauthorized", "Unauthorized")
    assert stranger.request("GET /livez").status == 200


def _authority(cluster: Cluster) -> list[str]:
    return [(cluster.data_dir / "pki" / "ca.crt").read_text()]


@pytest.mark.usefixtures("wire")
def test_kubectl_says_what_the_server_said(cluster: Cluster, tmp_path: Path) -> None:
    kubectl = Kubectl(cluster.kubeconfig, tmp_path)

    def apply(manifest: str) -> str:
        done = kubectl.run("apply", "-f", "-", stdin=manifest)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr

    assert apply("a: [b\n c: '").startswith("error: error parsing STDIN: error converting YAML to JSON: yaml: line ")
    assert 'no matches for kind "Nonesuch" in version "v1"' in apply("apiVersion: v1\nkind: Nonesuch\nmetadata: {name: x}")
    assert apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndater: {}") == (
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled '
        'as a ConfigMap: strict decoding error: unknown field "dater"\n'
    )
    assert apply(deployment(replicas=-1).decode()) == (
        'The Deployment "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n'
    )
