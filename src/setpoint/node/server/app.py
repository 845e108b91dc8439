"""The routes of the agent's port and its TLS: whoever connects must show a certificate of the cluster's CA, and be the API
server.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from setpoint.kit import tls
from setpoint.kit.clock import Clock
from setpoint.kit.logs import get_logger
from setpoint.node.options import AgentOptions
from setpoint.node.server import logs, pods, port_forward, stats
from setpoint.node.server.keys import AGENT
from setpoint.node.server.streams import attach, exec_

if TYPE_CHECKING:
    from setpoint.node.agent import Agent

log = get_logger("node.server")
_LOOK_AGAIN = 60.0  # seconds between two looks at the certificate's file


def make_app(agent: Agent, options: AgentOptions) -> web.Application:
    app = web.Application(middlewares=[only_for(options.client_name)])
    app[AGENT] = agent
    app.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/pods", pods.serve),
            web.get("/stats/summary", stats.serve),
            web.get("/metrics/resource", stats.serve_resources),
            web.get("/containerLogs/{namespace}/{pod}/{container}", logs.serve),
            *both("/exec", exec_, "/{container}"),
            *both("/attach", attach, "/{container}"),
            *both("/portForward", port_forward.serve),
        ]
    )
    return app


def both(path: str, handler: Handler, container: str = "") -> list[web.RouteDef]:
    """With and without the pod's uid, by GET and POST, as kubelet serves streams."""
    return [
        web.route(method, f"{path}/{{namespace}}/{{pod}}{uid}{container}", handler)
        for method in ("GET", "POST")
        for uid in ("", "/{uid}")
    ]


def only_for(client_name: str) -> Middleware:
    """Refuse everybody but the API server: TLS proved that the CA signed the certificate, here is whose it is."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        certificate = request.get_extra_info("peercert") or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        if names != [client_name]:
            return web.Response(status=403, text="Forbidden\n")
        return await handler(request)

    return check


class Serving:
    """The port's TLS, by the certificate in its file: a new one there (they are renewed before they end) is taken up."""

    def __init__(self, certificate: Path, options: AgentOptions) -> None:
        self._certificate = certificate
        self._key = options.serving_key
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(options.ca) if options.ca else None)
        self.context = tls.harden(context)
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.set_alpn_protocols(["http/1.1"])
        self._loaded = 0
        self.reload()

    def reload(self) -> bool:
        """Load what is in the files, if it is new; connections that are open go on as they began."""
        written = self._certificate.stat().st_mtime_ns
        if written == self._loaded:
            return False
        self.context.load_cert_chain(self._certificate, self._key)
        self._loaded = written
        return True

    async def follow(self, clock: Clock) -> None:
        """Look every minute, for ever."""
        while True:
            await clock.sleep(_LOOK_AGAIN)
            try:
                self.reload()
            except OSError as error:  # between the two files' writes they may not fit
                log.warning("the serving certificate could not be loaded", error=str(error))


async def healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")
