"""Discovery: which groups, versions and resources there are, in the plain form and the aggregated one.

Documents are made when first asked for and kept until the set of resources changes. Source: `endpoints/discovery` and KEP-3352.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError, method_not_allowed, not_acceptable
from setpoint.apiserver.request import JSON, Request, Response, json_response, text_response
from setpoint.apiserver.routing import not_served
from setpoint.registry.resource import ServedResource, Subresource

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_PLAIN = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_NOT_FOUND = "404 page not found\n"


class Discovery:
    """Answers /api, /apis and what lies directly under them.

    `groups` gives each group with its versions, in order of preference; `resources` all that is served here; `elsewhere` the
    entries of versions that other servers serve. `address` is what clients may reach the server by. After `changed()` the
    documents are made anew.
    """

    def __init__(
        self,
        groups: Callable[[], Sequence[tuple[str, Sequence[str]]]],
        resources: Callable[[], Iterable[ServedResource]],
        address: Callable[[], str],
        elsewhere: Mapping[tuple[str, str], Mapping[str, Any]] | None = None,
    ) -> None:
        self._groups = groups
        self._resources = resources
        self._address = address
        self._elsewhere = elsewhere if elsewhere is not None else {}
        self._documents: dict[str, Response] = {}

    def changed(self) -> None:
        """Groups or resources are no longer the same."""
        self._documents.clear()

    async def handle(self, request: Request) -> Response:
        """Answer a discovery request. Unknown groups are a plain 404; unknown versions of known ones a Status.

        The group list and single groups answer to every method, as in Kubernetes; the others to GET alone.
        """
        parts = [part for part in request.path.split("/") if part]
        if _is_version(parts) and self._unknown_version(parts):
            raise not_served()
        if request.method != "GET" and (parts[0] == "api" or _is_version(parts)):
            raise method_not_allowed()
        try:
            form = _negotiate(request.header("accept"), aggregated=len(parts) == 1, versioned=_is_version(parts))
        except StatusError:
            if self._document(parts) is None:  # whatever is accepted
                return text_response(_NOT_FOUND, 404)
            raise
        cache_key = f"{'/'.join(parts)} {form}"
        response = self._documents.get(cache_key)
        if response is None:
            response = self._answer(parts, form)
            if response.status == 200:  # of what is not there, there is no end
                self._documents[cache_key] = response
        if "ETag" in response.headers and request.header("if-none-match") == response.headers["ETag"]:
            return Response(304, {name: value for name, value in response.headers.items() if name != "Content-Type"}, b"")
        return response

    def _unknown_version(self, parts: Sequence[str]) -> bool:
        """Whether the group is there and the version is not; groups of custom kinds are answered for as paths nobody knows."""
        group = "" if parts[0] == "api" else parts[1]
        if any(row.group == group and row.custom for row in self._resources()):
            return False
        return any(name == group and parts[-1] not in versions for name, versions in self._groups())

    def _answer(self, parts: Sequence[str], form: str) -> Response:
        if form == AGGREGATED:
            return _aggregated_response(self._aggregated(core=parts[0] == "api"))
        document = self._document(parts)
        if document is None:
            return text_response(_NOT_FOUND, 404)
        return _encoded(document, form)

    def _document(self, parts: Sequence[str]) -> dict[str, Any] | None:
        match parts:
            case ["api"]:
                return self._core_versions()
            case ["api", version]:
                return self._resource_list("", version)
            case ["apis"]:
                groups = [_group(name, versions) for name, versions in self._groups() if name]
                return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
            case ["apis", name]:
                return next((_api_group(group, versions) for group, versions in self._groups() if group == name), None)
            case ["apis", name, version]:
                return self._resource_list(name, version)
        return None

    def _core_versions(self) -> dict[str, Any]:
        versions = next((versions for name, versions in self._groups() if not name), ())
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._address()}]
        return {"kind": "APIVersions", "versions": list(versions), "serverAddressByClientCIDRs": addresses}

    def _served(self, group: str, version: str) -> list[ServedResource]:
        rows = [row for row in self._resources() if row.group == group and version in row.versions]
        return sorted(rows, key=lambda row: row.plural)

    def _resource_list(self, group: str, version: str) -> dict[str, Any] | None:
        if not any(name == group and version in versions for name, versions in self._groups()):
            return None
        rows = [entry for row in self._served(group, version) for entry in _plain(row)]
        if not group:  # as old as Kubernetes, and without the version of itself
            return {"kind": "APIResourceList", "groupVersion": version, "resources": rows}
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}", "resources": rows}

    def _version(self, name: str, version: str) -> dict[str, Any]:
        resources = [_aggregated_resource(row, version) for row in self._served(name, version)]
        return {"version": version, "resources": resources, "freshness": "Current"}

    def _aggregated(self, *, core: bool) -> dict[str, Any]:
        items = []
        for name, versions in self._groups():
            if (not name) != core:
                continue
            listed = [self._elsewhere.get((name, version)) or self._version(name, version) for version in versions]
            items.append({"metadata": {"name": name} if name else {}, "versions": listed})
        return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _is_version(parts: Sequence[str]) -> bool:
    return len(parts) == 3 or (parts[:1] == ["api"] and len(parts) == 2)


def _negotiate(accept: str, *, aggregated: bool, versioned: bool) -> str:
    """The form to answer in; raises StatusError 406."""
    ranges = [_media_range(word) for word in (accept or "*/*").split(",")]
    if aggregated and any(
        media == JSON and parameters.get("g") == "apidiscovery.k8s.io" and parameters.get("v") == "v2"
        for media, parameters in ranges
    ):
        return AGGREGATED
    for media, parameters in ranges:
        if "as" in parameters:
            continue
        if media in ("*/*", "application/*", JSON):
            return JSON
        if media == "application/yaml":
            return media
    if versioned and not any("as" in parameters for _, parameters in ranges):
        message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(_PLAIN)}"
        raise StatusError(406, "NotAcceptable", message, {})
    raise not_acceptable(f"only the following media types are accepted: {', '.join(_PLAIN)}")


def _media_range(word: str) -> tuple[str, dict[str, str]]:
    media, *parameters = (part.strip() for part in word.split(";"))
    return media, dict(part.split("=", 1) for part in parameters if "=" in part)


def _encoded(document: dict[str, Any], form: str) -> Response:
    if form == JSON:
        return json_response(document)
    from setpoint.apiserver.answers import to_yaml

    return Response(200, {"Content-Type": form}, to_yaml(document))


def _aggregated_response(document: dict[str, Any]) -> Response:
    body = orjson.dumps(document)
    etag = f'"{hashlib.sha512(body).hexdigest().upper()}"'
    return Response(200, {"Content-Type": AGGREGATED, "ETag": etag, "Vary": "Accept", "Cache-Control": "public"}, body)


def _group(name: str, versions: Sequence[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _api_group(name: str, versions: Sequence[str]) -> dict[str, Any]:
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, versions)}


def _plain(row: ServedResource) -> Iterable[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": row.plural,
        "singularName": row.singular,
        "namespaced": row.namespaced,
        "kind": row.kind,
        "verbs": _verbs(row),
    }
    if row.short_names:
        entry["shortNames"] = list(row.short_names)
    if row.categories:
        entry["categories"] = list(row.categories)
    if not row.virtual:
        entry["storageVersionHash"] = _storage_version_hash(row)
    yield entry
    for sub in _subresources(row):
        yield _plain_subresource(row, sub)


def _verbs(row: ServedResource) -> list[str]:
    """By the alphabet; of custom kinds in the order in which their server has always written them."""
    return [verb for verb in _CUSTOM_VERBS if verb in row.verbs] if row.custom else list(row.verbs)


def _subresources(row: ServedResource) -> list[Subresource]:
    return sorted(row.subresources, key=lambda sub: sub.name, reverse=bool(row.custom))


_CUSTOM_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


def _plain_subresource(row: ServedResource, sub: Subresource) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": f"{row.plural}/{sub.name}", "singularName": "", "namespaced": row.namespaced}
    if sub.group is not None and sub.group != row.group:
        entry["group"] = sub.group
    if sub.version:
        entry["version"] = sub.version
    return {**entry, "kind": sub.kind or row.kind, "verbs": list(sub.verbs)}


def _storage_version_hash(row: ServedResource) -> str:
    digest = hashlib.sha256(f"{row.group}/{row.storage_version}/{row.kind}".encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def _aggregated_resource(row: ServedResource, version: str) -> dict[str, Any]:
    """What a resource answers with is named in full for custom kinds; for others group and version are left to be supplied."""
    own = {"group": row.group, "version": version} if row.custom else {"group": "", "version": ""}
    entry: dict[str, Any] = {
        "resource": row.plural,
        "responseKind": {**own, "kind": row.kind},
        "scope": "Namespaced" if row.namespaced else "Cluster",
        "singularResource": row.singular,
        "verbs": _verbs(row),
    }
    if row.short_names:
        entry["shortNames"] = list(row.short_names)
    if row.categories:
        entry["categories"] = list(row.categories)
    if row.subresources:
        entry["subresources"] = [
            {
                "subresource": sub.name,
                "responseKind": {
                    "group": sub.group or own["group"],
                    "version": sub.version or own["version"],
                    "kind": sub.kind or row.kind,
                },
                "verbs": list(sub.verbs),
            }
            for sub in _subresources(row)
        ]
    return entry
