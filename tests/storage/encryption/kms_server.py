"""A small KMS v2 plugin at a Unix socket: its keys are random and live as long as it does.

python -m tests.storage.encryption.kms_server SOCKET
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from setpoint.api.machinery.protobuf_wire import fields
from setpoint.storage.encryption import kms_messages as messages
from setpoint.storage.encryption.kms_messages import Status, Wrapped
from setpoint.storage.encryption.kms_plugin import PluginError


class Keys:
    """What a key manager does, without a wire: implements `kms_plugin.Plugin`."""

    def __init__(self) -> None:
        self.keys = {"one": os.urandom(32)}
        self.current = "one"
        self.encrypts_with = ""  # another key than the one that Status tells
        self.healthz, self.version = "ok", "v2"
        self.asked: list[str] = []
        self.away = ""  # why it does not answer

    def rotate(self, name: str) -> None:
        self.keys[name], self.current = os.urandom(32), name

    async def status(self) -> Status:
        self._ask("status")
        return Status(self.version, self.healthz, self.current)

    async def encrypt(self, plaintext: bytes, uid: str) -> Wrapped:
        self._ask("encrypt")
        name = self.encrypts_with or self.current
        nonce = os.urandom(12)
        sealed = AESGCM(self.keys[name]).encrypt(nonce, plaintext, b"")
        return Wrapped(sealed, name, {"nonce.example.com": nonce})

    async def decrypt(self, wrapped: Wrapped, uid: str) -> bytes:
        self._ask("decrypt")
        if wrapped.key_id not in self.keys:
            raise PluginError("rpc error: code = InvalidArgument desc = no such key")
        return AESGCM(self.keys[wrapped.key_id]).decrypt(wrapped.annotations["nonce.example.com"], wrapped.ciphertext, b"")

    async def close(self) -> None:
        """Nothing is held."""

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.away:
            raise PluginError(self.away, passing=True)


@asynccontextmanager
async def served(keys: Keys, socket: Path) -> AsyncIterator[Any]:
    """The same over gRPC."""
    import grpc
    from grpc import aio

    async def status(_: bytes, __: Any) -> bytes:
        said = await keys.status()
        words = enumerate((said.version, said.healthz, said.key_id), 1)
        return b"".join(messages._bytes(number, text.encode()) for number, text in words)

    async def encrypt(request: bytes, _: Any) -> bytes:
        found = dict(fields(request))
        wrapped = await keys.encrypt(messages._raw(found[1]), messages._text(found[2]))
        words = messages._bytes(1, wrapped.ciphertext) + messages._bytes(2, wrapped.key_id.encode())
        return words + messages._map(3, wrapped.annotations)

    async def decrypt(request: bytes, context: Any) -> bytes:
        found = dict(fields(request))
        wrapped = Wrapped(messages._raw(found[1]), messages._text(found[3]), messages._annotations(request, 4))
        try:
            return messages._bytes(1, await keys.decrypt(wrapped, messages._text(found[2])))
        except PluginError as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise

    methods: Mapping[str, Callable[..., Any]] = {"Status": status, "Encrypt": encrypt, "Decrypt": decrypt}
    handlers = {name: grpc.unary_unary_rpc_method_handler(method) for name, method in methods.items()}
    server = aio.server()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("v2.KeyManagementService", handlers)])
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    try:
        yield server
    finally:
        await server.stop(0)


async def _for_ever() -> None:
    async with served(Keys(), Path(sys.argv[1])) as server:
        await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(_for_ever())
