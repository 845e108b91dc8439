"""Continue tokens: where a list goes on, and at which version.

A token is Kubernetes' own form, base64 of `{"v":"meta.k8s.io/v1","rv":<version>,"start":"<key>\u0000"}`; `rv` -1 says "at the
newest version". Source: apiserver `storage/continue.go`.
"""

from __future__ import annotations

import base64
import posixpath
from typing import Any

import orjson

from setpoint.api.machinery import gojson
from setpoint.api.machinery.status import StatusError, bad_request, expired

_VERSION = "meta.k8s.io/v1"
#: the version of a token that goes on with whatever is there now
NEWEST = -1


def encode(start: str, prefix: str, revision: int) -> str:
    """The token that goes on from the key `start` on."""
    document = {"v": _VERSION, "rv": revision, "start": start[len(prefix) :]}
    return base64.urlsafe_b64encode(orjson.dumps(document)).decode().rstrip("=")


def decode(token: str, prefix: str) -> tuple[str, int]:
    """The key and version to go on from. Raises 400."""
    document = _document(token)
    if document.get("v", "") != _VERSION:
        raise _refused(f"server does not recognize this encoded version {document.get('v', '')}")
    revision, start = document.get("rv", 0), document.get("start", "")
    if revision == 0:
        raise _refused("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not start:
        raise _refused("encoded start key empty (version meta.k8s.io/v1)")
    path = start if start.startswith("/") else f"/{start}"
    if posixpath.normpath(path) != path:  # a key above the collection would list what is none of it
        raise _refused(start)
    return prefix + path[1:], revision


def _document(token: str) -> dict[str, Any]:
    """What a token says, its fields of the right types or absent."""
    if (position := _not_base64(token)) is not None:
        raise _refused(f"illegal base64 data at input byte {position}")
    raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_")
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _refused(_complaint(raw) or str(error)) from None
    if not isinstance(document, dict):
        raise _refused(f"json: cannot unmarshal {_go_kind(document)} into Go value of type storage.continueToken")
    for name, (kind, go) in _FIELDS.items():
        value = document.get(name)
        if value is None:
            document.pop(name, None)
        elif type(value) is not kind:
            field = f"Go struct field continueToken.{name} of type {go}"
            raise _refused(f"json: cannot unmarshal {_go_kind(value)} into {field}")
    return document


def _complaint(raw: bytes) -> str:
    """What Go says of malformed JSON."""
    try:
        gojson.parse(raw)
    except gojson.SyntaxComplaint as complaint:
        return str(complaint)
    return ""


_FIELDS: dict[str, tuple[type, str]] = {"v": (str, "string"), "rv": (int, "int64"), "start": (str, "string")}


def _not_base64(token: str) -> int | None:
    """Where a token stops being unpadded URL-safe base64, None where it is; as Go's decoder counts."""
    for position, letter in enumerate(token):
        if not (letter.isascii() and (letter.isalnum() or letter in "-_")):
            return position
    return len(token) - 1 if len(token) % 4 == 1 else None


def _go_kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number" if isinstance(value, int) else f"number {value}"
        case list():
            return "array"
        case _:
            return "object"


def _refused(why: str) -> StatusError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def too_old(start: str, prefix: str) -> StatusError:
    """410 for a token whose version is forgotten, with one that goes on inconsistently."""
    return expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the "
        "continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing "
        "with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the "
        "time the first chunk was returned and now may show up in the list.",
        encode(start, prefix, NEWEST),
    )
