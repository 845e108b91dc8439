"""Calls to a KMS v2 plugin: gRPC over a Unix socket of this machine.

Source: `k8s.io/kms/apis/v2/api.proto`, apiserver `pkg/storage/value/encrypt/envelope/kmsv2/grpc_service.go`.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from setpoint.kit import metrics
from setpoint.storage.encryption import kms_messages as messages
from setpoint.storage.encryption.kms_messages import Status, Wrapped

if TYPE_CHECKING:
    from grpc import aio

_METHOD = "/v2.KeyManagementService/{}"
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.default_authority", "localhost"),
)
LATENCY = metrics.histogram(
    "apiserver_envelope_encryption_kms_operations_latency_seconds",
    "How long a key manager's plugin took to answer.",
    ("provider_name", "method_name", "grpc_status_code"),
)
#: what a plugin that is starting, stopped or slow brings about: worth another try
_PASSING = ("UNAVAILABLE", "DEADLINE_EXCEEDED")


class PluginError(Exception):
    """A plugin did not answer, or refused; `passing` where it may do better soon."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class Plugin(Protocol):
    """What Kubernetes asks of a key manager. All raise PluginError."""

    async def status(self) -> Status: ...
    async def encrypt(self, plaintext: bytes, uid: str) -> Wrapped: ...
    async def decrypt(self, wrapped: Wrapped, uid: str) -> bytes: ...
    async def close(self) -> None: ...


class SocketPlugin:
    """The plugin at `endpoint` (`unix:///path`, or `unix:///@name` for an abstract socket); a call may take `timeout` seconds.

    `provider` is its name in metrics.
    """

    def __init__(self, endpoint: str, timeout: float, provider: str = "") -> None:
        self._provider = provider
        self._target = _target(endpoint)
        self._timeout = timeout
        self._channel: aio.Channel | None = None

    async def status(self) -> Status:
        return messages.status_of(await self._call("Status", b""))

    async def encrypt(self, plaintext: bytes, uid: str) -> Wrapped:
        return messages.wrapped_of(await self._call("Encrypt", messages.encrypt_request(plaintext, uid)))

    async def decrypt(self, wrapped: Wrapped, uid: str) -> bytes:
        return messages.plaintext_of(await self._call("Decrypt", messages.decrypt_request(wrapped, uid)))

    async def close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
            self._channel = None

    async def _call(self, method: str, request: bytes) -> bytes:
        """The bytes of an answer. Their content is secret: it stands in no message."""
        from grpc import aio

        path = _METHOD.format(method)
        call: Any = self._connected().unary_unary(path)
        begun, code = time.perf_counter(), "OK"
        try:
            answer: bytes = await call(request, timeout=self._timeout)
        except aio.AioRpcError as error:
            name = error.code().name
            code = "".join(word.capitalize() for word in name.split("_"))
            raise PluginError(f"rpc error: code = {code} desc = {error.details()}", passing=name in _PASSING) from None
        finally:
            LATENCY.labels(self._provider, path, code).observe(time.perf_counter() - begun)
        return answer

    def _connected(self) -> aio.Channel:
        if self._channel is None:
            os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # our children never use gRPC
            os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what matters comes as an exception
            from grpc import aio

            self._channel = aio.insecure_channel(self._target, options=_OPTIONS)
        return self._channel


def _target(endpoint: str) -> str:
    """An endpoint as gRPC names it."""
    parts = urlsplit(endpoint)
    path = parts.netloc + parts.path
    return f"unix-abstract:{path.lstrip('/@')}" if path.lstrip("/").startswith("@") else f"unix:{path}"
