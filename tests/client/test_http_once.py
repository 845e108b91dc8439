"""What may have been carried out is not sent again behind the caller's back."""

from __future__ import annotations

import asyncio

import pytest

from setpoint.client.kubeconfig import Access
from setpoint.client.transport import Request, TransportError
from setpoint.client.transports.http import HttpTransport


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH"])
async def test_a_write_is_sent_once(method: str) -> None:
    """The server answers a GET, and breaks the kept connection off when the write has come."""
    received: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            received.append(line.split()[0].decode())
            while (await reader.readline()).strip():
                pass
            if received[-1] != "GET":
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(Access(f"http://127.0.0.1:{port}"))
        assert (await transport.call(Request("GET", "/"))).status == 200
        with pytest.raises(TransportError):
            await transport.call(Request(method, "/x"))
        await transport.close()
    assert received == ["GET", method]
