"""Calls to etcd: one member at a time, the next one when it fails.

Reads are tried again until they are answered or time is up. Of a write there are three ends: answered, refused (it did not
happen, for sure) and `Unanswered`: nobody knows yet. Only `writes` may find out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from setpoint.kit import logs
from setpoint.kit.clock import Clock
from setpoint.storage.backends.etcd.members import Members
from setpoint.storage.protocol import Rejected, StoreError, Unavailable

if TYPE_CHECKING:
    from aetcd.rpc import rpc_pb2 as pb
    from grpc import aio

log = logs.get_logger("storage.etcd")

READ_SECONDS = 2.0  # for one member to answer a read
WRITE_SECONDS = 3.0
PATIENCE = 10.0  # over all members
PAUSE = 0.1
#: a member that has no leader refuses at once, instead of letting the client wait for nothing
_NEEDS_LEADER = ("hasleader", "true")
_OPTIONS = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),  # a store is no web site
)
#: what Kubernetes' own client of etcd sends at the most
_LARGEST_REQUEST = 2 * 1024 * 1024
#: codes of answers that etcd gives instead of a write
_REFUSALS = {
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "RESOURCE_EXHAUSTED",
    "UNIMPLEMENTED",
}
#: the request never left, or was turned away at the door
_NOT_SENT = ("failed to connect to all addresses", "etcdserver: no leader", "etcdserver: too many requests")


class Unanswered(Exception):
    """A write was sent and its answer did not come: it may have happened, or happen yet."""


class NotSent(Exception):
    """A write did not reach a member that could take it: it did not happen."""


class Refusal(StoreError):
    """etcd's answer to a request it does not take, by gRPC code (`OUT_OF_RANGE`)."""

    def __init__(self, code: str, details: str) -> None:
        super().__init__(details)
        self.code = code


class Member:
    """One member of etcd and the calls that we make."""

    def __init__(self, address: str, channel: aio.Channel) -> None:
        from aetcd.rpc import rpc_pb2_grpc as stubs

        self.address = address
        self.channel = channel
        self.kv = stubs.KVStub(channel)
        self.watch = stubs.WatchStub(channel)
        self.lease = stubs.LeaseStub(channel)


class Connection:
    """All members; `current` is the one that is asked."""

    def __init__(self, members: Members, clock: Clock) -> None:
        self.where = str(members)
        self.revision = 0  # the newest that any answer has told
        self.trouble = ""  # why nothing is answered; empty when it is
        self._members = members
        self._clock = clock
        self._all: list[Member] = []
        self._index = 0
        self._metadata: Any = None

    def open(self) -> None:
        """Make the channels; nothing is sent yet. Raises Unavailable when files of TLS cannot be read."""
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")  # our children never use gRPC
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # what matters comes as an exception
        try:
            from grpc import aio
        except ImportError as error:
            raise Unavailable("etcd needs Setpoint's extra: pip install 'setpoint[etcd]'") from error
        credentials = self._credentials()
        self._metadata = aio.Metadata(_NEEDS_LEADER)
        for address in self._members.addresses:
            if credentials is None:
                channel = aio.insecure_channel(address, options=_OPTIONS)
            else:
                channel = aio.secure_channel(address, credentials, options=_OPTIONS)
            self._all.append(Member(address, channel))

    def _credentials(self) -> Any:
        import grpc

        members = self._members
        if not members.uses_tls:
            return None
        try:
            ca, certificate, key = (
                file.read_bytes() if file is not None else None
                for file in (members.ca_file, members.certificate_file, members.key_file)
            )
        except OSError as error:
            raise Unavailable(f"{error.filename} cannot be read: {error.strerror}") from error
        return grpc.ssl_channel_credentials(ca, key, certificate)

    async def close(self) -> None:
        for member in self._all:
            await member.channel.close()
        self._all.clear()

    @property
    def current(self) -> Member:
        if not self._all:
            raise Unavailable("the store is not open")
        return self._all[self._index]

    def leave(self, member: Member) -> None:
        """Ask the next member from now on, if `member` is still the one asked."""
        if self._all and self.current is member and len(self._all) > 1:
            self._index = (self._index + 1) % len(self._all)
            log.info("another member is asked", left=member.address, now=self.current.address)

    def _heard(self, response: Any) -> Any:
        self.revision = max(self.revision, response.header.revision)
        self.trouble = ""
        return response

    async def read(self, call: Callable[[Member], Any], *, patience: float = PATIENCE) -> Any:
        """The answer to something that may be asked twice. `call(member)` gives the method and its request.

        Raises Refusal, Unavailable.
        """
        from grpc import aio

        deadline = self._clock.monotonic() + patience
        while True:
            member = self.current
            method, request = call(member)
            try:
                return self._heard(await method(request, timeout=min(READ_SECONDS, patience), metadata=self._metadata))
            except aio.AioRpcError as error:
                code, details = error.code().name, _words(error)
                if code in _REFUSALS and not details.startswith(_NOT_SENT):
                    raise Refusal(code, details) from error
            self.leave(member)
            if self._clock.monotonic() >= deadline:
                self.trouble = f"etcd at {self.where} does not answer: {details}"
                raise Unavailable(self.trouble)
            await self._clock.sleep(PAUSE)

    async def write(self, request: pb.TxnRequest) -> pb.TxnResponse:
        """One transaction, sent once. Raises Unanswered, NotSent, Rejected."""
        from grpc import aio

        size = request.ByteSize()
        if size > _LARGEST_REQUEST:
            why = f"trying to send message larger than max ({size} vs. {_LARGEST_REQUEST})"
            raise Rejected(f"rpc error: code = ResourceExhausted desc = {why}")
        member = self.current
        try:
            response = await member.kv.Txn(request, timeout=WRITE_SECONDS, metadata=self._metadata)
        except aio.AioRpcError as error:
            details = _words(error)
            if details.startswith(_NOT_SENT):
                self.leave(member)
                raise NotSent(details) from error
            if error.code().name in _REFUSALS:
                raise Rejected(details) from error
            self.leave(member)
            raise Unanswered(details) from error
        answer: pb.TxnResponse = self._heard(response)
        return answer

    async def range(self, request: pb.RangeRequest, *, patience: float = PATIENCE) -> pb.RangeResponse:
        response: pb.RangeResponse = await self.read(lambda member: (member.kv.Range, request), patience=patience)
        return response

    def stream(self) -> tuple[Member, Any]:
        """A watch stream of the current member."""
        member = self.current
        return member, member.watch.Watch(metadata=self._metadata)


def _words(error: aio.AioRpcError) -> str:
    return str(error.details() or error.code().name.lower().replace("_", " "))
