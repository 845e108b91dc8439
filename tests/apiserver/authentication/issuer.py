"""A small issuer of OpenID Connect tokens on this machine, with TLS."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from setpoint.apiserver.pki import SERVER, Authority, Subject


class LocalIssuer:
    """`url` is its name and address, `ca` the PEM text that its certificate is of; `keys` are its keys by their ids."""

    def __init__(self, directory: Path) -> None:
        self._authority = Authority(directory / "issuer")
        self.ca = self._authority.pem
        self.keys = {"k1": ec.generate_private_key(ec.SECP256R1())}
        self.asked: list[str] = []
        self.url = ""
        self.name: str | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        pair = self._authority.issue("server", Subject("issuer", (), ("127.0.0.1",), (SERVER,)))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/keys", self._keys)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        self.url = f"https://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def token(self, key_id: str = "k1", **claims: Any) -> str:
        return jwt.encode({"iss": self.url, **claims}, self.keys[key_id], algorithm="ES256", headers={"kid": key_id})

    async def _discovery(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        return web.json_response({"issuer": self.name or self.url, "jwks_uri": f"{self.url}/keys"})

    async def _keys(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        algorithm: Any = jwt.get_algorithm_by_name("ES256")
        held = [
            {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": key_id, "use": "sig", "alg": "ES256"}
            for key_id, key in self.keys.items()
        ]
        return web.json_response({"keys": held})
