"""The published schemas: OpenAPI v3 per group and version, and v2 for everything at once.

Pure functions from a pack and a plain list of what is served. A v3 document takes some milliseconds (the first one also reads the
descriptions), v2 some hundred: callers keep the bytes. `fingerprint` is cheap, so the index needs no document.

What clients rely on (kubectl's explain, apply, diff, edit): `x-kubernetes-group-version-kind` on schemas and operations,
`x-kubernetes-action`, the query parameters dryRun, fieldManager and fieldValidation on writes, and the patch and list tags of
fields.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.schema import parameters, roots
from setpoint.api.machinery.schema.published import V2, V3, Dialect, Schemas
from setpoint.api.machinery.schema.trees import Pack

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_JSON_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_CUSTOM_TYPES = _JSON_TYPES[:2]
_WATCH_TYPES = (*_JSON_TYPES, "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
_PATCHES = ("application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json")
_APPLY = "application/apply-patch+yaml"
_VERBS = {"get": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete"}
_NAMES = {"get": "read", "create": "create", "update": "replace", "patch": "patch", "delete": "delete", "connect": "connect"}
_ACTIONS = {"get": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete"}


class Subresource(Struct, frozen=True):
    """`definition` describes what it takes and gives; group, version and kind are that definition's."""

    name: str
    verbs: tuple[str, ...]
    kind: str
    group: str
    version: str
    definition: str


@dataclass(frozen=True, slots=True)
class Published:
    """A resource in one version. `schema` is the schema of a kind that no pack defines (a custom resource)."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    definition: str
    subresources: tuple[Subresource, ...] = ()
    schema: Mapping[str, Any] | None = field(default=None, compare=False)
    list_kind: str = ""

    @property
    def root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


def index(fingerprints: Mapping[str, str]) -> dict[str, Any]:
    """What GET /openapi/v3 answers; `fingerprints` by path (`apis/apps/v1`)."""
    urls = {path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={mark}"} for path, mark in sorted(fingerprints.items())}
    return {"paths": urls}


def fingerprint(pack: Pack, resources: Iterable[Published]) -> str:
    """Changes whenever the document of these resources does."""
    text = repr([pack.minor, [(resource, resource.schema) for resource in resources]])
    return hashlib.sha512(text.encode()).hexdigest().upper()


def document_v3(pack: Pack, resources: Sequence[Published]) -> dict[str, Any]:
    """The document of one group and version."""
    schemas = Schemas(pack, V3, {resource.definition: resource for resource in resources if resource.schema is not None})
    paths = roots.items(_versions(resources), V3, schemas) | _paths(resources, V3, schemas)
    custom = any(resource.schema is not None for resource in resources)
    return {
        "openapi": "3.0.0",
        "info": _CUSTOM_INFO if custom else _info(pack),
        "paths": paths,
        "components": {"schemas": schemas.finished(), "securitySchemes": {"BearerToken": _BEARER}},
    }


def document_v2(pack: Pack, resources: Sequence[Published]) -> dict[str, Any]:
    """The document of all groups in the older form."""
    schemas = Schemas(pack, V2, {resource.definition: resource for resource in resources if resource.schema is not None})
    below = {f"apis/{resource.group}": _group_words(resource.group) for resource in resources if resource.group}
    groups = [roots.root_of(path, words) for path, words in (dict.fromkeys(roots.PATHS, "") | below).items()]
    paths = roots.items([*groups, *_versions(resources)], V2, schemas) | _paths(resources, V2, schemas)
    return {
        "swagger": "2.0",
        "info": _info(pack),
        "paths": dict(sorted(paths.items())),
        "definitions": schemas.finished(),
        "securityDefinitions": {"BearerToken": _BEARER},
        "security": [{"BearerToken": []}],
    }


def document_of_root(pack: Pack, path: str) -> dict[str, Any]:
    """The small documents of `/api`, `/apis`, `/apis/<group>` and `/version`: one GET."""
    schemas = Schemas(pack, V3, {})
    root = roots.root_of(path, _group_words(path.rpartition("/")[2]))
    paths = roots.items([root], V3, schemas)
    return {
        "openapi": "3.0.0",
        "info": _info(pack),
        "paths": paths,
        "components": {"schemas": schemas.finished(), "securitySchemes": {"BearerToken": _BEARER}},
    }


def _versions(resources: Iterable[Published]) -> list[roots.Root]:
    """The lists of what each group and version has."""
    found = {resource.root.strip("/"): _group_words(resource.group) for resource in resources}
    return [roots.root_of(path, words) for path, words in found.items()]


_BEARER = {"description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header"}


#: of the documents that are made from definitions
_CUSTOM_INFO = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}


def _info(pack: Pack) -> dict[str, str]:
    return {"title": "Kubernetes", "version": f"v{pack.minor}.0"}


def _paths(resources: Sequence[Published], dialect: Dialect, schemas: Schemas) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for resource in resources:
        for path, item in _Items(resource, dialect, schemas).all():
            paths.setdefault(path, {}).update(item)
    return paths


class _Items:
    """The path items of one resource."""

    def __init__(self, resource: Published, dialect: Dialect, schemas: Schemas) -> None:
        self.resource = resource
        self.dialect = dialect
        self.schemas = schemas
        scope = "/namespaces/{namespace}" if resource.namespaced else ""
        self.collection = f"{resource.root}{scope}/{resource.plural}"

    def all(self) -> Iterator[tuple[str, dict[str, Any]]]:
        resource = self.resource
        place = ["namespace"] if resource.namespaced else []
        verbs: list[str] = [verb for verb in ("list", "create", "deletecollection") if verb in resource.verbs]
        if verbs:
            yield self.collection, self._item(verbs, place)
        if resource.namespaced and "list" in resource.verbs:
            yield f"{resource.root}/{resource.plural}", self._item(["list"], [], everywhere=True)
        verbs = [verb for verb in ("get", "update", "patch", "delete") if verb in resource.verbs]
        if verbs:
            yield self.collection + "/{name}", self._item(verbs, [*place, "name"])
        for sub in resource.subresources:
            yield from self._sub_items(sub, [*place, "name"])
        if "watch" in resource.verbs and resource.schema is None:
            yield from self._watches(place)

    def _watches(self, place: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The paths of watches before there was a parameter `watch`; clients still generate code from them."""
        resource = self.resource
        root = f"{resource.root}/watch"
        below = self.collection.removeprefix(resource.root)
        scope = "Namespaced" if resource.namespaced else ""
        yield root + below, self._watch("watchlist", f"{scope}{resource.kind}List", place)
        if resource.namespaced:
            yield f"{root}/{resource.plural}", self._watch("watchlist", f"{resource.kind}ListForAllNamespaces", [])
        yield f"{root}{below}/{{name}}", self._watch("watch", f"{scope}{resource.kind}", [*place, "name"])

    def _watch(self, action: str, name: str, place: Sequence[str]) -> dict[str, Any]:
        kind = (self.resource.group, self.resource.version, self.resource.kind)
        name = f"watch{_words(self.resource)}{name}"
        get = self._described("watch", name, action, kind, "", _META + "WatchEvent")
        known = (*parameters.of_place(place), *parameters.LIST)
        return {"get": get, "parameters": [self.dialect.parameter(parameter) for parameter in known]}

    def _item(self, verbs: Sequence[str], place: Sequence[str], *, everywhere: bool = False) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for verb in verbs:
            method = {"list": "get", "deletecollection": "delete"}.get(verb) or _VERBS[verb]
            out[method] = self._operation(verb, everywhere=everywhere)
        out["parameters"] = [self.dialect.parameter(known) for known in parameters.of_place(place)]
        return out

    def _sub_items(self, sub: Subresource, place: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        path = f"{self.collection}/{{name}}/{sub.name}"
        if sub.name not in parameters.CONNECT:
            yield path, self._sub_item(sub, place)
            return
        yield path, self._connect_item(sub, place)
        if sub.name == "proxy":
            yield f"{path}/{{path}}", self._connect_item(sub, [*place, "path"])

    def _connect_item(self, sub: Subresource, place: Sequence[str]) -> dict[str, Any]:
        """A path that leads through to a node, a pod or a service."""
        scope = "Namespaced" if self.resource.namespaced else ""
        end = "WithPath" if place[-1] == "path" else ""
        methods = [_VERBS[verb] for verb in sub.verbs if verb in _VERBS]
        if sub.name == "proxy":
            methods += ["head", "options"]
        kind = (self.resource.group, self.resource.version, _CONNECTED.get((self.resource.kind, sub.name), sub.kind))
        out: dict[str, Any] = {}
        for method in methods:
            part = f"{self.resource.kind}{sub.name[:1].upper()}{sub.name[1:]}{end}"
            name = f"connect{_words(self.resource)}{method.capitalize()}{scope}{part}"
            out[method] = self._described("connect", name, "connect", kind, "", "", method)
        known = [*parameters.of_place(place, pretty=False), *parameters.CONNECT[sub.name]]
        return out | {"parameters": [self.dialect.parameter(parameter) for parameter in known]}

    def _sub_item(self, sub: Subresource, place: Sequence[str]) -> dict[str, Any]:
        out = {_VERBS[verb]: self._sub_operation(verb, sub) for verb in sub.verbs if verb in _VERBS}
        known = [*parameters.of_place(place), *(parameters.LOG if sub.name == "log" else ())]
        return out | {"parameters": [self.dialect.parameter(parameter) for parameter in known]}

    def _operation(self, verb: str, *, everywhere: bool) -> dict[str, Any]:
        resource = self.resource
        kind = (resource.group, resource.version, resource.kind)
        scope = "Namespaced" if resource.namespaced and not everywhere else ""
        name = scope + resource.kind + ("ForAllNamespaces" if everywhere else "")
        start = {"list": "list", "deletecollection": "delete"}.get(verb) or _NAMES[verb]
        name = f"{start}{_words(resource)}{'Collection' if verb == 'deletecollection' else ''}{name}"
        action = _ACTIONS.get(verb, verb)
        body, answer = self._bodies(verb, resource.definition)
        return self._described(verb, name, action, kind, body, answer)

    def _sub_operation(self, verb: str, sub: Subresource) -> dict[str, Any]:
        scope = "Namespaced" if self.resource.namespaced else ""
        name = f"{_NAMES[verb]}{_words(self.resource)}{scope}{self.resource.kind}{sub.name[:1].upper()}{sub.name[1:]}"
        body, answer = self._bodies(verb, sub.definition)
        return self._described(verb, name, _ACTIONS[verb], (sub.group, sub.version, sub.kind), body, answer)

    def _bodies(self, verb: str, definition: str) -> tuple[str, str]:
        """The definitions of what is sent and of what is answered."""
        if verb == "list":
            return "", self.schemas.list_of(self.resource)
        if verb in {"delete", "deletecollection"}:
            return _META + "DeleteOptions", _META + "Status"
        sent = {"create": definition, "update": definition, "patch": _META + "Patch"}
        return sent.get(verb, ""), definition

    def _described(
        self, verb: str, name: str, action: str, kind: tuple[str, str, str], body: str, answer: str, method: str = ""
    ) -> dict[str, Any]:
        subject = self.resource.kind if verb == "connect" else kind[2]
        out: dict[str, Any] = {
            "description": _SENTENCES[verb].format(method=method.upper()) + f" {subject}",
            "tags": [_tag(self.resource)],
            "operationId": name,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": dict(zip(("group", "version", "kind"), kind, strict=True)),
        }
        known = [self.dialect.parameter(parameter) for parameter in parameters.of_verb(verb)]
        consumed = self._consumed(verb)
        schema = self.schemas.ref(answer) if answer else {"type": "string"}
        answers = dict.fromkeys(_CODES[verb], schema) if answer or verb == "connect" else {}
        produced: tuple[str, ...] = _WATCH_TYPES if verb in {"list", "watch"} else ("*/*",) if verb == "connect" else _JSON_TYPES
        if self.resource.schema is not None:
            produced = _CUSTOM_TYPES
        self.dialect.complete(out, known, self.schemas.ref(body) if body else None, consumed, answers, produced)
        return out

    def _consumed(self, verb: str) -> tuple[str, ...]:
        if verb != "patch":
            return ("*/*",) if self.resource.schema is None else _CUSTOM_TYPES
        return (*_PATCHES, _APPLY) if self.resource.schema is None else (*_PATCHES[:2], _APPLY)


_SENTENCES = {
    "get": "read the specified",
    "list": "list or watch objects of kind",
    "create": "create a",
    "update": "replace the specified",
    "patch": "partially update the specified",
    "delete": "delete a",
    "deletecollection": "delete collection of",
    "watch": "watch, by a path of its own (deprecated: a list takes the parameter watch), objects of kind",
    "connect": "connect {method} requests to",
}
#: what subresources that lead through take as their options
_CONNECTED = {
    ("Pod", "exec"): "PodExecOptions",
    ("Pod", "attach"): "PodAttachOptions",
    ("Pod", "portforward"): "PodPortForwardOptions",
    ("Pod", "proxy"): "PodProxyOptions",
    ("Service", "proxy"): "ServiceProxyOptions",
    ("Node", "proxy"): "NodeProxyOptions",
}
_CODES = {
    "get": ("200",),
    "list": ("200",),
    "create": ("200", "201", "202"),
    "update": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
    "deletecollection": ("200",),
    "watch": ("200",),
    "connect": ("200",),
}


def _tag(resource: Published) -> str:
    return f"{_short(resource.group)}_{resource.version}"


def _short(group: str) -> str:
    """`core`, `apps`, `rbacAuthorization`: a group without its domain."""
    first, *rest = re.split(r"[^A-Za-z0-9_]+", group.removesuffix(".k8s.io") or "core")
    return first + "".join(word.capitalize() for word in rest)


def _group_words(group: str) -> str:
    """`Core`, `Apps`, `RbacAuthorization`."""
    short = _short(group)
    return short[:1].upper() + short[1:]


def _words(resource: Published) -> str:
    return _group_words(resource.group) + resource.version[:1].upper() + resource.version[1:]
