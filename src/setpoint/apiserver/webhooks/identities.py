"""Who the server is towards webhooks: users of a kubeconfig that are named by the hosts that they are for.

`hooks.example.com:8443`, `audit.kube-system.svc:443`; without a port where that is 443; `*.example.com`; `*` for all others, then
the current context's user, then nobody. Source: apiserver `pkg/util/webhook/authentication.go`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from setpoint.client import kubeconfig
from setpoint.client.kubeconfig import Access

Header = tuple[str, str]
_UNSUPPORTED = ("exec", "auth-provider")


class Identity(Struct, frozen=True):
    """A user. `headers` say who it is, besides the token of a file, which is read for each call since it may change."""

    headers: tuple[Header, ...] = ()
    token_file: str = ""
    certificate: Access | None = None

    def shown(self) -> list[Header]:
        """All headers; raises OSError where the token cannot be read."""
        if not self.token_file:
            return list(self.headers)
        return [*self.headers, ("Authorization", f"Bearer {Path(self.token_file).read_text().strip()}")]

    def stamp(self) -> int:
        """Another number when the certificate's file was written anew; raises OSError where there is none."""
        file = self.certificate.certificate_file if self.certificate is not None else ""
        return Path(file).stat().st_mtime_ns if file else 0


NOBODY = Identity()


class Identities:
    """The users by the hosts that they are for; `default` is for all others."""

    def __init__(self, users: Mapping[str, Identity] = MappingProxyType({}), default: Identity = NOBODY) -> None:
        self._users = users
        self._default = default

    def find(self, target: str) -> Identity:
        """The user towards `target`, a host with its port."""
        host, _, port = target.rpartition(":")
        names = [*_names(target), *(_names(host.strip("[]")) if port == "443" else ())]
        return next((self._users[name] for name in names if name in self._users), self._default)


def _names(target: str) -> Iterator[str]:
    yield target
    steps = target.split(".")
    for index in range(1, len(steps)):
        yield f"*.{'.'.join(steps[index:])}"


ANONYMOUS = Identities()


def load(file: Path) -> Identities:
    """The users of a kubeconfig; raises ValueError where it cannot be used."""
    config = kubeconfig.read(file)
    users = {str(entry.get("name")): _identity(entry, file.parent) for entry in config.get("users") or ()}
    contexts = {entry.get("name"): (entry.get("context") or {}).get("user") for entry in config.get("contexts") or ()}
    current = users.get(contexts.get(config.get("current-context")) or "", NOBODY)
    return Identities(users, users.get("*", current))


def _identity(entry: Mapping[str, Any], base: Path) -> Identity:
    user = entry.get("user") or {}
    if found := next((each for each in _UNSUPPORTED if user.get(each)), None):
        raise ValueError(f'user "{entry.get("name")}": {found} is not supported')
    access = kubeconfig.user(user, base)
    token_file = "" if user.get("token") else str(user.get("tokenFile") or "")
    return Identity(
        tuple(_headers(entry.get("name"), user)),
        str(base / token_file) if token_file else "",
        access if access.certificate_data or access.certificate_file else None,
    )


def _headers(name: object, user: Mapping[str, Any]) -> Iterator[Header]:
    if user.get("username") or user.get("password"):
        if user.get("token") or user.get("tokenFile"):
            raise ValueError(f'user "{name}": username/password or bearer token may be set, but not both')
        pair = f"{user.get('username') or ''}:{user.get('password') or ''}"
        yield "Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif user.get("token"):
        yield "Authorization", f"Bearer {user['token']}"
    if user.get("as"):
        yield "Impersonate-User", user["as"]
        if user.get("as-uid"):
            yield "Impersonate-Uid", user["as-uid"]
        yield from (("Impersonate-Group", group) for group in user.get("as-groups") or ())
        for key, values in (user.get("as-user-extra") or {}).items():
            yield from ((f"Impersonate-Extra-{key}", value) for value in values)
