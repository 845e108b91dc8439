"""Where the API server connects on others' behalf."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from setpoint.apiserver import reach
from setpoint.apiserver.webhooks.client import WebhookClient
from setpoint.apiserver.webhooks.failures import CallFailed
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "fe80::1%eth0", "224.0.0.1", "::ffff:0.0.0.0", "::", "::ffff:169.254.1.1", "255.255.255.255"],
)
def test_nobodys_addresses_are_refused(address: str) -> None:
    with pytest.raises(reach.NotAllowed, match="not allowed"):
        reach.check(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1", "192.0.2.1", "2001:db8::1", "fd00::1"])
def test_others_are_not(address: str) -> None:
    reach.check(address)


async def test_webhooks_are_not_called_at_the_metadata_service() -> None:
    client = WebhookClient(memory_store(RealClock()))
    with pytest.raises(CallFailed, match=r"169\.254\.169\.254.*not allowed"):
        await client.call({"url": "https://169.254.169.254/latest"}, b"{}", seconds=2)
    await client.close()


async def test_names_are_judged_by_what_they_resolve_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 443))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve, raising=False)
    client = WebhookClient(memory_store(RealClock()))
    with pytest.raises(CallFailed, match="not allowed"):
        await client.call({"url": "https://innocent.example/hook"}, b"{}", seconds=2)
    await client.close()


@pytest.fixture
async def elsewhere() -> AsyncIterator[str]:
    """A server that sends everybody away."""

    async def away(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/"})

    runner = web.ServerRunner(web.Server(away))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def test_web_sockets_follow_no_redirects(elsewhere: str) -> None:
    connector = aiohttp.TCPConnector(socket_factory=reach.make_socket)
    async with aiohttp.ClientSession(connector=connector, trace_configs=[reach.no_redirects()]) as session:
        with pytest.raises(aiohttp.ClientError, match=r"redirect \(307\), which is not followed"):
            await session.ws_connect(elsewhere)
