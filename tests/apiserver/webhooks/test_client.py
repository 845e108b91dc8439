"""The client of all webhooks: connections, trust, services, and Go's words for what goes wrong."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from tests.apiserver.webhooks.serving import Certificate, serving

from setpoint.apiserver.webhooks.client import WebhookClient
from setpoint.apiserver.webhooks.failures import CallFailed
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Encoded, Store


class Hook:
    """A server that counts its connections. `drop` closes the next request's connection without an answer."""

    def __init__(self, bundle: str) -> None:
        self.bundle = bundle
        self.port = 0
        self.peers: set[Any] = set()
        self.calls = 0
        self.drop = False

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        self.calls += 1
        self.peers.add(request.transport.get_extra_info("peername"))
        if self.drop:
            self.drop = False
            request.transport.close()
        if request.path == "/away":
            return web.Response(status=307, headers={"Location": f"https://127.0.0.1:{self.port}/"})
        return web.Response(body=await request.read())

    def config(self, path: str = "", **more: Any) -> dict[str, Any]:
        return {"url": f"https://127.0.0.1:{self.port}/{path}", "caBundle": self.bundle, **more}


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    made = memory_store(RealClock())
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def client(store: Store) -> AsyncIterator[WebhookClient]:
    made = WebhookClient(store)
    yield made
    await made.close()


@pytest.fixture
async def hook(tmp_path: Path) -> AsyncIterator[Hook]:
    pair = Certificate.made(tmp_path, "hook.default.svc")
    made = Hook(pair.bundle)
    async with serving(made.handle, pair.server_context()) as made.port:
        yield made


async def _why(client: WebhookClient, config: dict[str, Any]) -> str:
    with pytest.raises(CallFailed) as failure:
        await client.call(config, b"x", seconds=3)
    return str(failure.value)


async def _put(store: Store, key: str, obj: dict[str, Any]) -> None:
    await store.create(key, lambda _: Encoded(orjson.dumps(obj)))


async def test_connections_are_used_again(client: WebhookClient, hook: Hook) -> None:
    for _ in range(5):
        assert await client.call(hook.config(), b"hello", seconds=3) == b"hello"
    assert len(hook.peers) == 1


async def test_a_kept_connection_that_ended_is_no_failure(client: WebhookClient, hook: Hook) -> None:
    await client.call(hook.config(), b"", seconds=3)
    hook.drop = True
    assert await client.call(hook.config(), b"again", seconds=3) == b"again"
    assert len(hook.peers) == 2


async def test_a_new_connection_that_ends_is_one(client: WebhookClient, hook: Hook) -> None:
    hook.drop = True
    assert (await _why(client, hook.config("x"))) == f'Post "https://127.0.0.1:{hook.port}/x?timeout=3s": EOF'
    assert hook.calls == 1


async def test_redirects_are_not_followed(client: WebhookClient, hook: Hook) -> None:
    assert await _why(client, hook.config("away")) == (
        "the server responded with the status code 307 but did not return more information"
    )
    assert hook.calls == 1


async def test_trust(client: WebhookClient, hook: Hook) -> None:
    unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert (await _why(client, hook.config(caBundle=None))).endswith(unknown)
    named = {"url": f"https://localhost:{hook.port}/", "caBundle": hook.bundle}
    assert "x509: certificate is not valid for any names, but wanted to match localhost" in await _why(client, named)
    why = "unable to load root certificates: unable to parse bytes as PEM block"
    assert await _why(client, hook.config(caBundle="bm90aGluZw==")) == why


async def test_nobody_listens(client: WebhookClient, hook: Hook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"https://127.0.0.1:{port}/x"
    expected = f'Post "{url}?timeout=3s": dial tcp 127.0.0.1:{port}: connect: connection refused'
    assert await _why(client, {"url": url, "caBundle": hook.bundle}) == expected


async def test_no_tls(client: WebhookClient, hook: Hook) -> None:
    async def plain(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        config = {"url": f"https://127.0.0.1:{port}/", "caBundle": hook.bundle}
        assert (await _why(client, config)).endswith("http: server gave HTTP response to HTTPS client")


async def test_services_are_looked_up(client: WebhookClient, hook: Hook, store: Store) -> None:
    service = {"namespace": "default", "name": "hook", "path": "/p", "port": 443}
    config = {"service": service, "caBundle": hook.bundle}
    url = 'Post "https://hook.default.svc:443/p?timeout=3s": '
    assert await _why(client, config) == f'{url}service "hook" not found'
    spec = {"selector": {"a": "b"}, "clusterIP": "10.96.0.9", "ports": [{"name": "https", "port": 443}]}
    await _put(store, "services/default/hook", {"spec": spec})
    assert await _why(client, {**config, "service": {**service, "port": 8}}) == (
        'Post "https://hook.default.svc:8/p?timeout=3s": no service port 8 found for service "hook"'
    )
    assert await _why(client, config) == f'{url}no endpoints available for service "hook"'
    piece = {
        "metadata": {"labels": {"kubernetes.io/service-name": "hook"}},
        "endpoints": [
            {"addresses": ["192.0.2.1"], "conditions": {"ready": False}},
            {"addresses": ["127.0.0.1"], "conditions": {"ready": True}},
        ],
        "ports": [{"name": "https", "port": hook.port}],
    }
    await _put(store, "endpointslices.discovery.k8s.io/default/hook-1", piece)
    assert await client.call(config, b"found", seconds=3) == b"found"


async def test_services_without_an_address(client: WebhookClient, store: Store) -> None:
    config = {"service": {"namespace": "default", "name": "hook"}}
    url = 'Post "https://hook.default.svc:443/?timeout=3s": '
    await _put(store, "services/default/hook", {"spec": {"clusterIP": "None"}})
    assert await _why(client, config) == f'{url}cannot route to service with ClusterIP "None"'
    await _put(store, "services/default/else", {"spec": {"type": "ExternalName", "externalName": "none.invalid"}})
    config["service"]["name"], url = "else", url.replace("hook", "else")
    assert await _why(client, config) == f"{url}dial tcp: lookup none.invalid: no such host"


async def test_an_answer_has_a_limit(client: WebhookClient, hook: Hook) -> None:
    with pytest.raises(CallFailed, match="larger than 10 bytes"):
        await client.call(hook.config(), b"more than ten bytes", seconds=3, limit=10)
