"""Who asked for what, from where, as events say it: in JSON, since most of it is the same for many requests.

Source: apiserver `audit/request.go`, apimachinery `util/net` (addresses).
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, urlencode

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.heads import readable
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo

_MOST_AGENT = 1024  # characters of a User-Agent
_REMEMBERED = 128  # characters of one, or of a path, that is kept: strangers write them, too
_MOST_ASKED = 512
_HERE = "127.0.0.1"
_FORWARDED, _REAL = "x-forwarded-for", "x-real-ip"


def encoded(value: object) -> bytes:
    """JSON, in which bytes of a header that are no UTF-8 are replaced."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return readable(json.dumps(value, ensure_ascii=False)).encode()


def asking(request: Request, user: UserInfo | None) -> bytes:
    """An event's `user`, `sourceIPs` and `userAgent`, from the end of that timestamp on, with a comma behind each. `user` None: a
    stranger.
    """
    headers = request.headers
    agent = headers.get("user-agent", "")
    forwarded = _FORWARDED in headers or _REAL in headers
    if user is not None and not user.extra and len(agent) <= _REMEMBERED and not forwarded:
        return _plain(user.name, user.uid, user.groups, request.peer, agent)
    return _who(user, source_addresses(request), agent)


@lru_cache(maxsize=256)
def _plain(name: str, uid: str, groups: tuple[str, ...], peer: str, agent: str) -> bytes:
    """The same of requests that came straight from their sender: few ask, and they ask again and again."""
    return _who(UserInfo(name, uid, groups), [peer or _HERE], agent)


def _who(user: UserInfo | None, addresses: Sequence[str], agent: str) -> bytes:
    agent = f"{agent[:_MOST_AGENT]}...TRUNCATED" if len(agent) > _MOST_AGENT else agent
    last = b'"userAgent":%b,' % encoded(agent) if agent else b""
    return b"".join((b'","user":', user_json(user), b',"sourceIPs":', orjson.dumps(addresses), b",", last))


def asked(request: Request, info: RequestInfo, named: Mapping[str, str] | None) -> bytes:
    """An event's `requestURI`, `verb` and `objectRef`, from the comma before them to where the `requestReceivedTimestamp` stands;
    `named` is what the body says of the object.
    """
    if named or not request.target or len(request.target) > _REMEMBERED:
        return _what(request, info, named)
    key = info.verb, request.target
    found = _asked.get(key)
    if found is None:
        if len(_asked) >= _MOST_ASKED:
            _asked.clear()
        found = _asked[key] = _what(request, info, None)
    return found


#: the same of what was asked for of late: clients ask again and again
_asked: dict[tuple[str, str], bytes] = {}


def _what(request: Request, info: RequestInfo, named: Mapping[str, str] | None) -> bytes:
    found: dict[str, object] = {"requestURI": target(request), "verb": info.verb}
    if info.is_resource:
        path = _reference(info)
        found["objectRef"] = {**named, **path} if named else path
    return b',%b,"requestReceivedTimestamp":"' % encoded(found)[1:-1]


def _reference(info: RequestInfo) -> dict[str, str]:
    """What is asked for, as far as the path says it (`ObjectReference`)."""
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


def user_json(user: UserInfo | None) -> bytes:
    """`authentication.k8s.io/v1 UserInfo`; empty for a stranger."""
    return b"{}" if user is None else encoded(user.as_json())


def target(request: Request) -> str:
    """The path and query; of a request that came without a wire, as a client would write them."""
    if request.target:
        return request.target
    query = urlencode(request.query, doseq=True)
    return quote(request.path, safe="/:@!$&'()*+,;=~") + (f"?{query}" if query else "")


def source_addresses(request: Request) -> list[str]:
    """Where a request came from: what proxies say first, the peer last, which alone cannot be made up."""
    forwarded, real = request.headers.get(_FORWARDED, ""), request.headers.get(_REAL, "")
    found = [address for word in forwarded.split(",") if (address := _address(word))] if forwarded else []
    if real and (address := _address(real)) and address not in found:
        found.append(address)
    peer = request.peer or _HERE
    if not found or found[-1] != peer:
        found.append(peer)
    return found


def _address(word: str) -> str:
    try:
        return str(ipaddress.ip_address(word.strip()))
    except ValueError:
        return ""
