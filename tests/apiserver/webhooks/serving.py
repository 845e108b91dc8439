"""HTTPS servers that are webhooks, with certificates made on the spot, which are their own authorities."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from msgspec import Struct

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Certificate(Struct, frozen=True):
    """A certificate of 127.0.0.1 and of other names: its file, which has the key too, and the bundle that trusts it."""

    file: Path
    bundle: str

    @classmethod
    def made(cls, folder: Path, *names: str) -> Self:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hook")])
        now = dt.datetime.now(dt.UTC)
        alternatives = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), *map(x509.DNSName, names)]
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = made.public_bytes(serialization.Encoding.PEM)
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        file = folder / "hook.pem"
        file.write_bytes(pem + private)
        return cls(file, base64.b64encode(pem).decode())

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file)
        return context


@asynccontextmanager
async def serving(handle: Handler, context: ssl.SSLContext) -> AsyncIterator[int]:
    """The port of a server that answers by `handle` while in the block."""
    runner = web.ServerRunner(web.Server(handle), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
