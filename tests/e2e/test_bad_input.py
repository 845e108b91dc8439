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
from tests.e2e.wire import Answer, Wire, read_answer, wire_of

from setpoint.testing.real import Cluster, Kubectl, eventually

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SECRETS = "/api/v1/namespaces/default/secrets"
LIMIT = 3 * 1024 * 1024


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


def deployment(**spec: Any) -> bytes:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template, **spec},
    }
    return json.dumps(body).encode()


def number(text: bytes) -> bytes:
    return deployment(replicas=12345).replace(b"12345", text)


UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
NOT_A_DEPLOYMENT = 'Deployment in version "v1" cannot be handled as a Deployment: '
REPLICAS = "into Go struct field DeploymentSpec.spec.replicas of type int32"
DEPTH = "exceeded max depth"
YAML = "application/yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"

#: name → (line, type, body, code, reason, what the message begins with)
REFUSED: dict[str, tuple[str, str, bytes, int, str, str]] = {
    "broken YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b'a: [b\n c: "',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: line 1: did not find expected ',' or ']' (",
    ),
    "a tab in YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"metadata:\n\tname: x",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: line 2: found character that cannot start any token (",
    ),
    "aliases that explode": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 9)) for i in range(98, 106)),
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: document contains excessive aliasing (",
    ),
    "broken JSON": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: unexpected end of JSON input (",
    ),
    "two objects": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"}} {}',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: invalid character '{{' after top-level value (",
    ),
    "no body": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ),
    "an array": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"[]",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
    ),
    "the wrong kind": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}',
        400,
        "BadRequest",
        'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    ),
    "an unknown kind": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"apiVersion":"v1","kind":"Nonesuch","metadata":{"name":"x"}}',
        400,
        "BadRequest",
        'Nonesuch in version "v1" cannot be handled as a ConfigMap: no kind "Nonesuch" is registered for version "v1" in scheme',
    ),
    "an unknown resource": (
        "POST /api/v1/namespaces/default/nones",
        JSON,
        b"{}",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    "an unknown field": (
        f"POST {CONFIGMAPS}?fieldValidation=Strict",
        JSON,
        b'{"metadata":{"name":"x"},"dater":{}}',
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dater"',
    ),
    "a number for a string": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":1}}',
        400,
        "BadRequest",
        (
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        ),
    ),
    "a string for a number": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(replicas="three"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal string {REPLICAS}",
    ),
    "what is no base64": (
        f"POST {SECRETS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"!"}}',
        400,
        "BadRequest",
        'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    ),
    "a bad name": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"Bad_Name"}}',
        422,
        "Invalid",
        'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must',
    ),
    "a name that is too long": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"%s"}}' % (b"a" * 254),
        422,
        "Invalid",
        f'ConfigMap "{"a" * 254}" is invalid: metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters',
    ),
    "no name": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"{}",
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    "another namespace": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x","namespace":"other"}}',
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    "a namespace that is not there": (
        "POST /api/v1/namespaces/none/configmaps",
        JSON,
        b'{"metadata":{"name":"x"}}',
        404,
        "NotFound",
        'namespaces "none" not found',
    ),
    "a selector that does not match": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(selector={"matchLabels": {"a": "c"}}),
        422,
        "Invalid",
        (
            'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"a":"b"}: '
            "`selector` does not match template `labels`"
        ),
    ),
    "negative replicas": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(replicas=-1),
        422,
        "Invalid",
        'Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    "a huge number": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1" + b"0" * 30),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1{'0' * 30} {REPLICAS}",
    ),
    "a huge exponent": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1e400"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1e400 {REPLICAS}",
    ),
    "a hundred thousand digits": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"9" * 100_000),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 99999",
    ),
    "a fraction of a replica": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1.5"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1.5 {REPLICAS}",
    ),
    "10,000 maps in each other": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: {DEPTH} (",
    ),
    "a million brackets": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"[" * 1_000_000,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: {DEPTH} (",
    ),
    "10,000 lists in YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"data: " + b"[" * 10_001 + b"]" * 10_001,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: ",
    ),
    "a deep patch": (
        f"PATCH {CONFIGMAPS}/kube-root-ca.crt",
        MERGE,
        b'{"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        400,
        "BadRequest",
        f"error decoding patch: {DEPTH}",
    ),
    "a patch of the wrong type": (
        f"PATCH {CONFIGMAPS}/kube-root-ca.crt",
        "text/plain",
        b"{}",
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
    ),
    "more than 3 MiB": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"' + b"a" * LIMIT + b'"}}',
        413,
        "RequestEntityTooLarge",
        "Request entity too large: limit is 3145728",
    ),
    "a config map of more than 1 MiB": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"' + b"a" * 1024 * 1024 + b'a"}}',
        422,
        "Invalid",
        'ConfigMap "x" is invalid: []: Too long: may not be more than 1048576 bytes',
    ),
    "a type that it does not read": (
        f"POST {CONFIGMAPS}",
        "text/plain",
        b"x",
        415,
        "UnsupportedMediaType",
        (
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf"
        ),
    ),
    "a dry run of some": (
        f"POST {CONFIGMAPS}?dryRun=Some",
        JSON,
        b'{"metadata":{"name":"x"}}',
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ),
    "a limit that is none": (f"GET {CONFIGMAPS}?limit=abc", JSON, b"", 400, "BadRequest", "strconv.ParseInt: parsing"),
    "a broken selector": (
        f"DELETE {CONFIGMAPS}?labelSelector=a===",
        JSON,
        b"",
        400,
        "BadRequest",
        "unable to parse requirement: ",
    ),
    "a method that is not there": (
        f"PUT {CONFIGMAPS}",
        JSON,
        b"{}",
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
}


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
    before = server.num_fds()
    body = json.dumps({"metadata": {"generateName": "big-"}, "data": {"k": "a" * 300_000}}).encode()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(wire.open()).sendall(f"GET {CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        for _ in range(20):
            made = wire.request(f"POST {CONFIGMAPS}", body)
            assert made.status == 201
            assert wire.request(f"DELETE {CONFIGMAPS}/{made.json['metadata']['name']}").status == 200
        assert server.num_fds() >= before + 20
    eventually(lambda: server.num_fds() <= before + 2)


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
