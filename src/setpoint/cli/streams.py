"""`setpoint logs`, `exec`: what runs, heard and spoken to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from typing import Annotated, Any

import aiohttp
import orjson
import typer

from setpoint.api.machinery.status import StatusError
from setpoint.app.options import StartError
from setpoint.cli.session import Kubeconfig, Namespace, Session, run
from setpoint.client.client import refusal
from setpoint.client.transport import Request
from setpoint.client.transports.http import ssl_context

_PROTOCOL = "v5.channel.k8s.io"
#: channels: the first byte of a message (2 is standard error; 255 closes the one that its second byte names)
_STDIN, _STDOUT, _STATUS, _CLOSE = 0, 1, 3, 255


def _pod(word: str) -> str:
    """The name of a pod that may be written with its kind. Raises StartError for other kinds."""
    kind, slash, name = word.rpartition("/")
    if slash and kind not in ("pod", "pods", "po"):
        raise StartError(f"{word}: name a pod (kubectl finds the pods of other kinds)")
    return name


def logs(  # noqa: PLR0913, PLR0917  each parameter is an option of the command line
    pod: Annotated[str, typer.Argument(help="POD", show_default=False)],
    container: Annotated[str, typer.Option("--container", "-c")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes.")] = False,
    previous: Annotated[bool, typer.Option("--previous", "-p", help="Of the container before the last restart.")] = False,
    tail: Annotated[int, typer.Option(help="Only the last lines; -1 means all.")] = -1,
    since: Annotated[int, typer.Option(help="Only the last seconds; 0 means all.")] = 0,
    timestamps: Annotated[bool, typer.Option("--timestamps")] = False,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Print what a container wrote."""
    query = {"container": container} if container else {}
    query |= {name: "true" for name, wanted in (("follow", follow), ("previous", previous), ("timestamps", timestamps)) if wanted}
    query |= {"tailLines": str(tail)} if tail >= 0 else {}
    query |= {"sinceSeconds": str(since)} if since else {}

    async def work(session: Session) -> None:
        path = f"/api/v1/namespaces/{session.namespace(namespace)}/pods/{_pod(pod)}/log"
        async with await session.transport.stream(Request("GET", path, query)) as stream:
            if stream.status >= 400:
                raise refusal(stream.status, await stream.read(), stream.headers)
            async for chunk in stream:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()

    run(kubeconfig, work)


def execute(
    pod: Annotated[str, typer.Argument(help="POD", show_default=False)],
    command: Annotated[list[str], typer.Argument(help="-- COMMAND …", show_default=False)],
    container: Annotated[str, typer.Option("--container", "-c")] = "",
    stdin: Annotated[bool, typer.Option("--stdin", "-i", help="Pass standard input on.")] = False,
    namespace: Namespace = "",
    kubeconfig: Kubeconfig = None,
) -> None:
    """Run a command in a container; the exit code is the command's."""
    code = 0

    async def work(session: Session) -> None:
        nonlocal code
        path = f"/api/v1/namespaces/{session.namespace(namespace)}/pods/{_pod(pod)}/exec"
        query = [("container", container)] if container else []
        query += [("stdin", "true")] if stdin else []
        query += [("stdout", "true"), ("stderr", "true"), *(("command", word) for word in command)]
        code = await _talk(session, path, query, stdin=stdin)

    run(kubeconfig, work)
    sys.exit(code)


async def _talk(session: Session, path: str, query: list[tuple[str, str]], *, stdin: bool) -> int:
    headers = {"Authorization": f"Bearer {session.access.token}"} if session.access.token else {}
    url = session.access.server.rstrip("/") + path
    async with aiohttp.ClientSession(headers=headers) as http:
        try:
            socket = await http.ws_connect(
                url, params=query, protocols=(_PROTOCOL,), ssl=ssl_context(session.access), max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            raise StartError(f"the server refused: {error.message}") from error
        async with socket, asyncio.TaskGroup() as group:
            sending = group.create_task(_send_input(socket), name="exec/stdin") if stdin else None
            code = await _receive(socket)
            if sending is not None:
                sending.cancel()
    return code


async def _send_input(socket: aiohttp.ClientWebSocketResponse) -> None:
    while data := await _read_input():
        await socket.send_bytes(bytes([_STDIN]) + data)
    await socket.send_bytes(bytes([_CLOSE, _STDIN]))


async def _read_input() -> bytes:
    """What comes next on standard input. The thread may wait for ever: when the command has ended, nobody waits for it."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bytes] = loop.create_future()

    def settle(data: bytes) -> None:
        if not answer.done():
            answer.set_result(data)

    def read() -> None:
        data = os.read(sys.stdin.fileno(), 65536)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, data)

    threading.Thread(target=read, name="exec/stdin", daemon=True).start()
    return await answer


async def _receive(socket: aiohttp.ClientWebSocketResponse) -> int:
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, data = message.data[0], message.data[1:]
        if channel == _STATUS:
            return _exit_code(orjson.loads(data))
        target = sys.stdout if channel == _STDOUT else sys.stderr
        target.buffer.write(data)
        target.buffer.flush()
    raise StartError("the connection ended without a word about the command's end")


def _exit_code(status: dict[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes", ()):
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise StatusError.parse(status)
