"""Client certificates and front proxies over real TLS: whom the server takes a client for."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from setpoint.apiserver.authentication import Anonymous, Authentication
from setpoint.apiserver.authentication.certificates import Authorities
from setpoint.apiserver.authentication.front_proxy import FrontProxy
from setpoint.apiserver.http import HttpServer, server_context
from setpoint.apiserver.pki import SERVER, Authority, KeyPair, Subject
from setpoint.apiserver.request import Request, Response, json_response


class Echo:
    """Answers who asks."""

    async def handle(self, request: Request) -> Response:
        user = request.user
        extra = {name: list(values) for name, values in user.extra.items()}
        return json_response({"name": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra})


class Rig:
    def __init__(self, directory: Path) -> None:
        self.clients = Authority(directory / "clients")
        self.proxies = Authority(directory / "proxies", "proxies")
        self.strangers = Authority(directory / "strangers")
        authorities = Authorities(self.clients.certificate_file, self.proxies.certificate_file)
        authentication = Authentication([], anonymous=Anonymous(), front_proxy=FrontProxy(("proxy",)))
        self.server = HttpServer(Echo(), authentication, authorities)
        self.port = 0

    async def start(self) -> None:
        pair = self.clients.issue("server", Subject("server", (), ("127.0.0.1",), (SERVER,)))
        files = [str(each.certificate_file) for each in (self.clients, self.proxies)]
        self.port = await self.server.start("127.0.0.1", 0, server_context(pair, files))

    async def say(self, pair: KeyPair | None, *headers: str, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> str:
        """What comes back for a request with these headers; empty where TLS ends the connection."""
        context = ssl.create_default_context(cafile=str(self.clients.certificate_file))
        context.maximum_version = version
        if pair is not None:
            context.load_cert_chain(pair.certificate, pair.key)
        lines = ["GET /who HTTP/1.1", "Host: h", "Connection: close", *headers, "", ""]
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=context)
            writer.write("\r\n".join(lines).encode())
            async with asyncio.timeout(5):
                answer = await reader.read()
            writer.close()
        except (ssl.SSLError, ConnectionError):
            return ""
        return answer.decode()


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    await made.start()
    yield made
    await made.server.stop(0.1)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2])
async def test_a_certificate_is_its_user(rig: Rig, version: ssl.TLSVersion) -> None:
    answer = await rig.say(rig.clients.issue("jane", Subject("jane", ("dev",))), version=version)
    assert '"name":"jane","uid":"","groups":["dev","system:authenticated"]' in answer
    assert '"authentication.kubernetes.io/credential-id":["X509SHA256=' in answer


async def test_no_certificate_is_the_anonymous_user(rig: Rig) -> None:
    assert '"name":"system:anonymous"' in await rig.say(None)


async def test_headers_of_anybody_but_a_proxy_mean_nothing(rig: Rig) -> None:
    smuggled = ("X-Remote-User: root", "X-Remote-Group: system:masters", "X-Remote-Extra-Scopes: all")
    assert '"name":"system:anonymous"' in await rig.say(None, *smuggled)
    answer = await rig.say(rig.clients.issue("jane", Subject("jane")), *smuggled)
    assert '"name":"jane"' in answer
    assert "system:masters" not in answer
    proxy_by_name_only = rig.clients.issue("fake-proxy", Subject("proxy"))
    assert '"name":"proxy"' in await rig.say(proxy_by_name_only, *smuggled)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2])
async def test_a_proxy_speaks_for_others(rig: Rig, version: ssl.TLSVersion) -> None:
    proxy = rig.proxies.issue("proxy", Subject("proxy"))
    headers = (
        "X-Remote-User: jane",
        "X-Remote-Group: dev",
        "X-Remote-Group: ops",
        "X-Remote-Extra-a.b%2fc: x",
        "X-Remote-Uid: 7",
    )
    answer = await rig.say(proxy, *headers, version=version)
    assert '{"name":"jane","uid":"7","groups":["dev","ops","system:authenticated"],"extra":{"a.b/c":["x"]}}' in answer


async def test_a_proxys_certificate_is_no_user_and_names_must_be_allowed(rig: Rig) -> None:
    assert "401 Unauthorized" in await rig.say(rig.proxies.issue("proxy", Subject("proxy", ("system:masters",))))
    assert "401 Unauthorized" in await rig.say(rig.proxies.issue("other", Subject("other")), "X-Remote-User: jane")


async def test_certificates_of_strangers_and_for_servers_are_refused(rig: Rig) -> None:
    assert await rig.say(rig.strangers.issue("root", Subject("root", ("system:masters",)))) == ""
    assert await rig.say(rig.clients.issue("only-server", Subject("root", ("system:masters",), (), (SERVER,)))) == ""


async def test_a_wrong_token_is_refused_whatever_the_path(rig: Rig) -> None:
    answer = await rig.say(None, "Authorization: Bearer wrong")
    assert "401 Unauthorized" in answer
    assert "wrong" not in answer
