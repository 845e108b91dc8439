"""Streams over SPDY/3.1, as kubectl before 1.31 and many programs in Go speak it: by hand, frame by frame.

With SETPOINT_KUBECTL an old kubectl says the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import ssl
import subprocess
from collections.abc import Iterator
from urllib.parse import quote

import psutil
import pytest
from tests.e2e.wire import Wire

from setpoint.node.server.spdy.frames import Data, Decoder, Encoder
from setpoint.testing.real import Cluster, eventually

UPGRADE = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
#: as Go writes a header with several values
OFFERED = "".join(
    f"X-Stream-Protocol-Version: {name}\r\n" for name in ("v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io")
)


class Client:
    """A connection that was upgraded."""

    def __init__(self, secure: ssl.SSLSocket, target: str, headers: str = OFFERED) -> None:
        self._secure = secure
        secure.sendall(f"POST {target} HTTP/1.1\r\nHost: x\r\n{UPGRADE}{headers}Content-Length: 0\r\n\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data and (piece := secure.recv(65536)):
            data += piece
        self.head, _, self._rest = data.partition(b"\r\n\r\n")
        self._encoder, self._decoder = Encoder(), Decoder()

    def open(self, *kinds: str, **headers: str) -> None:
        for number, kind in enumerate(kinds):
            self.say(self._encoder.opened(2 * number + 1, {"streamType": kind, **headers}))

    def say(self, data: bytes) -> None:
        self._secure.sendall(data)

    def rest(self) -> dict[int, bytes]:
        """What came on each stream, until the server hangs up."""
        said: dict[int, bytes] = {}
        data = self._rest
        while True:
            for frame in self._decoder.feed(data):
                if isinstance(frame, Data):
                    said[frame.stream] = said.get(frame.stream, b"") + frame.data
            with contextlib.suppress(ssl.SSLEOFError, ConnectionResetError):
                data = self._secure.recv(65536)
            if not data:
                return said


@contextlib.contextmanager
def process(wire: Wire, pod: str, script: str, streams: str = "stdin stdout stderr", kind: str = "exec") -> Iterator[Client]:
    wanted = "&".join(f"{name}=true" for name in streams.split())
    with wire.open() as secure:
        yield Client(secure, f"{pod}/{kind}?{wanted}&command=sh&command=-c&command={quote(script)}")


def test_the_end_of_input_the_rest_of_output_and_the_exit_code(wire: Wire, pod: str) -> None:
    with process(wire, pod, "cat; echo after; echo beside >&2; exit 7") as client:
        assert client.head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
        assert b"X-Stream-Protocol-Version: v4.channel.k8s.io" in client.head
        client.open("error", "stdin", "stdout", "stderr")
        client.say(Encoder.data(3, b"given\n"))
        client.say(Encoder.data(3, b"", fin=True))
        said = client.rest()
    assert (said[5], said[7]) == (b"given\nafter\n", b"beside\n")
    status = json.loads(said[1])
    assert (status["status"], status["reason"]) == ("Failure", "NonZeroExitCode")
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}]


def test_a_terminal_has_a_size_and_no_errors_of_its_own(wire: Wire, pod: str) -> None:
    with process(wire, pod, "read line; stty size; echo $line >&2", "stdin stdout tty") as client:
        client.open("error", "stdin", "stdout", "resize")
        client.say(Encoder.data(7, json.dumps({"Width": 120, "Height": 40}).encode()))
        client.say(Encoder.data(3, b"typed\n"))
        said = client.rest()
    assert b"40 120\r\ntyped\r\n" in said[5]
    assert json.loads(said[1])["status"] == "Success"


def test_what_cannot_be_started_is_told_on_the_error_stream(wire: Wire, pod: str) -> None:
    with wire.open() as secure:
        client = Client(secure, f"{pod}/exec?stdout=true&command=/no/such/program")
        client.open("error", "stdout")
        said = client.rest()
    assert "no such file or directory" in json.loads(said[1])["message"]


def test_what_is_not_spdy_after_all_ends_the_connection(wire: Wire, pod: str) -> None:
    with process(wire, pod, "sleep 100") as client:
        client.say(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.rest() == {}


def test_a_client_that_goes_leaves_nothing(shared_cluster: Cluster, wire: Wire, pod: str) -> None:
    assert shared_cluster.process is not None
    server = psutil.Process(shared_cluster.process.pid)
    ports = set()
    for _ in range(20):
        with process(wire, pod, "cat") as client:
            ports.add(client._secure.getsockname()[1])
            client.open("error", "stdin", "stdout", "stderr")
    eventually(lambda: not ports & {each.raddr.port for each in server.net_connections() if each.raddr})


@pytest.mark.parametrize(
    ("path", "headers", "code", "message"),
    [
        (
            "exec?stdout=true&command=true",
            "",
            403,
            "unable to upgrade: unable to negotiate protocol: client supports [], server accepts [v4",
        ),
        ("exec?stdout=true&command=true", "X-Stream-Protocol-Version: v1\r\n", 403, "client supports [v1], server accepts [v4"),
        (
            "portforward",
            OFFERED,
            403,
            "client supports [v5.channel.k8s.io v4.channel.k8s.io channel.k8s.io], server accepts [portf",
        ),
        ("exec?stdout=true", OFFERED, 400, "you must specify at least one command for the container"),
        ("exec?command=true", OFFERED, 400, "you must specify at least one of stdin, stdout, stderr"),
        ("attach?stdout=true&container=none", OFFERED, 400, "container none is not valid for pod p"),
    ],
)
def test_upgrades_that_are_refused(wire: Wire, pod: str, path: str, headers: str, code: int, message: str) -> None:
    answer = wire.say(f"POST {pod}/{path} HTTP/1.1\r\nHost: x\r\n{UPGRADE}{headers}Content-Length: 0\r\n\r\n".encode())
    assert (answer.status, message in answer.json["message"]) == (code, True), answer.json


@pytest.mark.skipif("SETPOINT_KUBECTL" not in os.environ, reason="no old kubectl was named")
def test_an_old_kubectl(shared_cluster: Cluster, namespace: str, pod: str) -> None:
    assert pod
    program = [os.environ["SETPOINT_KUBECTL"], "--kubeconfig", str(shared_cluster.kubeconfig), "-n", namespace]

    def run(*words: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        done = subprocess.run([*program, *words], input=stdin, capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    assert run("exec", "p", "--", "sh", "-c", "echo out; echo err >&2; exit 7") == (
        7,
        b"out\n",
        b"err\ncommand terminated with exit code 7\n",
    )
    data = os.urandom(3_000_000)
    assert run("exec", "-i", "p", "--", "cat", stdin=data) == (0, data, b"")
