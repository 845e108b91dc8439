"""The agent's port: bound at the start, served from the first connection on: a node that nobody asks needs no web server."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from setpoint.node.options import AgentOptions

if TYPE_CHECKING:
    from setpoint.node.agent import Agent

_BACKLOG = 128


class NodeServer:
    """`start` binds the port, `run` serves until cancelled."""

    def __init__(self, agent: Agent, options: AgentOptions) -> None:
        self._agent = agent
        self._options = options
        self._socket: socket.socket | None = None

    async def start(self) -> int:
        """The port that it listens on; raises OSError."""
        family = socket.AF_INET6 if ":" in self._options.address else socket.AF_INET
        self._socket = socket.create_server((self._options.address, self._options.port), family=family, backlog=_BACKLOG)
        self._socket.setblocking(False)
        return int(self._socket.getsockname()[1])

    async def run(self) -> None:
        """Serve; cancelled, break off what still streams."""
        bound = self._socket
        if bound is None:
            raise RuntimeError("not started")
        try:
            await _readable(bound)
            await self._serve(bound)
        finally:
            bound.close()

    async def _serve(self, bound: socket.socket) -> None:
        from aiohttp import web

        from setpoint.node.server.app import Serving, make_app

        certificate = self._options.serving_certificate
        if certificate is None:
            raise RuntimeError("the agent serves only with a certificate")
        serving = Serving(certificate, self._options)
        app = make_app(self._agent, self._options)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        try:
            await runner.setup()
            await web.SockSite(runner, bound, ssl_context=serving.context).start()
            await serving.follow(self._agent.clock)
        finally:
            await runner.cleanup()


async def _readable(bound: socket.socket) -> None:
    """Wait for a first connection; it stays in the queue."""
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(bound, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(bound)
