"""The routes of the agent's port and its TLS: whoever connects must show a certificate of the cluster's CA, and be the API
server.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from setpoint.node.options import AgentOptions
from setpoint.node.server import logs, pods, stats
from setpoint.node.server.keys import AGENT
from setpoint.node.server.streams import attach, exec_

if TYPE_CHECKING:
    from setpoint.node.agent import Agent


def make_app(agent: Agent, options: AgentOptions) -> web.Application:
    app = web.Application(middlewares=[only_for(options.client_name)])
    app[AGENT] = agent
    app.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/pods", pods.serve),
            web.get("/stats/summary", stats.serve),
            web.get("/containerLogs/{namespace}/{pod}/{container}", logs.serve),
            *both("/exec", exec_),
            *both("/attach", attach),
        ]
    )
    return app


def both(path: str, handler: Handler) -> list[web.RouteDef]:
    """With and without the pod's uid, by GET and POST, as kubelet serves streams."""
    return [
        web.route(method, f"{path}/{{namespace}}/{{pod}}{uid}/{{container}}", handler)
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


def tls_context(options: AgentOptions) -> ssl.SSLContext:
    assert options.serving_certificate is not None  # noqa: S101  # the agent serves only with one
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(options.ca) if options.ca else None)
    context.load_cert_chain(options.serving_certificate, options.serving_key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["http/1.1"])
    return context


async def healthz(_: web.Request) -> web.Response:
    return web.Response(text="ok")
