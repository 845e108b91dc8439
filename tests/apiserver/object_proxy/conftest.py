"""A server over HTTP, and a small web server that is a pod of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web
from yarl import URL

from setpoint.api.machinery.user import ADMIN, UserInfo
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.http import HttpServer
from setpoint.apiserver.pipeline import Pipeline
from setpoint.app.assembly import make_pipeline
from setpoint.kit.clock import RealClock
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Encoded, Store

POD_IP = "127.64.3.7"
PODS, SERVICES = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/services"
Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Web:
    """The pod's web server: what it was asked, with the body, and what it answers by path; else it says what it got."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[tuple[web.BaseRequest, bytes]] = []
        self.answers: dict[str, Answer] = {}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path in self.answers:
            return await self.answers[request.path](request)
        body = await request.read()
        self.asked.append((request, body))
        return web.Response(text=f"{request.method} {request.raw_path} {body.decode()}".rstrip())

    @property
    def headers(self) -> Mapping[str, str]:
        """Those of the last request."""
        return self.asked[-1][0].headers


class Door:
    """The server and whoever asks it: `user` is who the authenticator takes everybody for."""

    def __init__(self, pipeline: Pipeline, web_server: Web) -> None:
        self.pipeline = pipeline
        self.store: Store = pipeline.store
        self.web = web_server
        self.user: UserInfo = ADMIN
        self.url = ""
        self.session: aiohttp.ClientSession

    async def authenticate(self, path: str, headers: Mapping[str, str], peer: Peer | None) -> UserInfo:
        return self.user

    async def put(self, key: str, obj: dict[str, Any]) -> None:
        await self.store.create(key, lambda _: Encoded(orjson.dumps(obj)))

    async def pod(self, name: str = "web", *, address: str = POD_IP, ports: bool = True) -> None:
        listed = [{"containerPort": self.web.port}] if ports else []
        spec = {"containers": [{"name": "side"}, {"name": "app", "ports": listed}]}
        status = {"podIP": address, "podIPs": [{"ip": address}]} if address else {}
        meta = {"name": name, "namespace": "default", "uid": name}
        await self.put(f"pods/default/{name}", {"metadata": meta, "spec": spec, "status": status})

    async def service(self, name: str = "web", *, pod: str = "web", address: str = POD_IP, ready: bool = True) -> None:
        port = {"name": "http", "port": 80, "targetPort": self.web.port}
        meta = {"name": name, "namespace": "default"}
        await self.put(f"services/default/{name}", {"metadata": meta, "spec": {"ports": [port, {"name": "x", "port": 90}]}})
        target = {"kind": "Pod", "namespace": "default", "name": pod}
        subset = {
            "addresses" if ready else "notReadyAddresses": [{"ip": address, "targetRef": target}],
            "ports": [{"name": "http", "port": self.web.port}],
        }
        await self.put(f"endpoints/default/{name}", {"metadata": meta, "subsets": [subset]})

    async def ask(self, path: str, method: str = "GET", **more: Any) -> tuple[int, str, Mapping[str, str]]:
        """Status, body and headers of an answer, redirects not followed."""
        async with self.session.request(method, URL(f"{self.url}{path}", encoded=True), allow_redirects=False, **more) as answer:
            return answer.status, await answer.text(), answer.headers

    async def refusal(self, path: str, method: str = "GET", **more: Any) -> tuple[int, str, str]:
        """Code, reason and message of a Status."""
        code, text, _ = await self.ask(path, method, **more)
        status = orjson.loads(text)
        assert (status["kind"], status["code"]) == ("Status", code)
        return code, status.get("reason", ""), status["message"]


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    served = Web()
    runner = web.ServerRunner(web.Server(served.handle), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, POD_IP, 0).start()
    served.port = runner.addresses[0][1]
    clock = RealClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    made = Door(pipeline, served)
    server = HttpServer(pipeline, made)
    made.url = f"http://127.0.0.1:{await server.start('127.0.0.1', 0, None)}"
    async with aiohttp.ClientSession(auto_decompress=False) as made.session:
        yield made
    await server.stop(0.1)
    await pipeline.close()
    await runner.cleanup()
    await store.close()
