"""Runs by itself, as any user: what a container sees under one isolation, as JSON on standard output.

python exercise.py <directory> <mounts|bubblewrap|none>
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from setpoint.node.runtime import ContainerError, ContainerInfo, ContainerSpec, ExecSpec, SandboxSpec, VolumeMount
from setpoint.node.runtimes.process.runtime import ProcessRuntime

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
SCRIPT = (
    f"cat {TOKEN}/token; cat /data/new/token; touch {TOKEN}/x 2>/dev/null || echo read-only; "
    "echo end > /dev/termination-log; exit 3"
)


async def exercise(directory: Path, isolation: str) -> dict[str, Any]:
    runtime = ProcessRuntime(host_address="127.0.0.1", isolation=isolation)
    exits: asyncio.Queue[ContainerInfo] = asyncio.Queue()
    runtime.on_exit = exits.put_nowait
    description = await runtime.start()
    out: dict[str, Any] = {"isolation": description.isolation, "uid": os.geteuid()}
    volume, message, pod = directory / "volume", directory / "message", directory / "pod"
    volume.mkdir()
    (volume / "token").write_text("secret\n")
    message.touch()
    mounts = [
        VolumeMount("token", str(volume), TOKEN, read_only=True),
        VolumeMount("data", str(volume), "/data/new"),
        VolumeMount("message", str(message), "/dev/termination-log"),
    ]

    def spec(name: str, *argv: str, **more: Any) -> ContainerSpec:
        log = str(pod / "logs" / f"{name}.log")
        return ContainerSpec(name, name, 0, "host", "process://x", argv, {"A": "b"}, log, mounts=mounts, **more)

    try:
        sandbox = await runtime.run_sandbox(SandboxSpec("uid-1", "ns", "p", str(pod), "pod-name"))
        out["address"] = sandbox.addresses[0]
        await runtime.start_container("uid-1", spec("first", "sh", "-c", SCRIPT))
        out["exit"] = (await exits.get()).exit_code
        out["log"] = [line.split(" ", 3)[3] for line in (pod / "logs" / "first.log").read_text().splitlines()]
        out["message"] = message.read_text()
        await runtime.start_container("uid-1", spec("second", "sleep", "1000"))
        out["exec"] = await output(
            runtime, "second", ExecSpec(["sh", "-c", "cat; cat /data/new/token; exit 7"], stdin=True), b"in\n"
        )
        # the terminal may be resized just after the command has begun
        sized = "while [ \"$(stty size)\" = '0 0' ]; do sleep 0.01; done; stty size"
        out["terminal"] = await output(runtime, "second", ExecSpec(["sh", "-c", sized], tty=True), None)
        try:
            await runtime.start_container("uid-1", spec("third", "no-such-program"))
        except ContainerError as error:
            out["missing"] = [error.reason, error.message]
        await runtime.start_container("uid-1", spec("fourth", "cat", stdin=True))
        session = await runtime.attach("uid-1", "fourth", ExecSpec((), stdin=True))
        await session.write(b"attached\n")
        out["attach"] = [(await session.read())[1].decode()]
        await session.close()
        await runtime.signal_container("uid-1", "second", 15)
        out["terminated"] = await ended(exits, "second")
    finally:
        await runtime.stop_sandbox("uid-1", str(pod))
        await runtime.close()
    return out


async def ended(exits: asyncio.Queue[ContainerInfo], name: str) -> int | None:
    while (info := await exits.get()).name != name:
        continue
    return info.exit_code


async def output(runtime: ProcessRuntime, container: str, spec: ExecSpec, stdin: bytes | None) -> list[Any]:
    session = await runtime.exec("uid-1", container, spec)
    session.resize(101, 43)
    if stdin is not None:
        await session.write(stdin)
        await session.close_stdin()
    text = b""
    while (piece := await session.read())[0]:
        text += piece[1]
    code = await session.wait()
    await session.close()
    return [text.decode(), code]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(exercise(Path(sys.argv[1]), sys.argv[2]))))  # noqa: T201  # its result
