"""What is known of one request, and becomes an event at each of its stages.

Source: apiserver `audit/request.go`, `endpoints/filters/audit.go`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import orjson
from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.event import REQUEST, REQUEST_RESPONSE, Event
from setpoint.apiserver.audit.policy import Verdict
from setpoint.apiserver.heads import readable
from setpoint.apiserver.request import Request, Response
from setpoint.apiserver.routing import RequestInfo

#: subresources that are passed on, or go on for long
LONG = frozenset(("exec", "attach", "portforward", "proxy", "log"))
_DELETES = ("delete", "deletecollection")
_NAMING = ("create", "update")
_STATUS_FIELDS = ("status", "message", "reason", "details")
_REFERENCED = ("namespace", "name", "uid", "resourceVersion")
_NOTHING: Mapping[str, str] = {}

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
    #: what is known once there is an answer (`Event`)
    code: int = 0
    told: bytes = b""
    named: dict[str, str] | None = None

    def event(self, stage: str, at: float, comes: bool, /) -> Event:
        """A stage that the request has come to."""
        request, info = self.request, self.info
        headers, decision, reason, annotations = request.headers, "", "", _NOTHING
        if self.code or self.told:  # what was noted is told from the answer on
            annotations = request.annotations
            if info.decision is not None:
                decision, reason = _decided(info.decision)
        return Event(
            self.verdict.level,
            stage,
            comes,
            self.identity,
            self.received,
            at,
            info.verb,
            request.target or target(request),
            info.resource if info.is_resource else "",
            info.namespace,
            info.name,
            info.group,
            info.version,
            info.subresource,
            self.named,
            self.user,
            request.peer,
            headers.get("x-forwarded-for", ""),
            headers.get("x-real-ip", ""),
            headers.get("user-agent", ""),
            self.code,
            self.told,
            decision,
            reason,
            annotations,
        )

    # --- what becomes known ---

    def answered(self, response: Response, decode: Decode) -> None:
        """Take in what is known once the answer begins."""
        request, info = self.request, self.info
        sent = None
        if request.body and info.is_resource and info.subresource not in LONG and self._was_read(response):
            sent = self._sent(decode)  # but for what is passed on: it is no object of ours
        if response.status < 400 and self.verdict.level < REQUEST and info.verb not in _DELETES and request.impersonated is None:
            self.code = response.status
            return
        self.tell(({"requestObject": sent} if sent is not None else {}) | self._told(response))
        if request.impersonated is not None:
            self.told = _impersonated(request.impersonated) + self.told

    def tell(self, answer: Object) -> None:
        """Take what is known of the answer: `responseStatus`, and objects as far as the policy asks for them."""
        self.code, self.told = 0, b"%b," % encoded(answer)[1:-1]

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


def _decided(decision: Any) -> tuple[str, str]:
    """What the authoriser said, and why. Where nobody had an opinion since something went wrong, only that is told."""
    if decision.allowed:
        return "allow", decision.reason
    return ("", "internal error") if decision.error else ("forbid", decision.reason)


def _impersonated(by: Any) -> bytes:
    told = b'"impersonatedUser":%b,' % encoded(by.user.as_json())
    if by.constraint:
        told += b'"authenticationMetadata":%b,' % encoded({"impersonationConstraint": by.constraint})
    return told


def target(request: Request) -> str:
    """The path and query of a request that came without a wire, as a client would write them."""
    query = urlencode(request.query, doseq=True)
    return quote(request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else "")


def encoded(value: object) -> bytes:
    """JSON, in which bytes of a header that are no UTF-8 are replaced."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return readable(json.dumps(value, ensure_ascii=False)).encode()


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
