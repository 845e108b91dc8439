"""Why a webhook could not be asked, in the words of Go's HTTP client and of client-go.

Sources: Go `net`, `crypto/x509`; apimachinery `api/errors` (NewGenericServerResponse).
"""

from __future__ import annotations

import errno
import socket
import ssl
from typing import TYPE_CHECKING

import orjson

from setpoint.api.machinery.status import StatusError, go_value
from setpoint.apiserver.webhooks.services import Unresolved

if TYPE_CHECKING:
    from setpoint.apiserver.webhooks.services import Address

_SHOWN = 2048
_UNKNOWN_ISSUER = (18, 19, 20, 21)  # OpenSSL's X509_V_ERR for chains that end nowhere
_EXPIRED, _NOT_YET, _HOSTNAME, _IP = 10, 9, 62, 64
_PHRASES = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}


class CallFailed(Exception):
    """A webhook could not be asked, or did not answer with success; says why as Kubernetes does.

    `code` is what it answered; 503 where it did not.
    """

    def __init__(self, why: str, code: int = 503) -> None:
        super().__init__(why)
        self.code = code


class Unprepared(CallFailed):
    """What it takes to ask a webhook is not there: trust, a token, a certificate."""


def opening(error: OSError) -> str:
    """Why a file cannot be used."""
    return f"open {error.filename}: {(error.strerror or str(error)).lower()}" if error.filename else str(error)


def verification(error: ssl.SSLCertVerificationError, host: str) -> str:
    """What is wrong with a server's certificate."""
    code = error.verify_code
    if code in _UNKNOWN_ISSUER:
        why = "x509: certificate signed by unknown authority"
    elif code in (_EXPIRED, _NOT_YET):
        why = "x509: certificate has expired or is not yet valid"
    elif code in (_HOSTNAME, _IP):
        why = f"x509: certificate is not valid for any names, but wanted to match {host}"
    else:
        why = f"x509: {error.verify_message or error}"
    return f"tls: failed to verify certificate: {why}"


def dialling(error: OSError, host: str, address: Address | str) -> str:
    """What went wrong before anything was sent."""
    if isinstance(error, Unresolved):
        return str(error)
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host if isinstance(address, str) else address.host}: no such host"
    if isinstance(error, ssl.SSLError):
        reason = error.reason or ""
        if "WRONG_VERSION" in reason or "HTTP" in reason or "RECORD_LAYER" in reason:
            return "http: server gave HTTP response to HTTPS client"
        return f"remote error: tls: {reason.lower().replace('_', ' ') or error}"
    return f"dial tcp {address}: connect: {_reason(error)}"


def _reason(error: OSError) -> str:
    words = {
        errno.ECONNREFUSED: "connection refused",
        errno.EHOSTUNREACH: "no route to host",
        errno.ENETUNREACH: "network is unreachable",
        errno.ETIMEDOUT: "connection timed out",
    }
    return words.get(error.errno or 0) or str(error.strerror or error).lower()


def refusal(status: int, content: bytes) -> str:
    """What client-go says of an answer that is no success: its Status, if it is one, else what its code stands for."""
    if message := _message_of(content):
        return message
    text = content[:_SHOWN].decode(errors="replace").strip() or "unknown"
    if status in (403, 406, 415):
        return text
    if phrase := _PHRASES.get(status):
        return phrase
    if status >= 500:
        return f"an error on the server ({go_value(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"


def _message_of(content: bytes) -> str:
    if not content.lstrip().startswith(b"{"):
        return ""
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(found, dict) or found.get("kind") != "Status" or found.get("status") == "Success":
        return ""
    return StatusError.parse(found).message
