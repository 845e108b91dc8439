"""However a path is written, what answers is what was asked for: nobody without rights gets anything that way.

The one who asks may read configmaps of `team`, and the public and discovery paths; a Secret with a marked value is what must not
leak.
Requests go through the real carrier, so that what HTTP libraries do to paths is tested with it.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.http import HttpServer
from setpoint.apiserver.routing import RequestInfo

from .conftest import World, person, rule, user

MARK = "do-not-tell"
ENCODED = base64.b64encode(MARK.encode()).decode()


class Somebody:
    """Every connection is the same user's, whatever it says."""

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Any) -> UserInfo:
        return person("somebody")


class Wire:
    """Sends requests as they are written, byte by byte."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def __call__(self, line: str, *headers: str, body: str = "") -> tuple[int, str]:
        """Status and everything that came, five seconds at the most."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = [f"{line} HTTP/1.1", "Host: x", "Connection: close", *headers]
        if body:
            head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        writer.write(("\r\n".join(head) + "\r\n\r\n" + body).encode("latin-1"))
        received = b""
        try:
            async with asyncio.timeout(5):
                while piece := await reader.read(65536):
                    received += piece
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()
        text = received.decode("utf-8", "replace")
        return int(text.split(" ", 2)[1]) if text.startswith("HTTP/") else 0, text


@pytest.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    await world.role("team", "reader", rule("get,list,watch", "configmaps"))
    await world.bind("team", "reader", "reader", user("somebody"), kind="Role")
    for namespace in ("team", "other"):
        secret = {"metadata": {"name": "s", "annotations": {"a": MARK}}, "data": {"k": ENCODED}}
        await world(f"POST /api/v1/namespaces/{namespace}/secrets", body=secret)
    await world("POST /api/v1/namespaces/other/configmaps", body={"metadata": {"name": "c"}, "data": {"k": MARK}})
    server = HttpServer(world.pipeline, Somebody())
    port = await server.start("127.0.0.1", 0, None)
    yield Wire(port)
    await server.stop(0.1)


ODD = [
    # encoded slashes and letters
    "/api/v1/namespaces/team%2Fsecrets/s",
    "/api/v1/namespaces/team/secrets%2Fs",
    "/api/v1/namespaces%2Fteam%2Fsecrets%2Fs",
    "/api%2Fv1%2Fnamespaces%2Fteam%2Fsecrets%2Fs",
    "/%61pi/v1/namespaces/team/secrets/s",
    "/api/v1/namespaces/team/%73ecrets/s",
    "/api/v1/namespaces/team/configmaps%2F..%2Fsecrets%2Fs",
    "/api/v1/namespaces/team/secrets%00/s",
    "/api/v1/namespaces/team/secrets;a=b/s",
    "/api/v1/namespaces/team/secrets%3Fwatch=1",
    "/api/v1/namespaces/team%252Fsecrets/s",
    # double slashes
    "//api/v1/namespaces/team/secrets/s",
    "/api//v1/namespaces/team/secrets/s",
    "/api/v1//namespaces/team/secrets/s",
    "/api/v1/namespaces//team/secrets/s",
    "/api/v1/namespaces/team//secrets/s",
    "/api/v1/namespaces/team/secrets//s",
    "/api/v1/namespaces/team/secrets/s/",
    "/api/v1/namespaces/team/secrets/s//",
    "/api/v1/namespaces//secrets",
    "/api/v1/secrets//",
    # dots
    "/api/v1/namespaces/team/configmaps/../secrets/s",
    "/api/v1/namespaces/team/./secrets/s",
    "/api/v1/../../api/v1/namespaces/team/secrets/s",
    "/healthz/../api/v1/namespaces/team/secrets/s",
    "/openapi/v2/../../api/v1/secrets",
    "/version/../api/v1/namespaces/team/secrets/s",
    "/api/v1/namespaces/team/configmaps/..%2fsecrets",
    "/api/v1/namespaces/../namespaces/team/secrets",
    # other collections than one's own
    "/api/v1/secrets",
    "/api/v1/secrets?fieldSelector=metadata.namespace=team",
    "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother",
    "/api/v1/namespaces/other/configmaps/c",
    "/api/v1/namespaces/team/secrets?fieldSelector=metadata.name=s",
    "/api/v1/namespaces/team/secrets/s?fieldSelector=metadata.name=x",
    # watches, of names and by the old paths
    "/api/v1/namespaces/team/secrets?watch=true&fieldSelector=metadata.name=s",
    "/api/v1/namespaces/team/secrets?watch=1",
    "/api/v1/namespaces/team/secrets?watch",
    "/api/v1/namespaces/team/secrets/s?watch=1",
    "/api/v1/watch/secrets",
    "/api/v1/watch/namespaces/team/secrets",
    "/api/v1/watch/namespaces/team/secrets/s",
    "/api/v1/watch//namespaces/team/secrets",
    "/api/v1/watch/watch/secrets",
    # proxies and what hangs below
    "/api/v1/proxy/namespaces/team/secrets/s",
    "/api/v1/namespaces/team/secrets/s/proxy",
    "/api/v1/namespaces/team/configmaps/c/proxy/../../../secrets/s",
    "/api/v1/namespaces/team/pods/p/proxy/api/v1/secrets",
    "/api/v1/namespaces/team/services/s/proxy",
    "/api/v1/nodes/n1/proxy/pods",
    "/api/v1/namespaces/team/secrets/s/status",
    "/api/v1/namespaces/team/status",
    # other groups and versions
    "/api/v2/namespaces/team/secrets/s",
    "/apis//v1/namespaces/team/secrets/s",
    "/apis/v1/namespaces/team/secrets/s",
    "/apis/core/v1/namespaces/team/secrets/s",
    "/apis/metrics.k8s.io/v1beta1/namespaces/team/pods",
    "/apis/metrics.k8s.io/v1beta1//namespaces/team/pods",
    "/apis/example.com/v1/namespaces/team/secrets/s",
    "/apis/apps/v1/namespaces/team/../../../../api/v1/secrets",
    "/API/v1/namespaces/team/secrets/s",
    "/api/V1/namespaces/team/secrets/s",
    "/api/v1/Namespaces/team/secrets/s",
    "/api/v1/namespaces/team/Secrets/s",
    # whole URLs and fragments
    "http://x/api/v1/namespaces/team/secrets/s",
    "/api/v1/namespaces/team/secrets/s#frag",
    "/metrics",
    "/metrics/",
    "//metrics",
    "/debug/../metrics",
    "/logs/",
]


async def test_no_path_tells_a_secret(wire: Wire) -> None:
    answers = [await wire(f"GET {path}") for path in ODD]
    told = [path for path, (_, text) in zip(ODD, answers, strict=True) if MARK in text or ENCODED in text or "process_" in text]
    assert told == []
    odd = {path: status for path, (status, _) in zip(ODD, answers, strict=True) if status not in (400, 403, 404)}
    assert odd == {}


OVERRIDES = (
    "X-HTTP-Method-Override: GET",
    "X-HTTP-Method: GET",
    "X-Method-Override: GET",
    "X-Original-URL: /api/v1/namespaces/team/configmaps",
    "X-Rewrite-URL: /api/v1/namespaces/team/configmaps",
    "X-Forwarded-Prefix: /api/v1/namespaces/team/configmaps",
    "X-Remote-User: admin",
    "X-Remote-Group: system:masters",
)


async def test_headers_change_neither_method_nor_path_nor_user(wire: Wire, world: World) -> None:
    for header in OVERRIDES:
        status, text = await wire("GET /api/v1/namespaces/team/secrets/s", header)
        assert (status, MARK in text) == (403, False), header
        assert (await wire("DELETE /api/v1/namespaces/team/secrets/s", header))[0] == 403, header
        overridden = header.replace("GET", "PUT")
        assert (await wire("POST /api/v1/namespaces/team/configmaps", overridden, body="{}"))[0] == 403, header
    assert (await world("GET /api/v1/namespaces/team/secrets/s"))["metadata"]["name"] == "s"


async def test_no_method_tells_a_secret(wire: Wire) -> None:
    for method in ("HEAD", "OPTIONS", "POST", "PUT", "PATCH", "TRACE", "SEARCH", "GETX", "get"):
        for path in ("/api/v1/namespaces/team/secrets/s", "/api/v1/namespaces/team/secrets", "/metrics"):
            status, text = await wire(f"{method} {path}", body="{}" if method in ("POST", "PUT", "PATCH") else "")
            assert MARK not in text, (method, path)
            assert status in (400, 403, 405), (method, path, text)


async def test_upgrades_are_asked_first(wire: Wire) -> None:
    socket = ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==")
    for protocol in ("websocket", "SPDY/3.1", "h2c", "kubernetes"):
        for path in (
            "/api/v1/namespaces/team/secrets?watch=1",
            "/api/v1/namespaces/team/secrets/s",
            "/api/v1/namespaces/team/pods/p/exec?command=id",
            "/api/v1/namespaces/team/pods/p/attach",
            "/api/v1/namespaces/team/pods/p/portforward",
            "/api/v1/namespaces/team/pods/p/proxy/x",
            "/api/v1/nodes/n/proxy/x",
        ):
            status, text = await wire(f"GET {path}", f"Upgrade: {protocol}", "Connection: Upgrade", *socket)
            assert MARK not in text, (protocol, path)
            assert status == 403, (protocol, path, text)


async def test_what_is_allowed_answers(wire: Wire) -> None:
    assert (await wire("GET /api/v1/namespaces/team/configmaps"))[0] == 200
    assert (await wire("GET /api/v1/namespaces/team/configmaps/"))[0] == 200
    assert (await wire("GET /healthz"))[0] == 200


async def test_whoever_answers_was_asked_about(world: World) -> None:
    """Every request is decided on, and by the same reading of its path that routes it."""
    seen: list[RequestInfo] = []
    door = world.pipeline.authorizer
    assert door is not None
    decide = door.decide

    async def watched(who: UserInfo, info: RequestInfo) -> object:
        seen.append(info)
        return await decide(who, info)

    door.decide = watched  # type: ignore[method-assign, assignment]  # a witness
    for path in ODD:
        await world.respond(f"GET {path}")
    assert len(seen) == len(ODD)
