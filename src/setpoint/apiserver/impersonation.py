"""Acting as somebody else: the `Impersonate-*` headers, and who may send them.

There are two ways. The classic one needs the verb `impersonate` on each part of the wanted identity, and then the request may do
what that identity may. The constrained ones (KEP-5284) need two rights: `impersonate:<mode>` on the identity and
`impersonate-on:<mode>:<verb>` on what is done. Every mode that fits is tried; the first that allows decides.

Whoever is refused everywhere is told why by the mode that served them last, else by the first that fits, as in Kubernetes. People
(neither anonymous nor a service account) are taken to have used the classic way before: `kubectl --as` has no other.
Source: Kubernetes `endpoints/filters/impersonation`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Protocol
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, StatusError, bad_request, forbidden_object, invalid, required
from setpoint.api.machinery.user import ANONYMOUS, UserInfo
from setpoint.apiserver.heads import readable
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo

USER, UID, GROUP, EXTRA = "impersonate-user", "impersonate-uid", "impersonate-group", "impersonate-extra-"
_HEADERS = (USER, UID, GROUP)
_PREFIX = "impersonate-"
_MASTERS = "system:masters"
_AUTHENTICATED, _UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
_AUTHENTICATION = "authentication.k8s.io"
_NODE_PREFIX, _ACCOUNT_PREFIX = "system:node:", "system:serviceaccount:"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_NODE_KEYS = "authentication.kubernetes.io/associated-node-keys"
_MANY = 4  # of one sort: the right to all of them is asked for first
_LONGEST_NODE = len(_NODE_PREFIX) + 253
_REMEMBERED = 10_000  # people and accounts whose last mode is known
_PATH = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")


class Authorizer(Protocol):
    """Raises StatusError 403 to refuse."""

    async def authorize(self, request: Request, info: RequestInfo) -> None: ...


class Impersonated(Struct, frozen=True):
    """Who a request acts as, who sent it, and the constrained mode's verb that let them (empty: the classic way)."""

    user: UserInfo
    by: UserInfo
    constraint: str = ""


class Wanted(Struct, frozen=True):
    """The identity that headers ask for, as they say it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}

    @property
    def name_only(self) -> bool:
        return not (self.uid or self.groups or self.extra)

    @property
    def node(self) -> str:
        """The node that the name stands for; empty when it is none."""
        return node_of(self.name) if self.name.startswith(_NODE_PREFIX) else ""

    @property
    def account(self) -> tuple[str, str] | None:
        """Namespace and name of the service account that the name stands for."""
        return split_account(self.name)


class Mode(Struct, frozen=True):
    """One way to impersonate: its name (empty: the classic way), and whom it serves for which asker."""

    name: str
    fits: Callable[[Wanted, UserInfo], bool]

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"


def _own_node(wanted: Wanted, asker: UserInfo) -> bool:
    held = asker.extra.get(_NODE_NAME, ())
    return wanted.name_only and wanted.node != "" and split_account(asker.name) is not None and held == (wanted.node,)


_CLASSIC = 4
MODES = (
    Mode("associated-node", _own_node),
    Mode("arbitrary-node", lambda wanted, _: wanted.name_only and wanted.node != ""),
    Mode("serviceaccount", lambda wanted, _: wanted.name_only and wanted.account is not None),
    Mode("user-info", lambda wanted, _: not wanted.node and wanted.account is None),
    Mode("", lambda *_: True),
)


class Impersonation:
    """The filter before authorisation."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, int] = OrderedDict()

    async def apply(self, request: Request, info: RequestInfo, authorizer: Authorizer | None) -> None:
        """Make the request the wanted user's, without the headers that asked for it; raises StatusError 400 or 403."""
        wanted = wanted_user(request.headers)
        if wanted is None:
            return
        found = await self._allowed(wanted, request, info, authorizer)
        request.impersonated = found
        request.user = found.user
        request.headers = {name: value for name, value in request.headers.items() if not _asks(name)}

    async def _allowed(self, wanted: Wanted, request: Request, info: RequestInfo, authorizer: Authorizer | None) -> Impersonated:
        asker, refusal = request.user, None
        for index in self._order(asker):
            mode = MODES[index]
            if not mode.fits(wanted, asker):
                continue
            try:
                user = await _Check(mode, request, authorizer).run(wanted, info)
            except StatusError as error:
                if error.code != 403:
                    raise
                refusal = refusal or error
                continue
            self._remember(asker.name, index)
            return Impersonated(user, asker, mode.verb if mode.name else "")
        raise refusal or StatusError(500, "InternalError", "all impersonation modes failed", {})

    def _order(self, asker: UserInfo) -> Iterator[int]:
        first = self._last.get(asker.name)
        if first is None and asker.name != ANONYMOUS.name and split_account(asker.name) is None:
            first = _CLASSIC
        if first is not None:
            yield first
        yield from (index for index in range(len(MODES)) if index != first)

    def _remember(self, name: str, index: int) -> None:
        self._last[name] = index
        self._last.move_to_end(name)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)


class _Check:
    """The rights that one mode asks for."""

    def __init__(self, mode: Mode, request: Request, authorizer: Authorizer | None) -> None:
        self._mode = mode
        self._authorizer = authorizer
        self._request = request
        self._as = request.user
        if mode.name == "associated-node":  # what is allowed holds for every node that the account runs on
            keys = tuple(sorted(self._as.extra))
            self._as = replace(self._as, extra={_NODE_KEYS: keys})

    async def run(self, wanted: Wanted, info: RequestInfo) -> UserInfo:
        """The user as it will act; raises StatusError 403."""
        if self._mode.name:
            await self._ask(_with_verb(info, f"impersonate-on:{self._mode.name}:{info.verb}"))
        groups = await self._name(wanted)
        if wanted.uid:
            await self._may(_AUTHENTICATION, "uids", wanted.uid)
        if wanted.groups:
            await self._groups(wanted.groups)
        if wanted.extra:
            await self._extra(wanted.extra)
        return UserInfo(wanted.name, wanted.uid, _completed(wanted.name, groups), wanted.extra)

    async def _name(self, wanted: Wanted) -> tuple[str, ...]:
        """Ask for the name; the groups that the user will have."""
        group = _AUTHENTICATION if self._mode.name else ""
        if (account := wanted.account) is not None:
            namespace, name = account
            await self._may(group, "serviceaccounts", name, namespace=namespace)
            return wanted.groups or ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        if self._mode.name and wanted.node:
            everyone = self._mode.name == "associated-node"
            await self._may(group, "nodes", "*" if everyone else wanted.node)
            return ("system:nodes",)
        await self._may(group, "users", wanted.name)
        return wanted.groups

    async def _groups(self, groups: Sequence[str]) -> None:
        group = _AUTHENTICATION if self._mode.name else ""
        if self._mode.name:
            if "" in groups:
                raise self._refused(group, "groups", "", "impersonating the empty string group is not allowed")
            if _MASTERS in groups:
                raise self._refused(group, "groups", _MASTERS, "impersonating the system:masters group is not allowed")
            if len(groups) >= _MANY and await _allows(self._may(group, "groups", "*")):
                return
        for name in groups:
            await self._may(group, "groups", name)

    async def _extra(self, extra: Mapping[str, Sequence[str]]) -> None:
        if self._mode.name:
            if complaint := _extra_complaint(extra):
                raise self._refused(_AUTHENTICATION, "userextras", "", complaint)
            many = len(extra) >= _MANY or sum(map(len, extra.values())) >= _MANY
            if many and await _allows(self._may(_AUTHENTICATION, "userextras", "*", subresource="*")):
                return
        for key, values in extra.items():
            for value in values:
                await self._may(_AUTHENTICATION, "userextras", value, subresource=key)

    async def _may(self, group: str, resource: str, name: str, *, namespace: str = "", subresource: str = "") -> None:
        await self._ask(_identity(self._mode.verb, group, resource, name, namespace, subresource))

    async def _ask(self, info: RequestInfo) -> None:
        if self._authorizer is not None:
            asking = Request(self._request.method, self._request.path, self._request.query, user=self._as)
            await self._authorizer.authorize(asking, info)

    def _refused(self, group: str, resource: str, name: str, why: str) -> StatusError:
        target = f'resource "{resource}" in API group "{group}" at the cluster scope'
        return forbidden_object(group, resource, name, f'User "{self._as.name}" cannot {self._mode.verb} {target}: {why}')


async def _allows(asked: Awaitable[None]) -> bool:
    try:
        await asked
    except StatusError as error:
        if error.code != 403:
            raise
        return False
    return True


def _identity(verb: str, group: str, resource: str, name: str, namespace: str, subresource: str) -> RequestInfo:
    """The question for the right to one part of an identity."""
    return RequestInfo(
        is_resource=True,
        path="",
        verb=verb,
        group=group,
        version="v1",
        namespace=namespace,
        resource=resource,
        name=name,
        subresource=subresource,
    )


def _with_verb(info: RequestInfo, verb: str) -> RequestInfo:
    return replace(info, verb=verb)


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Groups with the one that everybody has: of the unproven for the anonymous user, of the proven for all others."""
    if name == ANONYMOUS.name:
        wanted = _UNAUTHENTICATED
    elif _UNAUTHENTICATED in groups:
        return groups
    else:
        wanted = _AUTHENTICATED
    return groups if wanted in groups else (*groups, wanted)


def node_of(user: str) -> str:
    """The node of a node's user name; empty where it cannot be one's."""
    return _known_node(user) if len(user) <= _LONGEST_NODE else ""


@lru_cache(maxsize=_REMEMBERED)  # a fleet of simulated nodes asks for nothing else
def _known_node(user: str) -> str:
    name = user.removeprefix(_NODE_PREFIX)
    return "" if names.dns_subdomain(name) else name


def split_account(user: str) -> tuple[str, str] | None:
    """Namespace and name of a service account's user name; None when it is none."""
    if not user.startswith(_ACCOUNT_PREFIX):
        return None
    namespace, colon, name = user.removeprefix(_ACCOUNT_PREFIX).partition(":")
    if not colon or names.dns_label(namespace) or names.dns_subdomain(name):
        return None
    return namespace, name


# --- headers


def asked(headers: Mapping[str, str]) -> bool:
    """Whether any header asks to act as somebody else: cheap, since nearly none does."""
    for name in headers:  # noqa: SIM110  # of every request: a generator would cost three times as much
        if name.startswith(_PREFIX):
            return True
    return False


def _asks(name: str) -> bool:
    return name in _HEADERS or name.startswith(EXTRA)


def wanted_user(headers: Mapping[str, str]) -> Wanted | None:
    """The identity that headers ask for (repeated ones joined by line breaks, see `heads`); raises 400 for one without a name."""
    name, uid = (readable(headers.get(header, "")).split("\n", 1)[0] for header in (USER, UID))
    groups = tuple(readable(headers[GROUP]).split("\n")) if GROUP in headers else ()
    extra: dict[str, tuple[str, ...]] = {}
    for header in sorted(headers):
        if header.startswith(EXTRA):
            key = unquote(header.removeprefix(EXTRA))
            extra[key] = extra.get(key, ()) + tuple(readable(headers[header]).split("\n"))
    wanted = Wanted(name, uid, groups, extra)
    if name:
        return wanted
    if wanted.name_only:
        return None
    raise bad_request(f"requested {_as_go(wanted)} without impersonating a user name")


def _as_go(wanted: Wanted) -> str:
    """As Go prints a user with `%#v`."""
    groups = f"[]string{_go_list(wanted.groups)}" if wanted.groups else "[]string(nil)"
    pairs = ", ".join(f"{_quoted(key)}:[]string{_go_list(values)}" for key, values in sorted(wanted.extra.items()))
    extra = f"map[string][]string{{{pairs}}}" if wanted.extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{_quoted(wanted.uid)}, Groups:{groups}, Extra:{extra}}}'


def _go_list(values: Sequence[str]) -> str:
    return "{" + ", ".join(map(_quoted, values)) + "}"


def _quoted(text: str) -> str:
    from setpoint.api.machinery.schema.reading import go_quoted

    return go_quoted(text)


def _extra_complaint(extra: Mapping[str, Sequence[str]]) -> str:
    """Why constrained modes do not take an extra field; empty when they do."""
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if errors := _path_errors(key):
            texts = list(dict.fromkeys(map(str, errors)))
            text = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
            return f"impersonating an invalid key in extra is not allowed: {text}"
        if key != key.lower():
            return f"impersonating a non-lowercase key in extra is not allowed: {_quoted(key)}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _path_errors(key: str) -> list[FieldError]:
    """Whether a key is a domain with a path below it. Source: Kubernetes `util/validation` IsDomainPrefixedPath."""
    field = "extra.key"
    if not key:
        return [required(field)]
    host, _, path = key.partition("/")
    if not host or not path:
        return [invalid(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = [invalid(field, host, complaint) for complaint in names.dns_subdomain(host)]
    if _PATH.fullmatch(path) is None:
        errors.append(invalid(field, path, f"Invalid path (regex used for validation is '{_PATH.pattern}')"))
    return errors
