"""The template process: the supervisor's code loaded once, forked for each pod within milliseconds."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setpoint.node import supervisor
from setpoint.node.runtimes.process.isolation import Isolation

_MAIN = Path(supervisor.__file__).with_name("main.py")


class Template:
    """Starts when first needed and anew when it died. Its supervisors do not depend on it."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._finding = asyncio.Lock()
        self._found: Isolation | None = None

    async def isolation(self, wanted: str) -> Isolation:
        """Start the template and let it find out, once, what isolation works here. Raises OSError."""
        async with self._finding:
            if self._found is None:
                self._found = await self._find(wanted)
        return self._found

    async def _find(self, wanted: str) -> Isolation:
        program = shutil.which("bwrap") or ""
        answer = await self.ask({"check": {"wanted": wanted, "bubblewrap": program}})
        return Isolation(answer["isolation"], program)

    async def fork(self, directory: str, pod_uid: str, network: Mapping[str, Any] | None = None) -> int:
        """A supervisor for the pod, listening when this returns and in a network of its own where one is given; its pid.

        Raises OSError.
        """
        return int((await self.ask({"dir": directory, "pod": pod_uid, "network": network}))["pid"])

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Cancelled, it is carried out all the same, so that no answer is left in the pipe for the next caller."""
        return await asyncio.shield(self._exchange(request))

    async def _exchange(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        async with self._lock:
            process = await self._running()
            assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # both are pipes
            process.stdin.write(json.dumps(request).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        if not line:
            raise OSError("the supervisors' template ended")
        answer: Mapping[str, Any] = json.loads(line)
        if "error" in answer:
            raise OSError(answer["error"])
        return answer

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                str(_MAIN),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C in the agent's terminal is not for supervisors
            )
        return self._process

    async def close(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        assert self._process.stdin is not None  # noqa: S101  # it is a pipe
        self._process.stdin.close()
        await self._process.wait()
        self._process = None
