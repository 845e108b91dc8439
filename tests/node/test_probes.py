from __future__ import annotations

import asyncio
import struct

import pytest

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import Container, HTTPGetAction, Probe
from setpoint.node import grpc_health
from setpoint.node.handlers import Http, connect, port_of
from setpoint.node.probes import Judge


@pytest.mark.parametrize(
    ("results", "changes"),
    [("+", [True]), ("--", []), ("---", [False]), ("-+--", [True]), ("+--+---", [True, False]), ("+---+", [True, False, True])],
)
def test_thresholds(results: str, changes: list[bool]) -> None:
    judge = Judge(Probe(failure_threshold=3, success_threshold=1), initially=None)
    assert [judge.result for each in results if judge.take(each == "+")] == changes


def test_a_success_threshold() -> None:
    judge = Judge(Probe(failure_threshold=1, success_threshold=2), initially=None)
    assert [judge.take(each == "+") for each in "++-++"] == [False, True, True, False, True]


def test_ports_by_name() -> None:
    container = convert({"name": "c", "ports": [{"name": "web", "containerPort": 80}]}, Container)
    assert (port_of(container, "web"), port_of(container, 81), port_of(container, "82"), port_of(container, "x")) == (
        80,
        81,
        82,
        None,
    )


async def _serve(answer: bytes) -> tuple[asyncio.Server, int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(("code", "ok"), [(200, True), (302, True), (399, True), (404, False), (500, False)])
async def test_http_codes(code: int, ok: bool) -> None:
    server, port = await _serve(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % code)
    http = Http()
    try:
        outcome = await http.get(Container(), HTTPGetAction(port=port, path="/x"), "127.0.0.1", 2.0, "test")
        assert outcome.ok is ok
        assert ok or outcome.message == f"HTTP probe failed with statuscode: {code}"
    finally:
        await http.close()
        server.close()


async def test_a_closed_port_says_what_go_says() -> None:
    server, port = await _serve(b"")
    server.close()
    await server.wait_closed()
    assert (await connect("127.0.0.1", port, 1.0)).message == f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    http = Http()
    try:
        outcome = await http.get(Container(), HTTPGetAction(port=port, path="healthz"), "127.0.0.1", 1.0, "test")
    finally:
        await http.close()
    url = f"http://127.0.0.1:{port}/healthz"
    assert outcome.message == f'Get "{url}": dial tcp 127.0.0.1:{port}: connect: connection refused'


@pytest.mark.parametrize(
    ("status", "ok", "text"), [(1, True, ""), (2, False, 'service unhealthy (responded with "NOT_SERVING")')]
)
async def test_grpc_health(status: int, ok: bool, text: str) -> None:
    asked = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(24)
        writer.write(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
        while True:
            head = await reader.readexactly(9)
            body = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if head[3] == 0:
                asked.append(body[5:])
                break
        message = b"\x08" + bytes([status])
        payload = b"\x00" + struct.pack(">I", len(message)) + message
        writer.write(b"\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88")
        writer.write(len(payload).to_bytes(3, "big") + b"\x00\x00\x00\x00\x00\x01" + payload)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        outcome = await grpc_health.check("127.0.0.1", server.sockets[0].getsockname()[1], "svc", 2.0)
    finally:
        server.close()
    assert (outcome.ok, outcome.message) == (ok, text)
    assert asked == [b"\x0a\x03svc"]


async def test_names_and_headers_that_no_request_can_have_fail_the_probe_and_nothing_else() -> None:
    assert not (await connect("x" * 80 + ".example", 80, 1.0)).ok
    container = convert({"name": "c"}, Container)
    action = convert({"port": 80, "httpHeaders": [{"name": "X", "value": "a\nb"}]}, HTTPGetAction)
    http = Http()
    assert not (await http.get(container, action, "127.0.0.1", 1.0, "kube-probe/1.36")).ok
    await http.close()
