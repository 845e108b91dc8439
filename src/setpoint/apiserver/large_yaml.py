"""Large YAML bodies: a megabyte takes seconds to read, which the event loop has not.

They are read in a thread, one after the other, before their handler is called, which then finds them read.
"""

from __future__ import annotations

import asyncio
from typing import Any

from setpoint.api.machinery import decode
from setpoint.apiserver.request import Request

LARGE = 64 * 1024  # bytes


class LargeYaml:
    """Reads one body at a time: several threads would leave the loop less of the interpreter."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def read(self, body: bytes) -> None:
        """Read a body; what there is to complain about is its handler's to tell. `forget` it afterwards."""
        from setpoint.api.machinery import yaml_bodies

        async with self._turn:
            found = await asyncio.to_thread(_read, body)
        if found is not None:
            yaml_bodies.remember(body, found)


def concerns(request: Request) -> bool:
    """Whether a request's body is YAML that takes long to read."""
    return len(request.body) > LARGE and decode.is_yaml(request.headers.get("content-type", ""))


def forget(body: bytes) -> None:
    """The request is answered."""
    from setpoint.api.machinery import yaml_bodies

    yaml_bodies.forget(body)


def _read(body: bytes) -> Any:
    """What is read of YAML; None of JSON, which is read fast."""
    from setpoint.api.machinery import yaml_bodies

    return yaml_bodies.read(body) if decode.fast(body) is None else None
