"""The demonstration's cluster: `setpoint up --split` in a temporary directory, with timings short enough to watch."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from setpoint.app import pids
from setpoint.app.data_dir import DataDir
from setpoint.app.options import StartError

NODES = 3
_TIMINGS = {
    "--node-heartbeat-period": "1",
    "--node-monitor-period": "1",
    "--node-monitor-grace-period": "4",
    "--default-not-ready-toleration-seconds": "2",
    "--default-unreachable-toleration-seconds": "2",
}


@dataclass(frozen=True, slots=True)
class DemoCluster:
    """Where it is and how long it took to be ready."""

    data: DataDir
    launcher: asyncio.subprocess.Process
    ready: str

    def agent(self, node: str) -> int:
        """The pid of a node's agent."""
        holder = pids.holder(self.data.pid_file(node))
        if holder is None:
            raise StartError(f"the agent of {node} does not run")
        return holder.pid

    def start_agent(self, node: str) -> subprocess.Popen[bytes]:
        """Bring a node's agent back."""
        command = [sys.executable, "-m", "setpoint", "component", node, "--data-dir", str(self.data.root)]
        return subprocess.Popen(command, start_new_session=True)


@contextlib.asynccontextmanager
async def demo_cluster() -> AsyncIterator[DemoCluster]:
    """A cluster that is gone, with its data, at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="setpoint-demo-") as folder:
        data = DataDir(Path(folder) / "data")
        options = [word for pair in _TIMINGS.items() for word in pair]
        launcher = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "setpoint", "up", "--split", "--nodes", str(NODES), "--port", "0", "--data-dir", str(data.root)),
            *("--log-level", "error"),
            *options,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            yield DemoCluster(data, launcher, await _until_ready(launcher))
        finally:
            await _end(launcher)


async def _until_ready(launcher: asyncio.subprocess.Process) -> str:
    if launcher.stdout is None:
        raise StartError("no output to read")
    async for line in launcher.stdout:
        text = line.decode().strip()
        if text.startswith("ready in "):
            return text
    raise StartError("the demonstration's cluster did not start")


async def _end(launcher: asyncio.subprocess.Process) -> None:
    if launcher.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(launcher.pid, signal.SIGTERM)
    await launcher.wait()
