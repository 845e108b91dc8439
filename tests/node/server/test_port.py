"""The agent's port: who is let in, and how streams behave on the wire."""

from __future__ import annotations

import ssl
from typing import Any

import aiohttp
import orjson
import pytest
from tests.node.conftest import Rig, sh

from setpoint.apiserver.pki import KeyPair, Subject


def _session(rig: Rig, pair: KeyPair | None) -> aiohttp.ClientSession:
    context = ssl.create_default_context(cafile=str(rig.server.authority.certificate_file))
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))


def _api_server(rig: Rig) -> KeyPair:
    return rig.server.authority.issue("test-kubelet-client", Subject("kube-apiserver-kubelet-client", ("system:masters",)))


async def test_only_the_api_server_is_let_in(rig: Rig) -> None:
    agent = await rig.start_agent()
    url = f"https://127.0.0.1:{agent.port}/healthz"
    async with _session(rig, _api_server(rig)) as session, session.get(url) as answer:
        assert (answer.status, await answer.text()) == (200, "ok")
    other = rig.server.authority.issue("test-other", Subject("admin", ("system:masters",)))
    async with _session(rig, other) as session, session.get(url) as answer:
        assert answer.status == 403
    async with _session(rig, None) as session:
        with pytest.raises((aiohttp.ClientError, ConnectionError)):
            await session.get(url)


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
async def test_exec_on_the_wire(rig: Rig, protocol: str) -> None:
    agent = await rig.start_agent()
    pod = await rig.create(sh("exec sleep 1000"))
    await rig.running()
    url = f"https://127.0.0.1:{agent.port}/exec/default/p/{pod.metadata.uid}/c"
    script = "cat; echo after; exit 7" if protocol.startswith("v5") else "head -n 1; echo after; exit 7"
    query = [("stdin", "true"), ("stdout", "true"), ("stderr", "true"), *(("command", word) for word in ("sh", "-c", script))]
    async with _session(rig, _api_server(rig)) as session, session.ws_connect(url, params=query, protocols=[protocol]) as socket:
        assert socket.protocol == protocol
        await socket.send_bytes(b"\x00given\n")
        if protocol.startswith("v5"):
            await socket.send_bytes(b"\xff\x00")
        frames = [message.data async for message in socket if message.type is aiohttp.WSMsgType.BINARY]
    assert b"".join(frame[1:] for frame in frames if frame[0] == 1) == b"given\nafter\n"
    status: dict[str, Any] = orjson.loads(frames[-1][1:])
    assert frames[-1][0] == 3
    assert (status["reason"], status["details"]["causes"]) == ("NonZeroExitCode", [{"reason": "ExitCode", "message": "7"}])


async def test_a_terminal_can_be_resized(rig: Rig) -> None:
    agent = await rig.start_agent()
    await rig.create(sh("exec sleep 1000"))
    await rig.running()
    url = f"https://127.0.0.1:{agent.port}/exec/default/p/c"
    query = [
        ("stdin", "true"),
        ("stdout", "true"),
        ("tty", "true"),
        *(("command", word) for word in ("sh", "-c", "read x; stty size")),
    ]
    async with (
        _session(rig, _api_server(rig)) as session,
        session.ws_connect(url, params=query, protocols=["v5.channel.k8s.io"]) as ws,
    ):
        await ws.send_bytes(b'\x04{"Width":120,"Height":33}')
        await ws.send_bytes(b"\x00\n")
        frames = [message.data async for message in ws if message.type is aiohttp.WSMsgType.BINARY]
    assert b"33 120" in b"".join(frame[1:] for frame in frames if frame[0] == 1)
    assert orjson.loads(frames[-1][1:])["status"] == "Success"


async def test_attach_gives_input_and_output(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create({"name": "c", "image": "host", "command": ["cat"], "stdin": True, "stdinOnce": True}, restartPolicy="Never")
    await rig.running()
    assert "typed" in await rig.kubectl("attach", "-i", "p", stdin=b"typed\n")
    assert await rig.kubectl("logs", "p") == "typed\n"
    await rig.until(lambda pod: pod.status.phase == "Succeeded")
    base = f"https://127.0.0.1:{rig.agent.port}"
    said = {
        path: await _refusal(rig, f"{base}/{path}") for path in ("attach/default/p/c", "exec/default/p/d", "exec/default/q/c")
    }
    assert said == {
        "attach/default/p/c": "container c not found in pod p_default",
        "exec/default/p/d": 'container not found ("d")',
        "exec/default/q/c": "pod does not exist",
    }


async def _refusal(rig: Rig, url: str) -> str:
    """What is said on the stream that there is nothing to talk to."""
    query = {"stdout": "true", "command": "true"}
    async with (
        _session(rig, _api_server(rig)) as session,
        session.ws_connect(url, params=query, protocols=["v5.channel.k8s.io"]) as socket,
    ):
        frame = await socket.receive_bytes()
    status: dict[str, Any] = orjson.loads(frame[1:])
    assert (frame[0], status["code"], status["reason"]) == (3, 500, "InternalError")
    message: str = status["message"]
    return message.removeprefix("Internal error occurred: unable to upgrade connection: ")


async def test_kubectl_says_what_went_wrong(rig: Rig) -> None:
    await rig.start_agent()
    await rig.create(sh("exec sleep 1000"))
    await rig.running()
    absent = await rig.kubectl("exec", "p", "--", "tar", "cf", "-", "/none-such", ok=False)
    assert absent.endswith("command terminated with exit code 2\n")
    assert "/none-such: Cannot stat: No such file or directory" in absent
    script = "head -c 300000 /dev/zero; echo beside >&2; exit 5"
    said = await rig.kubectl("exec", "p", "--", "sh", "-c", script, ok=False)
    assert (said.count("\0"), said.replace("\0", "")) == (300_000, "beside\ncommand terminated with exit code 5\n")
    await rig.stop_agent()
    assert 'error dialing backend of node "node-1"' in await rig.kubectl("exec", "p", "--", "true", ok=False)


async def test_figures(rig: Rig) -> None:
    agent = await rig.start_agent()
    await rig.create(sh("exec sleep 1000"))
    await rig.running()
    base = f"https://127.0.0.1:{agent.port}"
    async with _session(rig, _api_server(rig)) as session:
        async with session.get(f"{base}/stats/summary") as answer:
            summary = orjson.loads(await answer.read())
        async with session.get(f"{base}/pods") as answer:
            pods = orjson.loads(await answer.read())
    assert summary["pods"][0]["containers"][0]["memory"]["rssBytes"] > 0
    assert pods["items"][0]["status"]["phase"] == "Running"
