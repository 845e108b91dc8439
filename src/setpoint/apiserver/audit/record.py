"""One request's events as lines of JSON, each in pieces: most of them are shared by many requests, and never copied here.

What does not change from one stage to the next is encoded once; nothing is until the first of them is asked for.
Source: apiserver `audit/request.go`, `endpoints/filters/audit.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import orjson

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
_RECEIVED = 2  # where among the pieces that lines share it stands
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
Pieces = tuple[bytes, ...]
Decode = Callable[[Request, RequestInfo], Any]


class Record:
    """What is known of a request."""

    __slots__ = (
        "_decided",
        "_info",
        "_later",
        "_named",
        "_received",
        "_shared",
        "answer",
        "identity",
        "request",
        "user",
        "verdict",
    )

    def __init__(self, request: Request, info: RequestInfo, verdict: Verdict, identity: str, received: float) -> None:
        self.request = request
        self.user: UserInfo | None = request.user  # whom an impersonation replaces
        self.verdict = verdict
        self.identity = identity
        self._received = received
        #: what is known once there is an answer, with a comma behind it
        self.answer = b""
        self._info = info
        self._shared: Pieces = ()  # what all lines have in common
        self._later: Pieces = ()  # what an impersonation adds
        self._decided = ("", "")  # whether it was allowed, and why
        self._named: dict[str, str] | None = None  # what the body adds to the reference

    # --- lines ---

    def first_line(self) -> Pieces:
        """The line of the first stage."""
        shared = self._shared or self._share()
        return (_HEADS[self.verdict.level][RECEIVED], *shared, _AT, shared[_RECEIVED], _END)

    def line(self, stage: str, at: float) -> Pieces:
        """The line of a later stage."""
        shared = self._shared or self._share()
        if self._named:
            shared = (shared[0], asked(self.request, self._info, self._named), *shared[2:])
        return (_HEADS[self.verdict.level][stage], *shared, *self._later, self.answer, _AT, stamp(at), self._end())

    def _end(self) -> bytes:
        """How the line ends, with what was noted of the request."""
        told, (decision, reason) = self.request.annotations, self._decided
        if not told:
            return _end_of(decision, reason) if decision else _END
        return _END_TOLD % encoded({**told, _DECISION: decision, _REASON: reason} if decision else told)

    def _share(self) -> Pieces:
        """What lines have in common."""
        request = self.request
        what, who = asked(request, self._info, None), asking(request, self.user)
        self._shared = (encoded(self.identity), what, stamp(self._received), who)
        return self._shared

    # --- what becomes known ---

    def answered(self, response: Response, decode: Decode) -> None:
        """Take in what is known once the answer begins."""
        request, info = self.request, self._info
        if (decision := info.decision) is not None:
            if decision.error and not decision.allowed:
                request.annotations[_REASON] = "internal error"
            else:
                self._decided = ("allow" if decision.allowed else "forbid", decision.reason)
        if request.impersonated is not None:
            self._impersonates(request.impersonated)
        sent = None
        if request.body and info.is_resource and info.subresource not in LONG and self._was_read(response):
            sent = self._sent(decode)  # but for what is passed on: it is no object of ours
        if response.status < 400 and self.verdict.level < REQUEST and info.verb not in _DELETES and not info.panic:
            self.answer = _plain_status(response.status)
        else:
            self.tell(({"requestObject": sent} if sent is not None else {}) | self._told(response))

    def tell(self, answer: Object) -> None:
        """Take what is known of the answer: `responseStatus`, and objects as far as the policy asks for them."""
        self.answer = b"%b," % encoded(answer)[1:-1]

    def _impersonates(self, impersonated: Any) -> None:
        self._later = (b'"impersonatedUser":%b,' % user_json(impersonated.user),)
        if impersonated.constraint:
            found = {"impersonationConstraint": impersonated.constraint}
            self._later += (b'"authenticationMetadata":%b,' % encoded(found),)

    def _was_read(self, response: Response) -> bool:
        """Whether the handler came to read the body."""
        decision = self._info.decision
        return response.status != 429 and (decision is None or bool(decision.allowed))

    def _sent(self, decode: Decode) -> Any:
        """The body of a write where the policy asks for it; what it is called is taken at every level."""
        names = self._info.verb in _NAMING
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
            return decode(self.request, self._info)
        try:
            return orjson.loads(self.request.body)
        except orjson.JSONDecodeError:
            return None

    def _take_names(self, metadata: Object | None) -> None:
        if metadata:
            found = {field: value for field in _REFERENCED if (value := metadata.get(field)) and isinstance(value, str)}
            self._named = found or None

    def _told(self, response: Response) -> dict[str, Any]:
        """The answer, where its code is not all of it."""
        info, status = self._info, dict[str, Any](metadata={})
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


@lru_cache(maxsize=512)
def _end_of(decision: str, reason: str) -> bytes:
    return _END_TOLD % encoded({_DECISION: decision, _REASON: reason})


@lru_cache(maxsize=64)
def _plain_status(code: int) -> bytes:
    return b'"responseStatus":{"metadata":{},"code":%d},' % code


def stamp(now: float) -> bytes:
    return rfc3339_micro(now).encode()


# --- objects ---


class _Named(msgspec.Struct):
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
