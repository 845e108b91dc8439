"""What is known of one request, and lines of JSON about it, each in pieces: most of them are shared by many requests, and never
copied here.

Source: apiserver `audit/request.go`, `endpoints/filters/audit.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import orjson
from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.policy import LEVELS, RECEIVED, REQUEST, REQUEST_RESPONSE, STAGES, Verdict
from setpoint.apiserver.audit.requester import asked, asking, encoded, user_json
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import rfc3339_micro

#: how a line begins, by its level and stage
_HEADS = tuple(
    {
        stage: f'{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{level}","stage":"{stage}","auditID":'.encode()
        for stage in STAGES
    }
    for level in LEVELS
)
_MICROS = tuple(b"%03dZ" % micros for micros in range(1000))
_AT, _END = b'"stageTimestamp":"', b'"}\n'
_END_TOLD = b'","annotations":%b}\n'
#: subresources that are passed on, or go on for long
LONG = frozenset(("exec", "attach", "portforward", "proxy", "log"))
_DELETES = ("delete", "deletecollection")
_NAMING = ("create", "update")
_STATUS_FIELDS = ("status", "message", "reason", "details")
_REFERENCED = ("namespace", "name", "uid", "resourceVersion")
_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"

Object = Mapping[str, Any]
Decode = Callable[[Request, RequestInfo], Any]


class Record(Struct, eq=False):
    """What is known of a request. `user` is who asks; None: a stranger."""

    request: Request
    info: RequestInfo
    verdict: Verdict
    identity: str
    received: float
    user: UserInfo | None  # whom an impersonation replaces in the request
    answer: bytes = b""  # what is known once there is one, with a comma behind it
    named: dict[str, str] | None = None  # what the body adds to the reference

    def end(self) -> bytes:
        """How the line ends, with what was noted of the request, which is told from its answer on."""
        if not self.answer:
            return _END
        told, decision = self.request.annotations, self.info.decision
        if decision is not None:
            if decision.error and not decision.allowed:
                told = told | {_REASON: "internal error"}
            else:
                told = told | {_DECISION: "allow" if decision.allowed else "forbid", _REASON: decision.reason}
        return _END_TOLD % encoded(told) if told else _END

    # --- what becomes known ---

    def answered(self, response: Response, decode: Decode) -> None:
        """Take in what is known once the answer begins."""
        request, info = self.request, self.info
        sent = None
        if request.body and info.is_resource and info.subresource not in LONG and self._was_read(response):
            sent = self._sent(decode)  # but for what is passed on: it is no object of ours
        if response.status < 400 and self.verdict.level < REQUEST and info.verb not in _DELETES:
            self.answer = plain_status(response.status)
        else:
            self.tell(({"requestObject": sent} if sent is not None else {}) | self._told(response))
        if request.impersonated is not None:
            self.answer = _impersonated(request.impersonated) + self.answer

    def tell(self, answer: Object) -> None:
        """Take what is known of the answer: `responseStatus`, and objects as far as the policy asks for them."""
        self.answer = b"%b," % encoded(answer)[1:-1]

    def _was_read(self, response: Response) -> bool:
        """Whether the handler came to read the body."""
        decision = self.info.decision
        return response.status != 429 and (decision is None or bool(decision.allowed))

    def _sent(self, decode: Decode) -> Any:
        """The body of a write where the policy asks for it; what it is called is taken at every level."""
        names = self.info.verb in _NAMING
        if self.verdict.level < REQUEST:
            if names:
                self._take_names(_metadata(self.request.body) or _metadata_of(self._body(decode)))
            return None
        body = self._body(decode)
        if body is None:
            return None
        if names:
            self._take_names(_metadata_of(body))
        return without_managers(body) if self.verdict.omit_managed_fields else body

    def _body(self, decode: Decode) -> Any:
        """The body as JSON; None where it is nothing of the kind. `decode` reads bodies that are no JSON."""
        media = self.request.headers.get("content-type", "").partition(";")[0].strip()
        if not media.endswith("json") and media:
            return decode(self.request, self.info)
        try:
            return orjson.loads(self.request.body)
        except orjson.JSONDecodeError:
            return None

    def _take_names(self, metadata: Object | None) -> None:
        if metadata:
            found = {field: value for field in _REFERENCED if (value := metadata.get(field)) and isinstance(value, str)}
            self.named = found or None

    def _told(self, response: Response) -> dict[str, Any]:
        """The answer, where its code is not all of it."""
        info, status = self.info, dict[str, Any](metadata={})
        if info.panic:
            message = f"APIServer panic'd: {info.panic}"
            failure = {"status": "Failure", "message": message, "reason": "InternalError", "code": 500}
            return {"responseStatus": status | failure}
        answer = None
        whole = self.verdict.level >= REQUEST_RESPONSE and info.is_resource and info.subresource not in LONG
        if (whole or response.status >= 400 or info.verb in _DELETES) and response.body:
            answer = _object(response)
        if isinstance(answer, dict) and answer.get("kind") == "Status":
            status |= {field: answer[field] for field in _STATUS_FIELDS if answer.get(field)}
        found: dict[str, Any] = {"responseStatus": status | {"code": response.status}}
        if whole and answer is not None:
            found["responseObject"] = without_managers(answer) if self.verdict.omit_managed_fields else answer
        return found


#: a stage that a request has come to, when, and whether a line before it says that the request is there
Event = tuple[Record, str, float, bool]


def lines(events: Collection[Event]) -> tuple[list[bytes], int]:
    """What is written of some events, in pieces, and how many lines that is."""
    pieces: list[bytes] = []
    count = len(events)
    for record, stage, at, comes in events:
        request, info, heads = record.request, record.info, _HEADS[record.verdict.level]
        name, since = encoded(record.identity), _stamp(record.received)
        what, who = asked(request, info, None), asking(request, record.user)
        if comes:
            pieces += (heads[RECEIVED], name, what, since, who, _AT, since, _END)
            count += 1
        if record.named:
            what = asked(request, info, record.named)
        answer, decision = record.answer, info.decision
        if answer and decision is not None and decision.allowed and not request.annotations:
            end = _allowed(decision.reason)
        else:
            end = record.end()
        pieces += (heads[stage], name, what, since, who, answer, _AT, _stamp(at), end)
    return pieces, count


def _stamp(now: float) -> bytes:
    """`rfc3339_micro` in a third of its time: of the many moments that are written together most share a millisecond."""
    millis, micros = divmod(int(now * 1e6), 1000)
    return _to_the_millisecond(millis) + _MICROS[micros]


@lru_cache(maxsize=256)
def _to_the_millisecond(millis: int) -> bytes:
    return rfc3339_micro(millis / 1e3)[:-4].encode()


@lru_cache(maxsize=512)
def _allowed(reason: str) -> bytes:
    """How the line of a request ends that was allowed, and of which nothing else was noted."""
    return _END_TOLD % encoded({_DECISION: "allow", _REASON: reason})


@lru_cache(maxsize=64)
def plain_status(code: int) -> bytes:
    return b'"responseStatus":{"metadata":{},"code":%d},' % code


def _impersonated(by: Any) -> bytes:
    told = b'"impersonatedUser":%b,' % user_json(by.user)
    if by.constraint:
        told += b'"authenticationMetadata":%b,' % encoded({"impersonationConstraint": by.constraint})
    return told


# --- objects ---


class _Named(Struct):
    """What of a body is read of it that is not recorded: the rest is skipped unread."""

    metadata: dict[str, Any] = {}


_named = msgspec.json.Decoder(_Named)


def _metadata(body: bytes) -> Object | None:
    """The metadata of a JSON object; None where it is none, or anything in it is not as it should be."""
    try:
        return _named.decode(body).metadata
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _metadata_of(body: Any) -> Object | None:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return metadata if isinstance(metadata, dict) else None


def _object(response: Response) -> Any:
    """The object of an answer; None where it is no JSON."""
    if not response.headers.get("Content-Type", "").startswith("application/json"):
        return None
    try:
        return orjson.loads(response.body or b"")
    except orjson.JSONDecodeError:
        return None


def without_managers(obj: Any) -> Any:
    """An object, a list or a table without its managed fields; what was given is this event's own, and is changed."""
    if isinstance(obj, dict):
        for part in (obj, *_parts(obj)):
            if isinstance(part.get("metadata"), dict):
                part["metadata"].pop("managedFields", None)
    return obj


def _parts(obj: Object) -> Iterator[dict[str, Any]]:
    yield from (item for item in obj.get("items") or () if isinstance(item, dict))
    for row in obj.get("rows") or ():
        if isinstance(row, dict) and isinstance(row.get("object"), dict):
            yield row["object"]
