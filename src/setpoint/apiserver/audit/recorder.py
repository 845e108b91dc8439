"""What is recorded of a request: received, answered (or begun to be, where the answer goes on for long), done.

Source: apiserver `endpoints/filters/audit.go`, `authn_audit.go`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from setpoint.apiserver.audit.policy import COMPLETE, NONE, PANIC, RECEIVED, STARTED, Policy
from setpoint.apiserver.audit.record import LONG, Decode, Record
from setpoint.apiserver.pipeline import Serve
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock

HEADER = "Audit-Id"  # as Go writes Audit-ID
_AT_ONCE = 64  # events, or pairs of them, that are encoded in one go: less than a millisecond
_GATHER_SECONDS = 0.1
_LONG_VERBS = ("watch", "proxy")
_STATUS = "responseStatus"
_CLOSED_EARLY = {_STATUS: {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}}


class Sink(Protocol):
    """Where events go."""

    def put(self, data: bytes, lines: int) -> None:
        """Take so many events, each a line; never waits."""


#: a record's stage, when it was, the annotations then, and whether its first stage was just before
_Event = tuple[Record, str, float, Mapping[str, str] | None, bool]


class Recorder:
    """A `pipeline.Audit`. `decode` reads bodies that are no JSON.

    Events are encoded some at a time, a moment after they happened (`flush`), which costs half of encoding each at once.
    """

    def __init__(self, policy: Policy, sink: Sink, clock: Clock, decode: Decode) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock
        self._decode = decode
        self._waiting: list[_Event] = []
        self._is_due = False

    async def around(self, request: Request, info: RequestInfo, rest: Serve) -> Response:
        """Serve a request by `rest`, and record it as the policy says."""
        identity = request.headers.get("audit-id") or new_identity()
        verdict = self._policy.judge(request.user, info)
        if verdict.level == NONE:
            response = await rest(request, info)
            response.headers = {HEADER: identity, **response.headers}
            return response
        record = Record(request, info, verdict, identity, self._clock.now())
        self._write(record, RECEIVED, record.received)
        try:
            response = await rest(request, info)
        except asyncio.CancelledError:
            record.tell(_CLOSED_EARLY)
            self._write(record, COMPLETE, self._clock.now())
            raise
        response.headers = {HEADER: identity, **response.headers}
        record.answered(response, self._decode)
        now = self._clock.now()
        if response.stream is not None or info.verb in _LONG_VERBS or info.subresource in LONG:
            self._write(record, STARTED, now)
        if response.stream is not None:
            response.stream = _Followed(response.stream, self, record)
        else:
            self._write(record, PANIC if info.panic else COMPLETE, now)
        return response

    def ended(self, record: Record) -> None:
        """A stream is at its end."""
        self._write(record, COMPLETE, self._clock.now())

    def refused(self, request: Request, info: RequestInfo, response: Response) -> None:
        """Record a request whose sender did not prove who they are."""
        verdict = self._policy.judge(None, info)
        if verdict.level == NONE:
            return
        now = self._clock.now()
        record = Record(request, info, verdict, request.headers.get("audit-id") or new_identity(), now)
        record.user = None
        failure = {"status": "Failure", "message": "Authentication attempt failed", "code": response.status}
        record.tell({_STATUS: {"metadata": {}, **failure}})
        response.headers = {HEADER: record.identity, **response.headers}
        self._write(record, COMPLETE, now)

    def _write(self, record: Record, stage: str, at: float) -> None:
        """Record a stage, unless the policy leaves it out; it goes to the sink in a moment."""
        if stage in record.verdict.omitted:
            return
        told, waiting = record.request.annotations, self._waiting
        both = bool(waiting) and waiting[-1][0] is record and waiting[-1][1] == RECEIVED
        if both:
            waiting.pop()
        waiting.append((record, stage, at, {**told} if told else None, both))
        if len(waiting) >= _AT_ONCE or record.large:
            self.flush()
        elif not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self._come_due)

    def _come_due(self) -> None:
        self._is_due = False
        self.flush()

    def flush(self) -> None:
        """Give the sink what there is."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            lines = [
                record.received_line() if stage == RECEIVED else record.line(stage, at, told, both=both)
                for record, stage, at, told, both in waiting
            ]
            self._sink.put(b"".join(lines), len(lines) + sum(event[-1] for event in waiting))


class _Followed:
    """A stream whose end is recorded; what iterates it gets the pieces of the stream itself."""

    __slots__ = ("_record", "_recorder", "_stream")

    def __init__(self, stream: AsyncIterator[bytes], recorder: Recorder, record: Record) -> None:
        self._stream = stream
        self._recorder = recorder
        self._record: Record | None = record

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def __anext__(self) -> bytes:
        return await anext(self._stream)

    async def aclose(self) -> None:
        record, self._record = self._record, None
        if (close := getattr(self._stream, "aclose", None)) is not None:
            await close()
        if record is not None:
            self._recorder.ended(record)


# --- identities ---

_DRAWN = 256  # identities that are made at once
_DASHES = (8, 13, 18, 23)
_DIGITS = tuple(place for place in range(36) if place not in _DASHES)
_VERSION = bytes(0x40 | byte & 0x0F for byte in range(256))
_VARIANT = bytes(0x80 | byte & 0x3F for byte in range(256))
_identities: list[str] = []


def new_identity() -> str:
    """A UUID of version 4; many are written at once, digit by digit, which costs a fifth of writing each."""
    if not _identities:
        drawn = bytearray(os.urandom(16 * _DRAWN))
        drawn[6::16] = drawn[6::16].translate(_VERSION)
        drawn[8::16] = drawn[8::16].translate(_VARIANT)
        digits, text = drawn.hex().encode(), bytearray(b"-" * 36 + b" ") * _DRAWN
        for number, place in enumerate(_DIGITS):
            text[place::37] = digits[number::32]
        _identities.extend(text.decode().split())
    return _identities.pop()
