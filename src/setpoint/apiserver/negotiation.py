"""What form an answer takes and what form a body is in: Accept, Content-Type, `pretty`.

Two judges stand one behind the other in Kubernetes and both show on the wire: go-restful, which knows whole types only and
answers `406: Not Acceptable` with the list, and apiserver's negotiation, which knows parameters (`as=Table`).
Source: apiserver `endpoints/handlers/negotiation/negotiate.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from setpoint.api.machinery.status import StatusError, not_acceptable, unsupported_media_type
from setpoint.apiserver.request import Request

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
_OFFERED = (JSON, YAML, PROTOBUF)
_STREAMS = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
_META_VERSIONS = ("v1", "v1beta1")
#: the parameters that together name what to convert to; one of them alone names something that is not
_CONVERSION = frozenset({"as", "g", "v"})


class Form(NamedTuple):
    """How to answer: media type, conversion (`Table`, `PartialObjectMetadata`, `PartialObjectMetadataList`) and its version."""

    media: str = JSON
    kind: str = ""
    version: str = ""
    pretty: bool = False


PLAIN = Form()


class _Clause(NamedTuple):
    media: str
    parameters: Mapping[str, str]
    quality: float


@lru_cache(maxsize=512)
def _clauses(accept: str) -> tuple[_Clause, ...]:
    """The clauses of an Accept header, the most wanted first."""
    found = []
    for part in accept.split(","):
        media, *rest = (piece.strip() for piece in part.split(";"))
        parameters = dict(piece.partition("=")[::2] for piece in rest)
        try:
            quality = float(parameters.pop("q", "1"))
        except ValueError:
            quality = 1.0
        if media:
            found.append(_Clause(media, parameters, quality))
    return _sorted(found)


def _sorted(clauses: list[_Clause]) -> tuple[_Clause, ...]:
    """In the order of goautoneg, whose comparison is none of numbers: a named type goes before `*/*` of any quality that stands
    beside it, so that an insertion sort has to be followed step by step.
    """
    for index in range(1, len(clauses)):
        at = index
        while at and _before(clauses[at], clauses[at - 1]):
            clauses[at - 1], clauses[at] = clauses[at], clauses[at - 1]
            at -= 1
    return tuple(clauses)


def _before(one: _Clause, other: _Clause) -> bool:
    wild, other_wild = one.media.startswith("*"), other.media.startswith("*")
    vague, other_vague = one.media.endswith("*"), other.media.endswith("*")
    return one.quality > other.quality or (other_wild and not wild) or (other_vague and not vague)


def accepted(request: Request, kinds: Sequence[str] = (), *, stream: bool = False, collection: bool = False) -> Form:
    """The form of the answer; `kinds` are the conversions that this endpoint offers. Raises 406."""
    accept = request.headers.get("accept", "")
    pretty = _wants_pretty(request)
    if not pretty and accept in ("", "*/*", JSON):
        return PLAIN
    form = _negotiate(accept, tuple(kinds), stream, collection)
    return form._replace(pretty=True) if pretty else form


@lru_cache(maxsize=1024)
def _negotiate(accept: str, kinds: tuple[str, ...], stream: bool, collection: bool) -> Form:
    if not accept:
        return PLAIN
    clauses = _clauses(accept)
    offered = _OFFERED + _STREAMS if collection else _OFFERED
    if not any(clause.media == "*/*" or clause.media in _OFFERED for clause in clauses):
        raise StatusError(406, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: " + ", ".join(offered), {})
    for clause in clauses:
        form = _form(clause, kinds, stream)
        if form is not None:
            return form
    raise _none_accepted(stream=stream)


def check_known(request: Request, *, stream: bool = False) -> None:
    """Refuse an Accept header of unknown types alone as the server of custom resources does, which has no go-restful before it.

    Raises 406.
    """
    accept = request.headers.get("accept", "")
    if accept and not any(clause.media in ("*/*", *_OFFERED) for clause in _clauses(accept)):
        raise _none_accepted(stream=stream)


def _none_accepted(*, stream: bool) -> StatusError:
    return not_acceptable("only the following media types are accepted: " + ", ".join(_STREAMS if stream else _OFFERED))


def _form(clause: _Clause, kinds: tuple[str, ...], stream: bool) -> Form | None:
    media = JSON if clause.media in ("*/*", "application/*") else clause.media
    if media not in (JSON, YAML) or (stream and media == YAML):
        return None
    parameters = clause.parameters
    kind = parameters.get("as", "")
    converts = not _CONVERSION.isdisjoint(parameters)
    if converts and (kind not in kinds or parameters.get("g") != "meta.k8s.io" or parameters.get("v") not in _META_VERSIONS):
        return None
    if parameters.get("stream", "watch") not in ("", "watch") or parameters.get("sv", "v1") not in ("", "v1"):
        return None
    return Form(media, kind, parameters.get("v", "") if kind else "", parameters.get("pretty") == "1")


def _wants_pretty(request: Request) -> bool:
    values = request.query.get("pretty")
    if values is not None and values[0]:
        return values[0] in ("1", "t", "T", "true", "TRUE", "True")
    return request.headers.get("user-agent", "").startswith(("curl", "Wget", "Mozilla/5.0"))


def for_error(request: Request) -> Form:
    """The form of a refusal: what was accepted if that can be said, else JSON. It can be protobuf, which nothing else is."""
    accept = request.headers.get("accept", "")
    if accept.startswith(PROTOBUF) and all(clause.media == PROTOBUF for clause in _clauses(accept)):
        return Form(PROTOBUF)
    try:
        return accepted(request)
    except StatusError:
        return PLAIN


def body_type(request: Request, allowed: Sequence[str] = _OFFERED) -> str:
    """The media type of the body, JSON where nothing is said. Raises 415."""
    header = request.headers.get("content-type", "")
    if not header or header == JSON:
        return JSON
    media = header.partition(";")[0].strip().lower()
    if media in allowed:
        return media
    raise unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: " + ", ".join(_OFFERED)
    )
