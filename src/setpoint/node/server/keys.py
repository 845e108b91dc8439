"""What the handlers find in the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from setpoint.node.agent import Agent

AGENT: web.AppKey[Agent] = web.AppKey("agent")
