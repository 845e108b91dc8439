"""From a URL to what it asks for: Kubernetes' RequestInfo, and the table of what is served.

Source: apiserver `endpoints/request/requestinfo.go` (the shape of paths) and `endpoints/installer.go` (which methods each has).
Authorisation asks for `RequestInfo` even where nothing is served there, so both are told apart: `parse` never refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field

from setpoint.api.machinery.names import path_segment
from setpoint.api.machinery.selectors import FieldSelector, LabelSelector, SelectorError, parse_fields, parse_labels
from setpoint.api.machinery.status import StatusError, bad_request, method_not_allowed, method_not_supported, not_found
from setpoint.apiserver.request import Request
from setpoint.registry.resource import ServedResource, Subresource

if TYPE_CHECKING:
    from setpoint.apiserver.authorization.decision import Decision
    from setpoint.apiserver.flow_control.control import Flow
    from setpoint.apiserver.generic_store.store import GenericStore

_OBJECT_VERBS = {"GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}
_COLLECTION_VERBS = {**_OBJECT_VERBS, "GET": "list", "HEAD": "list", "DELETE": "deletecollection"}
#: a resource with none of these has no objects that could be named
_OBJECT = frozenset(("get", "update", "patch", "delete"))
#: on a collection over all namespaces these are not offered
_NEED_NAMESPACE = ("create", "deletecollection")
#: below a namespace these are parts of the namespace itself, not resources in it
_NAMESPACE_PARTS = ("status", "finalize")
#: verbs that stand in a path before the resource; nothing is served below the second
_PROXY = "proxy"
_SPECIAL = ("watch", _PROXY)
#: characters of a selector that are read before anybody is asked whether its sender may do anything
_READ_FIRST = 16 * 1024
#: verbs that selectors narrow
_SELECTING = frozenset(("list", "watch", "deletecollection"))


class RequestInfo(Struct):
    """What a request asks for. `verb` is Kubernetes' (get, list, watch, create …), or the lower-case method outside resources."""

    is_resource: bool
    path: str
    verb: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    old_watch: bool = False
    #: how flow control classified the request (`flow_control.control.Flow`)
    flow: Flow | None = None
    #: the unexpected error that ended the request
    panic: str = ""
    #: the one object that the field selector of a list or watch names, which authorisation takes for its name
    selected: str = ""
    #: the selectors of a list, watch or deletecollection; None where there is none or where it cannot be read
    fields: FieldSelector | None = None
    labels: LabelSelector | None = None
    #: what authorisation said (`authorization.decision.Decision`)
    decision: Decision | None = None


class Served(Struct, frozen=True):
    """A resource in one of its versions, with what handlers need of it (`store` is its generic store)."""

    resource: ServedResource
    version: str
    store: GenericStore
    subresources: Mapping[str, Subresource] = field(default_factory=dict)
    #: what every answer about the version warns of (`deprecations` of the resource)
    deprecation: str = ""

    @property
    def api_version(self) -> str:
        return f"{self.resource.group}/{self.version}" if self.resource.group else self.version


class Unknown(Exception):
    """A path below a group of custom resources that names none of them: a plain 404."""


class Target(Struct):
    """A request that something serves."""

    info: RequestInfo
    served: Served
    subresource: Subresource | None = None


def not_served() -> StatusError:
    """404 for a path below a served group and version that names nothing."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def parse(request: Request) -> RequestInfo:
    """The RequestInfo of a request; never fails.

    A path whose resource is empty (`/apis/g/v1//pods`) is a resource's all the same: the rights on paths say nothing of it.
    """
    path = request.path
    parts = path.split("/")
    root = parts[1] if len(parts) > 1 else ""
    if root == "api" and len(parts) > 3 and (parts[3] or any(parts[4:])):
        return _resource_info(request, "", parts[2], parts[3:])
    if root == "apis" and len(parts) > 4 and (parts[4] or any(parts[5:])):
        return _resource_info(request, parts[2], parts[3], parts[4:])
    return RequestInfo(is_resource=False, path=path, verb=request.method.lower())


def _resource_info(request: Request, group: str, version: str, parts: list[str]) -> RequestInfo:
    special = ""
    if parts[-1] == "":
        parts = parts[:-1]
    if parts[0] in _SPECIAL and len(parts) > 1:
        special, *parts = parts
    namespace = ""
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _NAMESPACE_PARTS:
            parts = parts[2:]
    info = RequestInfo(
        is_resource=True,
        path=request.path,
        verb="",
        group=group,
        version=version,
        namespace=namespace,
        resource=parts[0],
        name=parts[1] if len(parts) > 1 else "",
        subresource=parts[2] if len(parts) > 2 and special != _PROXY else "",
        rest=tuple(parts[3:]),
        old_watch=special == "watch",
    )
    info.verb = special or _verb(request, info)
    if info.verb in _SELECTING and request.query and not special:
        _read_selectors(request, info)
    return info


def _read_selectors(request: Request, info: RequestInfo) -> None:
    """Note what selectors ask for. One that cannot be read, or only slowly, counts as absent here; the handler looks again."""
    if 0 < len(text := request.parameter("fieldSelector")) <= _READ_FIRST:
        with suppress(SelectorError):
            info.fields = parse_fields(text)
    if 0 < len(text := request.parameter("labelSelector")) <= _READ_FIRST:
        with suppress(SelectorError):
            info.labels = parse_labels(text)
    if info.fields is not None and info.verb != "deletecollection" and not info.name:
        name = info.fields.exact("metadata.name")
        info.selected = name if name and not path_segment(name) else ""


def _verb(request: Request, info: RequestInfo) -> str:
    if info.name:
        return _OBJECT_VERBS.get(request.method, "")
    verb = _COLLECTION_VERBS.get(request.method, "")
    if verb == "list" and (values := request.query.get("watch")) is not None and is_true(values[0]):
        return "watch"
    return verb


def is_true(value: str) -> bool:
    """How a boolean query parameter reads: any word but 0 and false, the empty one too, is true."""
    return value.lower() not in ("0", "false")


class Router:
    """The served resources, by group, version and plural."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str, str], Served] = {}
        self._groups: set[str] = set()
        self._custom: set[str] = set()

    def add(self, resource: ServedResource, store: GenericStore, versions: Sequence[str]) -> None:
        """Serve a resource in `versions`; replaces what was there."""
        subresources = {sub.name: sub for sub in resource.subresources}
        deprecations = resource.deprecations
        for version in versions:
            served = Served(resource, version, store, subresources, deprecations.get(version, ""))
            self._table[resource.group, version, resource.plural] = served
        if versions:
            self._groups.add(resource.group)
            if resource.custom:
                self._custom.add(resource.group)

    def remove(self, resource: ServedResource) -> None:
        """Stop serving a resource."""
        for version in resource.versions:
            self._table.pop((resource.group, version, resource.plural), None)
        self._groups = {group for group, _, _ in self._table}
        self._custom = {group for (group, _, _), served in self._table.items() if served.resource.custom}

    def served(self) -> Iterable[Served]:
        return self._table.values()

    def find(self, group: str, version: str, plural: str) -> Served | None:
        return self._table.get((group, version, plural))

    def names(self, info: RequestInfo) -> bool:
        """Whether a request names something that is served, by whatever method."""
        served = self.find(info.group, info.version, info.resource) if info.is_resource else None
        return served is not None and (not info.subresource or info.subresource in served.subresources)

    def knows(self, group: str) -> bool:
        """Whether anything is served under a group; where nothing is, the server answers as for any unknown path."""
        return group in self._groups

    def target(self, request: Request, info: RequestInfo) -> Target:
        """What serves this request; 404 when nothing does, 405 when not by this method."""
        served = self._table.get((info.group, info.version, info.resource))
        if served is None or info.verb == _PROXY:
            raise Unknown if info.group in self._custom else not_served()
        if served.resource.custom:
            return _custom(served, info)
        self._check_scope(served.resource, info)
        if info.subresource:
            return self._subresource(request, served, info)
        if info.name and not _OBJECT.intersection(served.resource.verbs):
            raise not_served()
        if not info.name and request.method in ("PUT", "PATCH"):
            raise method_not_allowed()
        if info.rest or info.verb not in served.resource.verbs or request.method == "HEAD":
            raise method_not_allowed()
        if (info.verb == "create" and info.name) or (info.old_watch and request.method != "GET"):
            raise method_not_allowed()
        if served.resource.namespaced and not info.namespace and info.verb in _NEED_NAMESPACE:
            raise method_not_allowed()
        return Target(info, served)

    @staticmethod
    def _check_scope(resource: ServedResource, info: RequestInfo) -> None:
        if resource.namespaced:
            if info.name and not info.namespace:
                raise not_served()
        elif info.namespace and not (resource.plural == "namespaces" and info.name == info.namespace):
            raise not_served()

    @staticmethod
    def _subresource(request: Request, served: Served, info: RequestInfo) -> Target:
        subresource = served.subresources.get(info.subresource)
        if subresource is None or (info.rest and subresource.name != "proxy"):
            raise not_served()
        if subresource.name == "proxy" and request.method in ("HEAD", "OPTIONS"):
            return Target(info, served, subresource)
        if info.verb not in subresource.verbs or request.method == "HEAD":
            raise method_not_allowed()
        return Target(info, served, subresource)


def _custom(served: Served, info: RequestInfo) -> Target:
    """What the server of custom resources makes of a request: it knows verbs, no methods, and nothing after a subresource."""
    resource = served.resource
    if resource.namespaced != bool(info.namespace) and not (resource.namespaced and info.verb in ("list", "watch")):
        raise Unknown
    subresource = served.subresources.get(info.subresource)
    error = None
    if info.subresource and subresource is None:
        error = not_found(resource.group, resource.plural, info.name)
    elif info.verb not in (subresource or resource).verbs:
        error = method_not_supported(resource.group, resource.plural, info.verb)
    elif not info.name and info.verb in ("update", "patch"):
        error = bad_request("name must be provided")
    if error is None:
        return Target(info, served, subresource)
    error.warnings = [served.deprecation] if served.deprecation else []
    raise error
