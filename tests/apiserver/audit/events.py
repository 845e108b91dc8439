"""Events as tests put them into a log."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.event import COMPLETE, METADATA, Event

_PLAIN = Event(
    level=METADATA,
    stage=COMPLETE,
    comes=False,
    identity="an identity",
    received=1.0,
    at=1.0,
    verb="get",
    uri="/healthz",
    resource="",
    namespace="",
    name="",
    group="",
    version="",
    subresource="",
    named=None,
    user=UserInfo("ann"),
    peer="192.0.2.7",
    forwarded="",
    real="",
    agent="t/1",
    code=200,
    told=b"",
    decision="",
    reason="",
    annotations={},
)


def event(**differing: Any) -> Event:
    """An answered GET of a path, but for what differs."""
    return msgspec.structs.replace(_PLAIN, **differing)
