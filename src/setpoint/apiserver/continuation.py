"""Continue tokens: where a list goes on, and at which version.

A token is Kubernetes' own form, base64 of `{"v":"meta.k8s.io/v1","rv":<version>,"start":"<key>\u0000"}`; `rv` -1 says "at the
newest version". Source: apiserver `storage/continue.go`.
"""

from __future__ import annotations

import base64
import binascii

import orjson

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
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        position = next((index for index, letter in enumerate(token) if not (letter.isalnum() or letter in "-_")), 0)
        raise _refused(f"illegal base64 data at input byte {position}") from None
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError:
        letter = chr(raw[0]) if raw else ""
        raise _refused(f"invalid character '{letter}' looking for beginning of value") from None
    if not isinstance(document, dict) or document.get("v") != _VERSION:
        version = document.get("v", "") if isinstance(document, dict) else ""
        raise _refused(f"server does not recognize this encoded version {version}")
    revision, start = document.get("rv"), document.get("start")
    if not isinstance(revision, int) or revision == 0:
        raise _refused("incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not isinstance(start, str) or not start:
        raise _refused("encoded start key empty (version meta.k8s.io/v1)")
    return prefix + start.lstrip("/"), revision


def _refused(why: str) -> StatusError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")


def too_old(start: str, prefix: str) -> StatusError:
    """410 for a token whose version is forgotten, with one that goes on inconsistently (B09)."""
    return expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the "
        "continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing "
        "with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the "
        "time the first chunk was returned and now may show up in the list.",
        encode(start, prefix, NEWEST),
    )
