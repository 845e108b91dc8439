"""Lines of JSON about events. Most of a line is the same for many requests, and is remembered.

Source: apiserver `audit/request.go`, `endpoints/filters/audit.go`, apimachinery `util/net` (addresses).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.audit.event import LEVELS, RECEIVED, STAGES, Event
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
_END_NOTED = b'","annotations":%b}\n'
_DECISION, _REASON = "authorization.k8s.io/decision", "authorization.k8s.io/reason"
_MOST_AGENT = 1024  # characters of a User-Agent
_REMEMBERED = 128  # characters of one, or of a path, that is kept: strangers write them, too
_HERE = "127.0.0.1"


def lines(events: Iterable[Event]) -> list[bytes]:
    """What is written of some events, in pieces."""
    pieces: list[bytes] = []
    for event in events:
        heads, name, since = _HEADS[event.level], orjson.dumps(event.identity), _stamp(event.received)
        what, who = _asked(event), _asking(event)
        if event.comes:
            pieces += (heads[RECEIVED], name, what, since, who, _AT, since, _END)
        if event.named:
            what = _what(event)
        pieces += (heads[event.stage], name, what, since, who, _answer(event), _AT, _stamp(event.at), _end(event))
    return pieces


def _stamp(now: float) -> bytes:
    """`rfc3339_micro` in a third of its time: of the many moments that are written together most share a millisecond."""
    millis, micros = divmod(int(now * 1e6), 1000)
    return _to_the_millisecond(millis) + _MICROS[micros]


@lru_cache(maxsize=256)
def _to_the_millisecond(millis: int) -> bytes:
    return rfc3339_micro(millis / 1e3)[:-4].encode()


# --- what was asked for ---


def _asked(event: Event) -> bytes:
    """`requestURI`, `verb` and `objectRef` without what the body says, from the comma before them to where the
    `requestReceivedTimestamp` stands.
    """
    reference = event.resource, event.namespace, event.name, event.group, event.version, event.subresource
    make = _asked_before if len(event.uri) <= _REMEMBERED else _asked_before.__wrapped__
    return make(event.uri, event.verb, reference)


@lru_cache(maxsize=512)
def _asked_before(uri: str, verb: str, reference: tuple[str, ...]) -> bytes:
    """The same of what was asked for of late: clients ask again and again."""
    return _request(uri, verb, _object_reference(*reference))


def _what(event: Event) -> bytes:
    """The same with what the body says."""
    path = _object_reference(event.resource, event.namespace, event.name, event.group, event.version, event.subresource)
    return _request(event.uri, event.verb, {**(event.named or {}), **path} if path else path)


def _request(uri: str, verb: str, reference: Mapping[str, str]) -> bytes:
    found: dict[str, object] = {"requestURI": uri, "verb": verb}
    if reference:
        found["objectRef"] = reference
    return b',%b,"requestReceivedTimestamp":"' % orjson.dumps(found)[1:-1]


def _object_reference(resource: str, namespace: str, name: str, group: str, version: str, subresource: str) -> dict[str, str]:
    """What is asked for, as far as the path says it (`ObjectReference`); empty where it is no resource."""
    if not resource:
        return {}
    found = {"resource": resource}
    if namespace:
        found["namespace"] = namespace
    if name:
        found["name"] = name
    if group:
        found["apiGroup"] = group
    if version:
        found["apiVersion"] = version
    if subresource:
        found["subresource"] = subresource
    return found


# --- who asks ---


def _asking(event: Event) -> bytes:
    """`user`, `sourceIPs` and `userAgent`, from the end of that timestamp on, with a comma behind each."""
    user = event.user
    if user is not None and not user.extra and not event.forwarded and not event.real and len(event.agent) <= _REMEMBERED:
        return _plain(user.name, user.uid, user.groups, event.peer, event.agent)
    return _who(user, source_addresses(event.peer, event.forwarded, event.real), event.agent)


@lru_cache(maxsize=256)
def _plain(name: str, uid: str, groups: tuple[str, ...], peer: str, agent: str) -> bytes:
    """The same of requests that came straight from their sender: few ask, and they ask again and again."""
    return _who(UserInfo(name, uid, groups), [peer or _HERE], agent)


def _who(user: UserInfo | None, addresses: Sequence[str], agent: str) -> bytes:
    told = orjson.dumps({} if user is None else user.as_json())
    agent = f"{agent[:_MOST_AGENT]}...TRUNCATED" if len(agent) > _MOST_AGENT else agent
    last = b'"userAgent":%b,' % orjson.dumps(agent) if agent else b""
    return b'","user":%b,"sourceIPs":%b,%b' % (told, orjson.dumps(addresses), last)


def source_addresses(peer: str, forwarded: str, real: str) -> list[str]:
    """Where a request came from: what proxies say first, the peer last, which alone cannot be made up."""
    found = [address for word in forwarded.split(",") if (address := _address(word))] if forwarded else []
    if real and (address := _address(real)) and address not in found:
        found.append(address)
    peer = peer or _HERE
    if not found or found[-1] != peer:
        found.append(peer)
    return found


def _address(word: str) -> str:
    try:
        return str(ipaddress.ip_address(word.strip()))
    except ValueError:
        return ""


# --- the answer ---


def _answer(event: Event) -> bytes:
    return _plain_status(event.code) if event.code else event.told


@lru_cache(maxsize=64)
def _plain_status(code: int) -> bytes:
    return b'"responseStatus":{"metadata":{},"code":%d},' % code


def _end(event: Event) -> bytes:
    """How the line ends, with what was noted of the request."""
    if not event.annotations:
        return _decided(event.decision, event.reason)
    return _END_NOTED % orjson.dumps({**event.annotations, **_decision(event.decision, event.reason)})


@lru_cache(maxsize=512)
def _decided(decision: str, reason: str) -> bytes:
    """The same where nothing else was noted than what the authoriser said."""
    told = _decision(decision, reason)
    return _END_NOTED % orjson.dumps(told) if told else _END


def _decision(decision: str, reason: str) -> dict[str, str]:
    if decision:
        return {_DECISION: decision, _REASON: reason}
    return {_REASON: reason} if reason else {}
