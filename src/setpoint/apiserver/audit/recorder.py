"""What is recorded of a request: received, answered (or begun to be, where the answer goes on for long), done.

Source: apiserver `endpoints/filters/audit.go`, `authn_audit.go`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from setpoint.apiserver.audit.event import COMPLETE, NONE, PANIC, RECEIVED, REQUEST, REQUEST_RESPONSE, STARTED, Event
from setpoint.apiserver.audit.policy import Policy
from setpoint.apiserver.audit.record import LONG, Decode, Record
from setpoint.apiserver.pipeline import Serve
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock
from setpoint.registry import generated

_PATIENCE = 0.1  # seconds after which a request that is still under way is told of
_READS = ("get", "list")
_LONG_VERBS = ("watch", "proxy")
_STATUS = "responseStatus"
_CLOSED_EARLY = {_STATUS: {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}}


class Sink(Protocol):
    """Where events go."""

    def put(self, event: Event) -> None:
        """Take an event; never waits."""


class Recorder:
    """A `pipeline.Audit`. `decode` reads bodies that are no JSON.

    That a request has come is told with its answer where that follows soon.
    """

    def __init__(self, policy: Policy, sink: Sink, clock: Clock, decode: Decode) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock
        self._now = clock.now
        self._decode = decode
        self._untold: dict[Record, bool] = {}
        self._is_due = False

    async def around(self, request: Request, info: RequestInfo, rest: Serve) -> Response:
        """Serve a request by `rest`, and record it as the policy says."""
        verdict = self._policy.always or self._policy.judge(request.user, info)
        if verdict.level == NONE:
            return await rest(request, info)
        record = Record(request, info, verdict, request.identity or generated.uid(), self._now(), request.user)
        if RECEIVED not in verdict.omitted:
            self._untold[record] = True
            if not self._is_due:
                self._is_due = True
                self._clock.call_later(_PATIENCE, self.flush)
        try:
            response = await rest(request, info)
        except asyncio.CancelledError:
            record.tell(_CLOSED_EARLY)
            self._tell(record, COMPLETE)
            raise
        if (  # a read that went well, and of which no objects are told, as most are: they are spared every call that can be
            response.status < 400
            and info.verb in _READS
            and verdict.level < REQUEST
            and not request.body
            and response.stream is None
            and request.impersonated is None
            and info.subresource not in LONG
            and COMPLETE not in verdict.omitted
        ):
            record.code = response.status
            self._sink.put(record.event(COMPLETE, self._now(), self._untold.pop(record, False)))
            return response
        if verdict.level >= REQUEST_RESPONSE:
            await response.gather()
        record.answered(response, self._decode)
        if response.stream is not None or info.verb in _LONG_VERBS or info.subresource in LONG:
            self._tell(record, STARTED)
        if response.stream is not None:
            response.stream = _Followed(response.stream, self, record)
        else:
            self._tell(record, PANIC if info.panic else COMPLETE)
        return response

    def ended(self, record: Record) -> None:
        """A stream is at its end."""
        self._tell(record, COMPLETE)

    def refused(self, request: Request, info: RequestInfo, response: Response) -> None:
        """Record a request whose sender did not prove who they are."""
        verdict = self._policy.judge(None, info)
        if verdict.level == NONE:
            return
        record = Record(request, info, verdict, request.identity or generated.uid(), self._now(), None)
        failure = {"status": "Failure", "message": "Authentication attempt failed", "code": response.status}
        record.tell({_STATUS: {"metadata": {}, **failure}})
        self._tell(record, COMPLETE)

    def _tell(self, record: Record, stage: str) -> None:
        """Tell of a stage after the first, unless the policy leaves it out."""
        if stage not in record.verdict.omitted:
            self._sink.put(record.event(stage, self._now(), self._untold.pop(record, False)))

    def flush(self) -> None:
        """Tell of the requests under way."""
        self._is_due = False
        untold, self._untold = self._untold, {}
        for record in untold:
            self._sink.put(record.event(RECEIVED, record.received, False))


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
