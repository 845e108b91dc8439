"""What is recorded of a request: received, answered (or begun to be, where the answer goes on for long), done.

Source: apiserver `endpoints/filters/audit.go`, `authn_audit.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from setpoint.apiserver.audit.policy import COMPLETE, NONE, PANIC, RECEIVED, REQUEST, REQUEST_RESPONSE, STARTED, Policy
from setpoint.apiserver.audit.record import LONG, Decode, Event, Record, lines, plain_status
from setpoint.apiserver.pipeline import Serve
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock
from setpoint.registry import generated

_PATIENCE = 0.1  # seconds after which a request that is still under way is told of
_TOGETHER = 32  # requests whose events are written together: in one go that costs half of writing each when it is done
_SMALL = 16 * 1024  # bytes of a body, or of what is told of the answer; what is larger is not kept until there are others
_READS = ("get", "list")
_LONG_VERBS = ("watch", "proxy")
_STATUS = "responseStatus"
_CLOSED_EARLY = {_STATUS: {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}}


class Sink(Protocol):
    """Where events go."""

    def put(self, pieces: Sequence[bytes], lines: int) -> None:
        """Take so many events, each a line, in pieces; never waits."""


class Recorder:
    """A `pipeline.Audit`. `decode` reads bodies that are no JSON.

    That a request has come is told with its answer where that follows soon, and of some requests together.
    """

    def __init__(self, policy: Policy, sink: Sink, clock: Clock, decode: Decode) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock
        self._decode = decode
        self._untold: dict[Record, bool] = {}
        self._done: list[Event] = []
        self._is_due = False

    async def around(self, request: Request, info: RequestInfo, rest: Serve) -> Response:
        """Serve a request by `rest`, and record it as the policy says."""
        verdict = self._policy.judge(request.user, info)
        if verdict.level == NONE:
            return await rest(request, info)
        clock = self._clock
        record = Record(request, info, verdict, request.identity or generated.uid(), clock.now(), request.user)
        if RECEIVED not in verdict.omitted:
            self._untold[record] = True
            if not self._is_due:
                self._soon()
        try:
            response = await rest(request, info)
        except asyncio.CancelledError:
            record.tell(_CLOSED_EARLY)
            self._write(record, COMPLETE, clock.now())
            raise
        if verdict.level >= REQUEST_RESPONSE:
            await response.gather()
        now = clock.now()
        if (  # a read that went well, and of which no objects are told, as most are: they are spared every call that can be
            response.status < 400
            and not request.body
            and verdict.level < REQUEST
            and response.stream is None
            and info.verb in _READS
            and request.impersonated is None
            and info.subresource not in LONG
            and COMPLETE not in verdict.omitted
        ):
            record.answer = plain_status(response.status)
            self._done.append((record, COMPLETE, now, self._untold.pop(record, False)))
            if len(self._done) >= _TOGETHER:
                self._tell(self._done)
            elif not self._is_due:
                self._soon()
        else:
            self._answered(record, response, now)
        return response

    def _answered(self, record: Record, response: Response, now: float) -> None:
        """Record whatever answer has begun."""
        info = record.info
        record.answered(response, self._decode)
        if response.stream is not None or info.verb in _LONG_VERBS or info.subresource in LONG:
            self._write(record, STARTED, now)
        if response.stream is not None:
            response.stream = _Followed(response.stream, self, record)
        else:
            self._write(record, PANIC if info.panic else COMPLETE, now)

    def ended(self, record: Record) -> None:
        """A stream is at its end."""
        self._write(record, COMPLETE, self._clock.now())

    def refused(self, request: Request, info: RequestInfo, response: Response) -> None:
        """Record a request whose sender did not prove who they are."""
        verdict = self._policy.judge(None, info)
        if verdict.level == NONE:
            return
        now = self._clock.now()
        record = Record(request, info, verdict, request.identity or generated.uid(), now, None)
        failure = {"status": "Failure", "message": "Authentication attempt failed", "code": response.status}
        record.tell({_STATUS: {"metadata": {}, **failure}})
        self._write(record, COMPLETE, now)

    def _write(self, record: Record, stage: str, at: float) -> None:
        """Record a later stage, unless the policy leaves it out."""
        if stage in record.verdict.omitted:
            return
        self._done.append((record, stage, at, self._untold.pop(record, False)))
        if len(self._done) >= _TOGETHER or len(record.request.body) > _SMALL or len(record.answer) > _SMALL:
            self._tell(self._done)
        elif not self._is_due:
            self._soon()

    def _soon(self) -> None:
        self._is_due = True
        self._clock.call_later(_PATIENCE, self._come_due)

    def _come_due(self) -> None:
        self._is_due = False
        self.flush()

    def flush(self) -> None:
        """Tell the sink of what was done, and of the requests under way."""
        untold, self._untold = self._untold, {}
        self._tell([*self._done, *((record, RECEIVED, record.received, False) for record in untold)])

    def _tell(self, events: list[Event]) -> None:
        self._done = []
        if events:
            self._sink.put(*lines(events))


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
