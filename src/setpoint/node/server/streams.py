"""`/exec` and `/attach`: a process's streams, over WebSockets.

`clients` knows the forms in which they go over the wire; here is what is said, and when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from aiohttp import web

from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.node.pod_worker.track import Track
from setpoint.node.runtime import ContainerError, ExecSpec, NotRunning, Session
from setpoint.node.server.clients import CLOSE, ERROR, RESIZE, STDERR, STDIN, STDOUT, Client, accept
from setpoint.node.server.keys import AGENT
from setpoint.node.server.lookup import flag, pod_of
from setpoint.node.worker import PodWorker

_DRAIN = 0.5  # seconds without a word, after which what still holds an ended process's pipes open is its children, not output
_LATE = 0.5  # seconds in which a container that ends silently was attached to too late
_NO_POD = "unable to upgrade connection: pod does not exist"
_CHANNELS = {"stdout": STDOUT, "stderr": STDERR}


async def exec_(request: web.Request) -> web.StreamResponse:
    spec = _spec(request)
    try:
        worker, track = _running(request)
        session = await request.app[AGENT].runtime.exec(worker.uid, track.id, spec)
    except web.HTTPNotFound:
        return await _refuse(request, _NO_POD)
    except NotRunning:
        name = request.match_info["container"]
        return await _refuse(request, f'unable to upgrade connection: container not found ("{name}")')
    except ContainerError as error:
        return await _refuse(request, f"Internal error occurred: error executing command in container: {error.message}")
    return await _serve(request, session, spec)


async def attach(request: web.Request) -> web.StreamResponse:
    spec, info = _spec(request), request.match_info
    gone = f"unable to upgrade connection: container {info['container']} not found in pod {info['pod']}_{info['namespace']}"
    try:
        worker, track = _running(request)
        session = await request.app[AGENT].runtime.attach(worker.uid, track.id, spec)
    except web.HTTPNotFound:
        return await _refuse(request, _NO_POD)
    except NotRunning:
        return await _refuse(request, gone)
    return await _serve(request, session, spec, late=gone)


def _running(request: web.Request) -> tuple[PodWorker, Track]:
    """The container that is meant; raises HTTPNotFound for the pod, NotRunning."""
    worker = pod_of(request)
    for track in worker.core.tracks:
        if track.name == request.match_info["container"] and track.running:
            return worker, track
    raise NotRunning(request.match_info["container"])


def _spec(request: web.Request) -> ExecSpec:
    return ExecSpec(
        argv=tuple(request.query.getall("command", [])),
        stdin=flag(request, "stdin", "input"),
        stdout=flag(request, "stdout", "output"),
        stderr=flag(request, "stderr", "error"),
        tty=flag(request, "tty"),
    )


async def _serve(request: web.Request, session: Session, spec: ExecSpec, late: str = "") -> web.StreamResponse:
    """`late` is what to say where nothing was heard because the end came at once: kubectl shows the log then."""
    async with Tasks("exec") as tasks:
        try:
            client = await accept(request, spec, tasks)
            await _attend(tasks, client, session, spec, request.app[AGENT].clock, late)
            await client.close()
        finally:
            await session.close()
            tasks.stop()
    return client.answer


async def _attend(tasks: Tasks, client: Client, session: Session, spec: ExecSpec, clock: Clock, late: str) -> None:
    began = clock.monotonic()
    output = _Output(client, session, spec)
    code = await _converse(tasks, client, session, output, clock)
    too_late = late and not output.frames and clock.monotonic() - began < _LATE
    if code is not None:
        await _end(client, _internal(late) if too_late else _status(code))


async def _converse(tasks: Tasks, client: Client, session: Session, output: _Output, clock: Clock) -> int | None:
    """Pass everything both ways until the process ends (its exit code) or the client goes (None)."""
    incoming = tasks.start("input", _input(client, session, output.spec))
    tasks.start("output", output.run())
    code = tasks.start("wait", session.wait())
    await asyncio.wait({code, incoming}, return_when=asyncio.FIRST_COMPLETED)
    if not code.done():
        return None  # nobody listens any more
    while await output.goes_on(clock) and not incoming.done():
        pass
    return code.result()


async def _end(client: Client, status: dict[str, Any]) -> None:
    """The Status is the last word."""
    with contextlib.suppress(ConnectionError):
        await client.send(ERROR, orjson.dumps(status))


class _Output:
    """What the process writes, to its end."""

    def __init__(self, client: Client, session: Session, spec: ExecSpec) -> None:
        self._client = client
        self._session = session
        self.spec = spec
        self.frames = 0
        self._wanted = {name for name, wanted in (("stdout", spec.stdout), ("stderr", spec.stderr)) if wanted}
        self._ended = asyncio.Event()
        self._sending = False

    async def run(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                stream, data = await self._session.read()
                if not stream:
                    break
                if stream in self._wanted:
                    await self._send(_CHANNELS[stream], data)
        self._ended.set()

    async def _send(self, channel: int, data: bytes) -> None:
        self.frames += 1
        self._sending = True
        await self._client.send(channel, data)
        self._sending = False

    async def goes_on(self, clock: Clock) -> bool:
        """Wait a moment for the end: whether there was more, or the client is slow to take what there is."""
        before = self.frames
        return not await clock.wait(self._ended, _DRAIN) and (self._sending or self.frames > before)


async def _input(client: Client, session: Session, spec: ExecSpec) -> None:
    """What the client sends, until it goes; then the process loses its input."""
    async for channel, data in client.frames():
        if channel == STDIN and spec.stdin:
            await session.write(data)
        elif channel == RESIZE:
            _resize(session, data)
        elif channel == CLOSE and data[:1] == bytes([STDIN]):
            await session.close_stdin()


def _resize(session: Session, data: bytes) -> None:
    with contextlib.suppress(orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        size = orjson.loads(data)
        session.resize(int(size["Width"]), int(size["Height"]))


async def _refuse(request: web.Request, message: str) -> web.StreamResponse:
    """There is nothing to talk to: said over the open stream, as kubelet and the API server's stream translator do it.

    A refusal of the upgrade itself would make kubectl try SPDY instead.
    """
    async with Tasks("refusal") as tasks:
        client = await accept(request, _spec(request), tasks)
        await _end(client, _internal(message))
        await client.close()
        tasks.stop()
    return client.answer


def _internal(message: str) -> dict[str, Any]:
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {message}",
        "reason": "InternalError",
        "details": {"causes": [{"message": message}]},
        "code": 500,
    }


def _status(code: int) -> dict[str, Any]:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
