"""What probes and hooks do: run a command, ask over HTTP, connect, ask gRPC's health service, sleep.

Each gives an `Outcome`; the texts are kubelet's and Go's, since they end in events that people search for.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from setpoint.api.types.core_v1 import Container, HTTPGetAction
from setpoint.node.runtime import ContainerError, ExecSpec, NotRunning, Runtime

if TYPE_CHECKING:
    import aiohttp

OUTPUT_LIMIT = 10 * 1024


class Outcome(Struct, frozen=True):
    """`ok`, and what to say; `errored` when it could not be found out."""

    ok: bool
    message: str = ""
    errored: bool = False


def port_of(container: Container, port: int | str) -> int | None:
    """A port by number or by the name that the container gives it."""
    if isinstance(port, int) or port.isdigit():
        return int(port)
    return next((each.container_port for each in container.ports if each.name == port), None)


async def run_command(runtime: Runtime, pod_uid: str, container_id: str, argv: tuple[str, ...], seconds: float) -> Outcome:
    """Exit code 0 is success; the message is what the command wrote."""
    try:
        session = await runtime.exec(pod_uid, container_id, ExecSpec(argv))
    except (ContainerError, NotRunning) as error:
        return Outcome(ok=False, message=str(error), errored=isinstance(error, NotRunning))
    output = bytearray()
    try:
        async with asyncio.timeout(seconds if seconds != float("inf") else None):
            while True:
                stream, data = await session.read()
                if not stream:
                    break
                output += data[: OUTPUT_LIMIT - len(output)]
            code = await session.wait()
    except TimeoutError:
        await session.kill()  # or one more would hang with every period
        return Outcome(ok=False, message=f'command timed out: "{" ".join(argv)}" timed out after {seconds:g}s')
    finally:
        await session.close()
    return Outcome(code == 0, output.decode(errors="replace"))


class Http:
    """One HTTP session for the agent's probes and hooks, made when first needed."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def get(self, container: Container, action: HTTPGetAction, host: str, seconds: float, agent: str) -> Outcome:
        port = port_of(container, action.port)
        if port is None:
            return Outcome(ok=False, message=f"couldn't find port: {action.port}", errored=True)
        host = action.host or host
        scheme = (action.scheme or "HTTP").lower()
        where = f"[{host}]" if ":" in host else host
        path = action.path if action.path.startswith("/") else f"/{action.path}"
        return await self._ask(f"{scheme}://{where}:{port}{path}", f"{where}:{port}", _headers(action, agent), seconds)

    async def _ask(self, url: str, address: str, headers: Mapping[str, str], seconds: float) -> Outcome:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=seconds if seconds != float("inf") else None)
        try:
            async with self._open().get(url, headers=headers, timeout=timeout, max_redirects=10) as answer:
                body = await answer.content.read(OUTPUT_LIMIT)
        except aiohttp.ClientConnectorError as error:
            return Outcome(ok=False, message=f'Get "{url}": dial tcp {address}: connect: {_reason(error)}')
        except TimeoutError:
            what = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            return Outcome(ok=False, message=f'Get "{url}": {what}')
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Outcome(ok=False, message=f'Get "{url}": {error or "EOF"}')
        if 200 <= answer.status < 400:
            return Outcome(ok=True, message=body.decode(errors="replace"))
        return Outcome(ok=False, message=f"HTTP probe failed with statuscode: {answer.status}")

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._session is None:
            context = ssl.create_default_context()
            context.check_hostname = False  # a probe asks whether something answers, not who it is
            context.verify_mode = ssl.CERT_NONE
            connector = aiohttp.TCPConnector(ssl=context, force_close=True, limit=0)
            jar = aiohttp.DummyCookieJar()  # no probe may carry another one's cookies
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, cookie_jar=jar)
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _headers(action: HTTPGetAction, agent: str) -> dict[str, str]:
    headers = {"User-Agent": agent, "Accept": "*/*"}
    for header in action.http_headers:
        headers[header.name] = header.value
    return headers


def _reason(error: OSError) -> str:
    import errno

    words = {
        errno.ECONNREFUSED: "connection refused",
        errno.EHOSTUNREACH: "no route to host",
        errno.ETIMEDOUT: "connection timed out",
    }
    return words.get(error.errno or 0, str(error.strerror or error).lower())


async def connect(host: str, port: int, seconds: float) -> Outcome:
    """Whether something accepts a TCP connection."""
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except TimeoutError:
        return Outcome(ok=False, message=f"dial tcp {where}: i/o timeout")
    except OSError as error:
        return Outcome(ok=False, message=f"dial tcp {where}: connect: {_reason(error)}")
    except UnicodeError as error:  # no host can have such a name
        return Outcome(ok=False, message=f"dial tcp: lookup {host}: {error}")
    writer.close()
    return Outcome(ok=True)
