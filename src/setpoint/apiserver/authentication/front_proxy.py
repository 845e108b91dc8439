"""Who a proxy in front of the API server speaks for: its `X-Remote-*` headers count with a certificate of the proxies' CA only.

From anybody else the headers mean nothing. Source: Kubernetes `authentication/request/headerrequest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.certificates import Peer
from setpoint.apiserver.heads import readable


class FrontProxy(Struct, frozen=True):
    """What headers are read, and the common names of the proxies that may send them (empty: all that the CA signed)."""

    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ("x-remote-user",)
    uid_headers: tuple[str, ...] = ("x-remote-uid",)
    group_headers: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)

    def user_of(self, headers: Mapping[str, str], peer: Peer) -> UserInfo | None:
        """The user that a proxy names; None where the peer is no proxy or names nobody."""
        if not peer.proxy or (self.allowed_names and peer.common_name not in self.allowed_names):
            return None
        name = _first(headers, self.username_headers)
        if not name:
            return None
        groups = tuple(
            group for header in self.group_headers if header in headers for group in readable(headers[header]).split("\n")
        )
        extra: dict[str, tuple[str, ...]] = {}
        for header, value in headers.items():
            for prefix in self.extra_prefixes:
                if header.startswith(prefix):
                    key = unquote(header.removeprefix(prefix))
                    extra[key] = extra.get(key, ()) + tuple(readable(value).split("\n"))
        return UserInfo(name, _first(headers, self.uid_headers), groups, extra)


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := readable(headers.get(name, "")).split("\n", 1)[0].strip())), "")
