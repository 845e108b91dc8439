"""What the parts allow: aiohttp, uvloop, TLS, a token check, orjson and SQLite with group commit, and no Kubernetes at all.

Every benchmark run measures this beside Setpoint, on the same paths and by the same load generator, so that the ratio says what
Kubernetes' semantics cost and the machine's mood cancels out.

    python benchmarks/bare_stack.py --data-dir D [--port N] [--cert C --key K]

prints `ready https://127.0.0.1:<port>` and serves ConfigMaps: POST and GET on the collection, GET, PUT, merge PATCH and DELETE on
objects, `?watch=true` on the collection. The token is `bare`. SIGTERM ends it.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
import ipaddress
import signal
import sqlite3
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import orjson
import uvloop
from aiohttp import web

Write = tuple[int, str, bytes | None]
COLLECTION = "/api/v1/namespaces/{namespace}/configmaps"
JSON = "application/json"


class Database:
    """One thread commits whatever has come together since its last commit."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.path = path
        self.loop = loop
        self.queue: SimpleQueue[list[Write] | None] = SimpleQueue()
        self.pending: list[Write] = []
        self.waiting: list[asyncio.Future[None]] = []
        self.busy = False
        self.under_way: list[asyncio.Future[None]] = []
        self.thread = Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS log (revision INTEGER PRIMARY KEY, key TEXT, value BLOB)")
        while (writes := self.queue.get()) is not None:
            places = ",".join(["(?,?,?)"] * len(writes))
            connection.execute(f"INSERT INTO log VALUES {places}", [column for write in writes for column in write])  # noqa: S608  # question marks only
            self.loop.call_soon_threadsafe(self.committed)
        connection.close()

    async def write(self, write: Write) -> None:
        future: asyncio.Future[None] = self.loop.create_future()
        self.pending.append(write)
        self.waiting.append(future)
        if not self.busy:
            self.busy = True
            self.loop.call_soon(self.flush)
        await future

    def flush(self) -> None:
        self.queue.put(self.pending)
        self.under_way, self.waiting, self.pending = self.waiting, [], []

    def committed(self) -> None:
        for future in self.under_way:
            if not future.done():
                future.set_result(None)
        self.busy = bool(self.pending)
        if self.busy:
            self.loop.call_soon(self.flush)

    def close(self) -> None:
        self.queue.put(None)
        self.thread.join()


class Server:
    """Objects in a dict, their bytes in the database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.objects: dict[str, bytes] = {}
        self.revision = 0
        self.watchers: dict[int, deque[bytes]] = {}
        self.news = asyncio.Event()

    async def put(self, key: str, body: dict[str, object], status: int, event: bytes) -> web.Response:
        self.revision += 1
        metadata = body.setdefault("metadata", {})
        assert isinstance(metadata, dict)  # noqa: S101 - a benchmark
        metadata["resourceVersion"] = str(self.revision)
        value = orjson.dumps(body)
        await self.database.write((self.revision, key, value))
        self.objects[key] = value
        self.tell(b'{"type":"' + event + b'","object":' + value + b"}\n")
        return web.Response(body=value, status=status, content_type=JSON)

    def tell(self, line: bytes) -> None:
        if self.watchers:
            for queue in self.watchers.values():
                queue.append(line)
            self.news.set()
            self.news = asyncio.Event()

    async def create(self, request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        key = f"{request.match_info['namespace']}/{body['metadata']['name']}"
        if key in self.objects:
            return web.Response(status=409)
        return await self.put(key, body, 201, b"ADDED")

    async def get(self, request: web.Request) -> web.Response:
        value = self.objects.get(f"{request.match_info['namespace']}/{request.match_info['name']}")
        return web.Response(status=404) if value is None else web.Response(body=value, content_type=JSON)

    async def replace(self, request: web.Request) -> web.Response:
        key = f"{request.match_info['namespace']}/{request.match_info['name']}"
        return await self.put(key, orjson.loads(await request.read()), 200, b"MODIFIED")

    async def patch(self, request: web.Request) -> web.Response:
        key = f"{request.match_info['namespace']}/{request.match_info['name']}"
        body = orjson.loads(self.objects[key])
        for name, value in orjson.loads(await request.read()).items():
            body[name] = {**body.get(name, {}), **value} if isinstance(value, dict) else value
        return await self.put(key, body, 200, b"MODIFIED")

    async def delete(self, request: web.Request) -> web.Response:
        key = f"{request.match_info['namespace']}/{request.match_info['name']}"
        self.revision += 1
        await self.database.write((self.revision, key, None))
        value = self.objects.pop(key, b"{}")
        self.tell(b'{"type":"DELETED","object":' + value + b"}\n")
        return web.Response(body=value, content_type=JSON)

    async def list(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") in {"1", "true"}:
            return await self.watch(request)
        limit = int(request.query.get("limit", 0)) or None
        items = b",".join(list(self.objects.values())[:limit])
        head = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[' % self.revision
        return web.Response(body=head + items + b"]}", content_type=JSON)

    async def watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON})
        response.enable_chunked_encoding()
        await response.prepare(request)
        queue: deque[bytes] = deque(maxlen=100_000)
        self.watchers[id(queue)] = queue
        try:
            while True:
                news = self.news
                if not queue:
                    await news.wait()
                lines = b"".join(queue)
                queue.clear()
                await response.write(lines)
        except ConnectionResetError:
            return response  # the watcher has gone
        finally:
            del self.watchers[id(queue)]


@web.middleware
async def authenticate(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    if request.headers.get("Authorization") != "Bearer bare":
        return web.Response(status=401)
    return await handler(request)


def certificate(directory: Path) -> tuple[Path, Path]:
    """A self-signed serving certificate for loopback."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bare stack")])
    now = dt.datetime.now(dt.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + dt.timedelta(days=1))
    signed = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    certificate_file, key_file = directory / "bare.crt", directory / "bare.key"
    certificate_file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_file, key_file


async def serve(options: argparse.Namespace) -> None:
    directory = Path(options.data_dir)
    loop = asyncio.get_running_loop()
    database = Database(directory / "bare.db", loop)
    server = Server(database)
    app = web.Application(middlewares=[authenticate])
    app.router.add_post(COLLECTION, server.create)
    app.router.add_get(COLLECTION, server.list)
    app.router.add_get(COLLECTION + "/{name}", server.get)
    app.router.add_put(COLLECTION + "/{name}", server.replace)
    app.router.add_patch(COLLECTION + "/{name}", server.patch)
    app.router.add_delete(COLLECTION + "/{name}", server.delete)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*((options.cert, options.key) if options.cert else certificate(directory)))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port, ssl_context=context)
    await site.start()
    print(f"ready https://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()
    await runner.cleanup()
    database.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    uvloop.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
