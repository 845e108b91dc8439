"""Answers /openapi/v2 and /openapi/v3.

The index of v3 points at one document per group and version, each with a hash: with the right hash an answer may be kept for
ever, with a wrong one it is moved to the right address. Documents are made in a thread when first asked for and kept until the
set of resources changes. kubectl asks for v2 as protobuf, and only so. Source: kube-openapi `handler`, `handler3`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import orjson
from msgspec import Struct

from setpoint.api.machinery.schema import gnostic, openapi, roots
from setpoint.api.machinery.schema.trees import Pack
from setpoint.apiserver.request import JSON, Request, Response, text_response
from setpoint.registry.resource import ServedResource, Subresource

_ROOT = "/openapi/v3/"
#: documents that describe one GET; the others describe resources
_SMALL = roots.PATHS
#: what /openapi/v2 can be asked for, and the document that is then meant
_FORMS = {JSON: "v2", "*/*": "v2", "application/*": "v2", gnostic.MEDIA_TYPE: "v2.pb", gnostic.OLD_MEDIA_TYPE: "v2.pb"}
_generations = itertools.count()
_FOR_EVER = "public, immutable"


class _Document(Struct, frozen=True):
    """A document by its hash; its body is made when first asked for."""

    mark: str
    make: Callable[[], Any]
    encode: Callable[[Any], bytes] = orjson.dumps
    media_type: str = JSON


class Elsewhere(Protocol):
    """The documents of other servers whose groups are served through this one."""

    marks: dict[tuple[str, str], str]
    swagger: dict[tuple[str, str], Mapping[str, Any]]

    def handler(self, place: tuple[str, str]) -> Callable[[Request], Awaitable[Response]] | None:
        """What answers for a group's version."""


class OpenAPI:
    """`resources` are all that is served here; after `changed()` everything is made anew."""

    def __init__(self, pack: Pack, resources: Callable[[], Iterable[ServedResource]], elsewhere: Elsewhere | None = None) -> None:
        self._pack = pack
        self._resources = resources
        self._elsewhere = elsewhere
        self._documents: dict[str, _Document] = {}
        self._bodies: dict[str, bytes] = {}

    def changed(self) -> None:
        """The served resources are no longer the same."""
        self._documents.clear()
        self._bodies.clear()

    async def handle(self, request: Request) -> Response:
        """Answer anything under /openapi."""
        if request.path == "/openapi/v2":
            form = next((_FORMS[media] for media in _accepted(request) if media in _FORMS), "")
            return await self._answer(request, form, self._known()[form]) if form else Response(406, {}, b"")
        if request.path == "/openapi/v3":
            return self._index()
        path = request.path.removeprefix(_ROOT)
        if self._elsewhere is not None and (place := _place(path)) in self._elsewhere.marks:
            handler = self._elsewhere.handler(place)
            return await handler(request) if handler is not None else Response(404, {}, b"")
        document = self._known().get(path)
        if not request.path.startswith(_ROOT):
            return text_response("404 page not found\n", 404)
        if document is None or path in _FORMS.values():
            return Response(404, {}, b"")
        return _refused(request) or await self._answer(request, path, document)

    def _index(self) -> Response:
        """The list of documents, whatever is accepted."""
        marks = {path: document.mark for path, document in self._known().items() if path not in _FORMS.values()}
        if self._elsewhere is not None:
            marks |= {f"apis/{group}/{version}": mark for (group, version), mark in self._elsewhere.marks.items()}
        return Response(200, {"Content-Type": "text/plain; charset=utf-8"}, orjson.dumps(openapi.index(marks)))

    async def _answer(self, request: Request, path: str, document: _Document) -> Response:
        mark, tag = request.parameter("hash"), f'"{document.mark}"'
        if mark and mark != document.mark:
            return Response(301, {"Location": f"{_ROOT}{path}?hash={document.mark}", "Content-Type": JSON}, b"")
        headers = {"Etag": tag, "Vary": "Accept"}
        if mark:
            headers |= {"Cache-Control": _FOR_EVER}
        if request.header("if-none-match") in {"*", tag}:
            return Response(304, headers, b"")
        body = self._bodies.get(path)
        if body is None:
            body = await asyncio.to_thread(lambda: document.encode(document.make()))
            if self._documents.get(path) is document:  # else it was out of date before it was made
                self._bodies[path] = body
        return Response(200, headers | {"Content-Type": document.media_type}, body)

    def _known(self) -> Mapping[str, _Document]:
        """Every document by its path below /openapi/v3/, and the one of v2."""
        if not self._documents:
            served = list(self._published())
            self._documents = dict(self._all(served))
        return self._documents

    def _all(self, served: list[openapi.Published]) -> Iterator[tuple[str, _Document]]:
        pack = self._pack
        mark, make = openapi.fingerprint(pack, served), self._whole(served)
        if self._elsewhere is not None and self._elsewhere.swagger:
            mark += f"-{next(_generations)}"
        yield "v2", _Document(mark, make)
        yield "v2.pb", _Document(f"{mark}-pb", make, gnostic.document, gnostic.MEDIA_TYPE)
        by_path: dict[str, list[openapi.Published]] = {}
        for resource in served:
            by_path.setdefault(resource.root.removeprefix("/"), []).append(resource)
        small = {*_SMALL, *(path.rpartition("/")[0] for path in by_path if path.startswith("apis/"))}
        for path in small:
            yield path, _Document(openapi.fingerprint(pack, ()), _root(pack, path))
        for path, resources in by_path.items():
            yield path, _Document(openapi.fingerprint(pack, resources), _versioned(pack, resources))

    def _whole(self, served: list[openapi.Published]) -> Callable[[], Any]:
        """Makes the document of version 2, with what other servers say of their parts."""
        others = dict(self._elsewhere.swagger) if self._elsewhere is not None else {}

        def make() -> Any:
            document = openapi.document_v2(self._pack, served)
            if not others:
                return document
            from setpoint.apiserver.aggregation.swagger import merged

            return merged(document, others)

        return make

    def _published(self) -> Iterator[openapi.Published]:
        for resource in self._resources():
            for version in resource.versions:
                definition = resource.definitions.get(version)
                if definition is None:
                    continue
                yield openapi.Published(
                    group=resource.group,
                    version=version,
                    plural=resource.plural,
                    kind=resource.kind,
                    namespaced=resource.namespaced,
                    verbs=resource.verbs,
                    definition=definition,
                    subresources=tuple(self._subresource(resource, version, each) for each in resource.subresources),
                    schema=resource.custom.schemas[version] if resource.custom else None,
                    list_kind=resource.list_kind,
                )

    def _subresource(self, resource: ServedResource, version: str, each: Subresource) -> openapi.Subresource:
        group = resource.group if each.group is None else each.group
        kind, version = each.kind or resource.kind, each.version or version
        definition = self._pack.definition_of(group, version, kind) or resource.definitions.get(version, "")
        return openapi.Subresource(each.name, each.verbs, kind, group, version, definition)


def _place(path: str) -> tuple[str, str]:
    """Group and version of a document below /openapi/v3/."""
    parts = path.split("/")
    return (parts[1], parts[2]) if len(parts) == 3 and parts[0] == "apis" else ("", "")


def _root(pack: Pack, path: str) -> Callable[[], Any]:
    return lambda: openapi.document_of_root(pack, path)


def _versioned(pack: Pack, resources: list[openapi.Published]) -> Callable[[], Any]:
    return lambda: openapi.document_v3(pack, resources)


def _refused(request: Request) -> Response | None:
    """406 unless JSON is welcome."""
    return None if {"*/*", "application/*", JSON} & set(_accepted(request)) else Response(406, {}, b"")


def _accepted(request: Request) -> list[str]:
    """The media types of the Accept header, as they stand there."""
    return [clause.partition(";")[0].strip() for clause in (request.header("accept") or "*/*").split(",")]
