"""exec over WebSocket through the API server, frame by frame."""

from __future__ import annotations

import asyncio
import json
import ssl
from typing import Any

import aiohttp
from tests.e2e.wire import Wire

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"


async def converse(wire: Wire, pod: str, script: str, protocols: list[str], *frames: bytes | str) -> tuple[str, dict[int, bytes]]:
    """Run a script with these frames as input: the protocol that was chosen, and what came on each channel."""
    query = [("stdin", "true"), ("stdout", "true"), ("stderr", "true"), *(("command", word) for word in ("sh", "-c", script))]
    said: dict[int, bytes] = {}
    url = f"https://{wire.host}:{wire.port}{pod}/exec"
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=wire.context)) as session,
        session.ws_connect(url, params=query, protocols=protocols) as socket,
    ):
        for frame in frames:
            await (socket.send_str(frame) if isinstance(frame, str) else socket.send_bytes(frame))
        async with asyncio.timeout(30):
            async for message in socket:
                if message.type is aiohttp.WSMsgType.BINARY:
                    said[message.data[0]] = said.get(message.data[0], b"") + message.data[1:]
        return socket.protocol or "", said


async def test_the_end_of_input_the_rest_of_output_and_the_exit_code(wire: Wire, pod: str) -> None:
    script = "cat; echo after; echo beside >&2; exit 7"
    protocol, said = await converse(wire, pod, script, [V5, V4], b"\x00given ", "\x00as text\n", b"\xff\x00")
    assert protocol == V5
    assert (said[1], said[2]) == (b"given as text\nafter\n", b"beside\n")
    status = json.loads(said[3])
    assert (status["status"], status["reason"]) == ("Failure", "NonZeroExitCode")
    assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}]


async def test_success_and_the_older_protocol(wire: Wire, pod: str) -> None:
    protocol, said = await converse(wire, pod, "head -n 1", [V4], b"\x00line\n")
    assert (protocol, said[1]) == (V4, b"line\n")
    assert json.loads(said[3])["status"] == "Success"


async def test_the_upgrade_is_http_1_even_where_http_2_is_offered(wire: Wire, pod: str) -> None:
    wire.context.set_alpn_protocols(["h2", "http/1.1"])
    _, said = await converse(wire, pod, "echo one", [V5])
    assert said[1] == b"one\n"
    with wire.open() as secure:
        assert isinstance(secure, ssl.SSLSocket)
        assert secure.selected_alpn_protocol() == "http/1.1"


async def test_a_program_that_is_not_there_is_said_on_the_status_channel(wire: Wire, pod: str) -> None:
    _, said = await converse(wire, pod, "none-such-program", [V5])
    assert json.loads(said[3])["details"]["causes"][0]["message"] == "127"


def test_what_is_no_upgrade_is_refused(wire: Wire, pod: str) -> None:
    answer: Any = wire.request(f"GET {pod}/exec?command=true&stdout=true")
    assert answer.status == 400
    assert answer.json["reason"] == "BadRequest"
