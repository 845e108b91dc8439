"""An event of the audit log before it is text: what is sent to the process that writes the log.

Making the text takes longer than serving a read does, so whoever answers requests only says what happened.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo

NONE, METADATA, REQUEST, REQUEST_RESPONSE = range(4)
LEVELS = ("None", "Metadata", "Request", "RequestResponse")
RECEIVED, STARTED, COMPLETE, PANIC = STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")


class Event(Struct, array_like=True):
    """A stage that a request has come to, at some moment (seconds since the epoch, as `received`).

    `comes`: no line says yet that the request is there, so one is to be written before. `user` is who asks; None: a stranger.
    `forwarded` and `real` are what proxies say of the sender's address. What is asked for stands in `resource` to `subresource`
    where it is a resource, and `named` is what the body adds to that.

    Of an answer there is either its `code`, where that is all that is told, or `told`, members of a JSON object with a comma
    behind each; without both there is none yet. `decision` is the authoriser's (allow, forbid), `annotations` what was noted.
    """

    level: int
    stage: str
    comes: bool
    identity: str
    received: float
    at: float
    verb: str
    uri: str
    resource: str
    namespace: str
    name: str
    group: str
    version: str
    subresource: str
    named: Mapping[str, str] | None
    user: UserInfo | None
    peer: str
    forwarded: str
    real: str
    agent: str
    code: int
    told: bytes
    decision: str
    reason: str
    annotations: Mapping[str, str]
