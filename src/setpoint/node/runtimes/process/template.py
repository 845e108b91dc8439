"""The template process: the supervisor's code loaded once, forked for each pod within milliseconds."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from setpoint.node import supervisor

_MAIN = Path(supervisor.__file__).with_name("main.py")


class Template:
    """Starts when first needed and anew when it died. Its supervisors do not depend on it."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        async with self._lock:
            await self._running()

    async def fork(self, directory: str, pod_uid: str) -> int:
        """A supervisor for the pod, listening when this returns; its pid. Raises OSError.

        Cancelled, it is carried out all the same, so that no answer is left in the pipe for the next caller.
        """
        return await asyncio.shield(self._fork(directory, pod_uid))

    async def _fork(self, directory: str, pod_uid: str) -> int:
        async with self._lock:
            process = await self._running()
            assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # both are pipes
            process.stdin.write(json.dumps({"dir": directory, "pod": pod_uid}).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        if not line:
            raise OSError("the supervisors' template ended")
        answer = json.loads(line)
        if "error" in answer:
            raise OSError(answer["error"])
        return int(answer["pid"])

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
