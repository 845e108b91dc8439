"""The events of one request: received, answered (or begun to be, where the answer goes on for long), done.

Source: apiserver `endpoints/filters/audit.go`, `authn_audit.go`, `audit/request.go`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.policy import (
    COMPLETE,
    LEVELS,
    METADATA,
    NONE,
    PANIC,
    RECEIVED,
    REQUEST,
    REQUEST_RESPONSE,
    STARTED,
    Policy,
    Verdict,
)
from setpoint.apiserver.pipeline import Serve
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock, rfc3339

HEADER = "Audit-Id"  # as Go writes Audit-ID
_AT_ONCE = 100  # events that are encoded in one go: a millisecond
_GATHER_SECONDS = 0.1
_LARGE = 16 * 1024  # bytes of a body that is not to be kept for that long
_MOST_AGENT = 1024  # characters of a User-Agent
_LONG = frozenset(("exec", "attach", "portforward", "proxy", "log"))
_CLOSED_EARLY = {"metadata": {}, "status": "Success", "message": "Connection closed early", "code": 200}
#: how an event begins, by its level
_HEADS = tuple(f'{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{level}","auditID":'.encode() for level in LEVELS)
_DELETES = ("delete", "deletecollection")
_STAGE = b',"stage":"'
_STATUS_FIELDS = ("status", "message", "reason", "details")
_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"

Decode = Callable[[Request, RequestInfo], Any]


class Sink(Protocol):
    """Where events go."""

    def put(self, line: bytes) -> None:
        """Take an event as a line; never waits."""


class Recorder:
    """A `pipeline.Audit`. `decode` reads bodies that are no JSON.

    Events are encoded some at a time, a moment after they happened (`flush`), which costs half of encoding each at once.
    """

    def __init__(self, policy: Policy, sink: Sink, clock: Clock, decode: Decode) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock
        self._decode = decode
        self._waiting: list[tuple[_Record, str, float, Mapping[str, str] | None]] = []

    async def around(self, request: Request, info: RequestInfo, rest: Serve) -> Response:
        """Serve a request by `rest`, and record it as the policy says."""
        identity = request.headers.get("audit-id") or new_identity()
        verdict = self._policy.judge(request.user, info)
        if verdict.level == NONE:
            response = await rest(request, info)
            response.headers = {HEADER: identity, **response.headers}
            return response
        record = _Record(self, request, info, verdict, identity)
        record.write(RECEIVED)
        try:
            response = await rest(request, info)
        except asyncio.CancelledError:
            record.answer["responseStatus"] = _CLOSED_EARLY
            record.write(COMPLETE)
            raise
        response.headers = {HEADER: identity, **response.headers}
        record.answered(response)
        if response.stream is not None:
            response.stream = _Followed(response.stream, record)
        else:
            record.write(PANIC if info.panic else COMPLETE)
        return response

    def refused(self, request: Request, info: RequestInfo, response: Response) -> None:
        """Record a request whose sender did not prove who they are."""
        verdict = self._policy.judge(None, info)
        if verdict.level == NONE:
            return
        record = _Record(self, request, info, verdict, request.headers.get("audit-id") or new_identity())
        record.changes()["user"] = {}
        record.answer["responseStatus"] = {
            "metadata": {},
            "status": "Failure",
            "message": "Authentication attempt failed",
            "code": response.status,
        }
        response.headers = {HEADER: record.identity, **response.headers}
        record.write(COMPLETE)

    def note(self, record: _Record, stage: str, at: float, annotations: Mapping[str, str] | None) -> None:
        """Take an event; it goes to the sink in a moment."""
        waiting = self._waiting
        waiting.append((record, stage, at, annotations))
        if len(waiting) >= _AT_ONCE or record.is_large:
            self.flush()
        elif len(waiting) == 1:
            asyncio.get_running_loop().call_later(_GATHER_SECONDS, self.flush)

    def flush(self) -> None:
        """Give the sink what there is."""
        waiting, self._waiting = self._waiting, []
        for record, stage, at, told in waiting:
            self._sink.put(record.line(stage, at, told))

    def now(self) -> float:
        return self._clock.now()

    def body(self, request: Request, info: RequestInfo) -> Any:
        """A request's body as JSON; None where it is nothing of the kind."""
        media = request.headers.get("content-type", "").partition(";")[0].strip()
        if media.endswith("json") or not media:
            try:
                return orjson.loads(request.body)
            except orjson.JSONDecodeError:
                return None
        return self._decode(request, info)


class _Record:
    """One request's event, as far as it is known; it is written at each stage.

    What does not change from one stage to the next is encoded once: `_begun` is that as of the request's beginning, `_known` as
    of now, made when something of it changes or is written.
    """

    __slots__ = (
        "_about",
        "_begun",
        "_info",
        "_known",
        "_received",
        "_recorder",
        "_request",
        "_start",
        "_times",
        "_user",
        "_verdict",
        "answer",
        "identity",
    )

    def __init__(self, recorder: Recorder, request: Request, info: RequestInfo, verdict: Verdict, identity: str) -> None:
        self._recorder = recorder
        self._request = request
        self._user = request.user  # whom an impersonation replaces
        self._info = info
        self._verdict = verdict
        self._received = recorder.now()
        self._about: dict[str, Any] | None = None
        self._begun = self._known = self._start = self._times = b""
        self.identity = identity
        #: what is known once there is an answer: responseStatus, and objects as far as the policy asks for them
        self.answer: dict[str, Any] = {}

    @property
    def is_large(self) -> bool:
        """Whether it is not to be kept for long."""
        return len(self._request.body) > _LARGE or self._verdict.level > METADATA

    @property
    def about(self) -> dict[str, Any]:
        """What is known of the request; see `change`."""
        about = self._about
        if about is None:
            request = self._request
            about = self._about = {
                "requestURI": request.target or _target(request),
                "verb": self._info.verb,
                "user": _user(self._user),
                "sourceIPs": source_addresses(request),
            }
            if agent := _agent(request):
                about["userAgent"] = agent
            if self._info.is_resource:
                about["objectRef"] = _reference(self._info)
        return about

    def _encoded(self) -> bytes:
        if not self._known:
            self._known = orjson.dumps(self.about)[1:-1]
        return self._known

    def changes(self) -> dict[str, Any]:
        """`about`, to be changed: something is known better than it was."""
        if RECEIVED not in self._verdict.omitted:
            self._begun = self._begun or self._encoded()
        self._known = b""
        return self.about

    def write(self, stage: str) -> None:
        """Record a stage, unless the policy leaves it out."""
        if stage not in self._verdict.omitted:
            at = self._received if stage == RECEIVED else self._recorder.now()
            annotations = self._request.annotations
            self._recorder.note(self, stage, at, dict(annotations) if annotations else None)

    def line(self, stage: str, at: float, annotations: Mapping[str, str] | None) -> bytes:
        """The event of a stage that was written."""
        if not self._start:
            self._start = b"%b%b%b" % (_HEADS[self._verdict.level], orjson.dumps(self.identity), _STAGE)
            self._times = b',"requestReceivedTimestamp":"%b","stageTimestamp":"' % _stamp(self._received)
        last = b',"annotations":%b}\n' % orjson.dumps(annotations) if annotations else b"}\n"
        if stage == RECEIVED:
            about, answer, when = self._begun or self._encoded(), b"", _stamp(self._received)
        else:
            about, answer, when = self._encoded(), self._answered(), _stamp(at)
        return b'%b%b",%b%b%b%b"%b' % (self._start, stage.encode(), about, answer, self._times, when, last)

    def _answered(self) -> bytes:
        return b",%b" % orjson.dumps(self.answer)[1:-1] if self.answer else b""

    def answered(self, response: Response) -> None:
        """Take in what is known once the answer begins; record that it began, where it goes on for long."""
        request, info = self._request, self._info
        if (decision := info.decision) is not None:
            failed = bool(decision.error) and not decision.allowed
            if not failed:
                request.annotations[_DECISION] = "allow" if decision.allowed else "forbid"
            request.annotations[_REASON] = "internal error" if failed else decision.reason
        if request.impersonated is not None:
            self.changes()["impersonatedUser"] = _user(request.impersonated.user)
            if request.impersonated.constraint:
                self.changes()["authenticationMetadata"] = {"impersonationConstraint": request.impersonated.constraint}
        if request.body and info.is_resource and info.subresource not in _LONG and self._was_read(response):
            self._take_body()  # but for what is passed on: it is no object of ours
        self._take_answer(response)
        if response.stream is not None or info.verb in ("watch", "proxy") or info.subresource in _LONG:
            self.write(STARTED)

    def _was_read(self, response: Response) -> bool:
        """Whether the handler came to read the body."""
        decision = self._info.decision
        return response.status != 429 and (decision is None or decision.allowed)

    def _take_body(self) -> None:
        """The body of a write: what it is called at every level, the whole of it where the policy says so."""
        names = self._info.verb in ("create", "update")
        if not names and self._verdict.level < REQUEST:
            return
        body = self._recorder.body(self._request, self._info)
        if body is None:
            return
        if names and isinstance(body, dict):
            self._take_names(body.get("metadata"))
        if self._verdict.level >= REQUEST:
            self.answer["requestObject"] = _without_managers(body) if self._verdict.omit_managed_fields else body

    def _take_names(self, metadata: Any) -> None:
        reference = self.changes()["objectRef"]
        if not isinstance(metadata, dict):
            return
        for field in ("namespace", "name", "uid", "resourceVersion"):
            value = metadata.get(field)
            if value and isinstance(value, str) and not reference.get(field):
                reference[field] = value

    def _take_answer(self, response: Response) -> None:
        found, info = self.answer, self._info
        if response.status < 400 and self._verdict.level < REQUEST and info.verb not in _DELETES and not info.panic:
            found["responseStatus"] = _plain_status(response.status)
            return
        status: dict[str, Any] = {"metadata": {}}
        if info.panic:
            message = f"APIServer panic'd: {info.panic}"
            found["responseStatus"] = status | {
                "status": "Failure", "message": message, "reason": "InternalError", "code": 500
            }  # fmt: skip
            return
        answer = None
        whole = self._verdict.level >= REQUEST_RESPONSE and info.is_resource and info.subresource not in _LONG
        if (whole or response.status >= 400 or info.verb in _DELETES) and response.body:
            answer = _answer_object(response)
        if isinstance(answer, dict) and answer.get("kind") == "Status":
            status |= {field: answer[field] for field in _STATUS_FIELDS if answer.get(field)}
        found["responseStatus"] = status | {"code": response.status}
        if whole and answer is not None:
            found["responseObject"] = _without_managers(answer) if self._verdict.omit_managed_fields else answer


class _Followed:
    """A stream whose end is recorded; what iterates it gets the pieces of the stream itself."""

    __slots__ = ("_record", "_stream")

    def __init__(self, stream: AsyncIterator[bytes], record: _Record) -> None:
        self._stream = stream
        self._record: _Record | None = record

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def __anext__(self) -> bytes:
        return await anext(self._stream)

    async def aclose(self) -> None:
        record, self._record = self._record, None
        if (close := getattr(self._stream, "aclose", None)) is not None:
            await close()
        if record is not None:
            record.write(COMPLETE)


def _answer_object(response: Response) -> Any:
    """The object of an answer; None where it is no JSON."""
    if not response.headers.get("Content-Type", "").startswith("application/json"):
        return None
    try:
        return orjson.loads(response.body or b"")
    except orjson.JSONDecodeError:
        return None


def _without_managers(obj: Any) -> Any:
    """An object, a list or a table without its managed fields; what was given is this event's own, and is changed."""
    if isinstance(obj, dict):
        for part in (obj, *_parts(obj)):
            if isinstance(part.get("metadata"), dict):
                part["metadata"].pop("managedFields", None)
    return obj


def _parts(obj: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (item for item in obj.get("items") or () if isinstance(item, dict))
    for row in obj.get("rows") or ():
        if isinstance(row, dict) and isinstance(row.get("object"), dict):
            yield row["object"]


def _reference(info: RequestInfo) -> dict[str, str]:
    """What is asked for, as far as the path says it."""
    found = {"resource": info.resource}
    if info.namespace:
        found["namespace"] = info.namespace
    if info.name:
        found["name"] = info.name
    if info.group:
        found["apiGroup"] = info.group
    if info.version:
        found["apiVersion"] = info.version
    if info.subresource:
        found["subresource"] = info.subresource
    return found


@lru_cache(maxsize=64)
def _plain_status(code: int) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps({"metadata": {}, "code": code}))


def _user(user: UserInfo) -> orjson.Fragment:
    return _user_json(user.name, user.uid, user.groups, tuple(user.extra.items()))


@lru_cache(maxsize=256)
def _user_json(name: str, uid: str, groups: tuple[str, ...], extra: tuple[tuple[str, tuple[str, ...]], ...]) -> orjson.Fragment:
    """`authentication.k8s.io/v1 UserInfo`, encoded once for each of the few who ask."""
    found = {"username": name, "uid": uid, "groups": groups, "extra": dict(extra)}
    return orjson.Fragment(orjson.dumps({field: value for field, value in found.items() if value}))


@lru_cache(maxsize=4)  # an event's two times are often one
def _stamp(now: float) -> bytes:
    """`metav1.MicroTime`, whose seconds are written once each."""
    second, micro = divmod(round(now * 1_000_000), 1_000_000)
    return b"%b.%06dZ" % (_second(second), micro)


@lru_cache(maxsize=4)
def _second(second: int) -> bytes:
    return rfc3339(second)[:-1].encode()


def new_identity() -> str:
    """A UUID of version 4; random bytes are fetched for many at a time."""
    if not _random:
        drawn = os.urandom(16 * 256).hex()
        _random.extend(drawn[start : start + 32] for start in range(0, len(drawn), 32))
    word = _random.pop()
    return f"{word[:8]}-{word[8:12]}-4{word[13:16]}-{'89ab'[int(word[16], 16) & 3]}{word[17:20]}-{word[20:]}"


_random: list[str] = []


def _agent(request: Request) -> str | None:
    agent = request.headers.get("user-agent", "")
    return f"{agent[:_MOST_AGENT]}...TRUNCATED" if len(agent) > _MOST_AGENT else agent or None


def _target(request: Request) -> str:
    """The target of a request that came without a wire."""
    query = urlencode(request.query, doseq=True)
    return quote(request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else "")


def source_addresses(request: Request) -> list[str]:
    """Where a request came from: what proxies say first, the peer last, which alone cannot be made up."""
    forwarded, real = request.headers.get("x-forwarded-for", ""), request.headers.get("x-real-ip", "")
    found = [address for word in forwarded.split(",") if (address := _address(word))] if forwarded else []
    if real and (address := _address(real)) and address not in found:
        found.append(address)
    peer = request.peer or "127.0.0.1"
    if not found or found[-1] != peer:
        found.append(peer)
    return found


def _address(word: str) -> str:
    try:
        return str(ipaddress.ip_address(word.strip()))
    except ValueError:
        return ""
