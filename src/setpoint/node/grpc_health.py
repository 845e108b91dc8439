"""gRPC's health check over a plain socket: just enough HTTP/2 to ask one question.

The answer is read from the DATA frame alone (`HealthCheckResponse.status`), so no header needs decoding. Source: the gRPC health
checking protocol, RFC 9113 and RFC 7541 (literal fields without Huffman coding or indexing).
"""

from __future__ import annotations

import asyncio
import struct

from setpoint.node.handlers import Outcome

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST, _SETTINGS, _PING, _GOAWAY = 0, 1, 3, 4, 6, 7
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_SERVING = 1
_STATUS = {0: "UNKNOWN", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _text(text: str) -> bytes:
    raw = text.encode()
    if len(raw) < 127:
        return bytes([len(raw)]) + raw
    rest, out = len(raw) - 127, bytearray([127])
    while rest >= 128:
        out.append(rest % 128 + 128)
        rest //= 128
    return bytes(out) + bytes([rest]) + raw


def _request(authority: str, service: str) -> bytes:
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/grpc.health.v1.Health/Check",
        ":authority": authority,
        "content-type": "application/grpc",
        "user-agent": "kube-probe/1.36",
        "te": "trailers",
    }
    headers = b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields.items())
    name = service.encode()
    body = b"\x0a" + _text(service) if name else b""
    message = b"\x00" + struct.pack(">I", len(body)) + body
    return (
        _PREFACE + _frame(_SETTINGS, 0, 0) + _frame(_HEADERS, _END_HEADERS, 1, headers) + _frame(_DATA, _END_STREAM, 1, message)
    )


async def check(host: str, port: int, service: str, seconds: float) -> Outcome:
    """Healthy if the service says SERVING in time."""
    where = f"{host}:{port}"
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(_request(where, service))
                return await _answer(reader, writer)
            finally:
                writer.close()
    except TimeoutError:
        return Outcome(
            ok=False, message=f'timeout: failed to connect service "{where}" within {seconds:g}s: context deadline exceeded'
        )
    except (OSError, asyncio.IncompleteReadError) as error:
        return Outcome(ok=False, message=f'error: failed to connect service at "{where}": {error}')


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Outcome:
    while True:
        head = await reader.readexactly(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        payload = await reader.readexactly(length)
        if kind == _SETTINGS and not flags & _ACK:
            writer.write(_frame(_SETTINGS, _ACK, 0))
        elif kind == _PING and not flags & _ACK:
            writer.write(_frame(_PING, _ACK, 0, payload))
        elif kind == _DATA and len(payload) >= 5:
            return _judge(payload[5:])
        elif kind in (_RST, _GOAWAY) or (kind == _HEADERS and flags & _END_STREAM):
            return Outcome(
                ok=False, message="error: this server does not implement the grpc health protocol (grpc.health.v1.Health)"
            )


def _judge(message: bytes) -> Outcome:
    status = message[1] if len(message) >= 2 and message[0] == 0x08 else 0
    if status == _SERVING:
        return Outcome(ok=True)
    return Outcome(ok=False, message=f'service unhealthy (responded with "{_STATUS.get(status, "UNKNOWN")}")')
