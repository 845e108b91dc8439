"""A server with admission webhooks, and an HTTPS server that is those webhooks, with a certificate made on the spot."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.app import bootstrap
from setpoint.app.assembly import make_pipeline
from setpoint.client.client import Client
from setpoint.client.transports.in_process import InProcessTransport
from setpoint.kit.clock import RealClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.memory import memory_store

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}

Answer = Callable[[dict[str, Any]], dict[str, Any] | web.Response]


def allow(**more: Any) -> Answer:
    return lambda _: {"allowed": True, **more}


def patching(*operations: dict[str, Any], **more: Any) -> Answer:
    text = base64.b64encode(orjson.dumps(operations)).decode()
    return lambda _: {"allowed": True, "patchType": "JSONPatch", "patch": text, **more}


class Hooks:
    """The webhooks: `answers` by path, `asked` is what came, in order."""

    def __init__(self, port: int, bundle: str) -> None:
        self.port = port
        self.bundle = bundle
        self.answers: dict[str, Any] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.connections = 0
        self.version = "v1"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        name = request.path.strip("/")
        review = await request.json()
        self.asked.append((name, review["request"]))
        answer = self.answers.get(name, allow())(review["request"])
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, web.StreamResponse):
            return answer
        response = {"uid": review["request"]["uid"], **answer}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response})

    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    def client(self, name: str) -> dict[str, Any]:
        return {"url": f"https://127.0.0.1:{self.port}/{name}", "caBundle": self.bundle}

    def hook(self, name: str, **more: Any) -> dict[str, Any]:
        return {
            "name": f"{name}.example.com",
            "clientConfig": self.client(name),
            "rules": [CONFIG_MAPS],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 5,
            **more,
        }


class Api:
    """Requests to a server."""

    def __init__(self, pipeline: Pipeline, hooks: Hooks) -> None:
        self.pipeline = pipeline
        self.hooks = hooks

    async def respond(self, line: str, body: Any = None, kind: str = "application/json", user: UserInfo = ADMIN) -> Response:
        method, url = line.split(" ", 1)
        path, _, query = url.partition("?")
        content = b"" if body is None else orjson.dumps(body)
        headers = {"content-type": kind, "user-agent": "test/1"}
        self.request = Request(method, path, parse_qs(query, keep_blank_values=True), headers, content, user)
        return await self.pipeline.handle(self.request)

    async def __call__(self, line: str, body: Any = None, *, code: int = 0, kind: str = "application/json") -> Any:
        response = await self.respond(line, body, kind)
        value = orjson.loads(response.body or b"null")
        assert response.status == code if code else response.status < 400, value
        return value

    async def configure(self, kind: str, name: str, *hooks: dict[str, Any]) -> None:
        """Create a configuration and wait until it is in force."""
        await self(f"POST {_CONFIGURATIONS.format(kind)}", {"metadata": {"name": name}, "webhooks": list(hooks)})
        await self.settle()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def make(self, name: str = "a", query: str = "", code: int = 0, **more: Any) -> Any:
        return await self(f"POST /api/v1/namespaces/default/configmaps{query}", {"metadata": {"name": name}, **more}, code=code)


def certificate(directory: Path, *names: str) -> tuple[ssl.SSLContext, str]:
    """A server's TLS context and the bundle that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook")])
    now = dt.datetime.now(dt.UTC)
    alternatives = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *map(x509.DNSName, names)]
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = directory / "hook.pem"
    path.write_bytes(pem + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context, base64.b64encode(pem).decode()


@pytest.fixture
async def hooks(tmp_path: Path) -> AsyncIterator[Hooks]:
    context, bundle = certificate(tmp_path, "hook.default.svc")
    made = Hooks(0, bundle)
    server = web.Server(made.handle)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()


@pytest.fixture
async def api(hooks: Hooks) -> AsyncIterator[Api]:
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    client = Client(InProcessTransport(pipeline, Request, ADMIN), user_agent="test", clock=clock)
    await bootstrap.ensure(client, service_address="10.96.0.1", port=6443)
    async with Tasks("test") as tasks:
        for follower in pipeline.followers:
            await follower.load()
            tasks.start("follower", follower.run())
        yield Api(pipeline, hooks)
        tasks.stop()
    await pipeline.close()
    await store.close()
