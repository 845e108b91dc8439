"""Conversion by webhook: what is asked, how the answer is checked, and what of it is kept.

Source: apiextensions-apiserver `pkg/apiserver/conversion/webhook_converter.go`.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

import orjson

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.webhooks.failures import CallFailed
from setpoint.registry.strategy import Object

GROUP = "apiextensions.k8s.io"
#: what a converter cannot have looked at: it differs between two attempts at one write
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "managedFields", "generation")
_ROUNDS = 16

Ask = Callable[[bytes], Awaitable[bytes]]
Made = dict[tuple[bytes, str], Object]

_made: ContextVar[Made | None] = ContextVar("converted objects of the request", default=None)


class NeedsConversion(Exception):
    """An object is needed in another version by code that cannot wait; ask, then do it again."""

    def __init__(self, obj: Object, wanted: str) -> None:
        super().__init__(wanted)
        self.obj = obj
        self.wanted = wanted


class _BadMetadata(Exception):
    """Metadata of a converted object that cannot be taken."""


class Answering(Protocol):
    """What `in_rounds` asks: a converter."""

    async def convert(self, objects: Sequence[Object], wanted: str) -> list[Object]: ...


class Converter:
    """Asks one definition's webhook. `versions` are the ConversionReview versions that it understands."""

    def __init__(self, versions: Sequence[str], ask: Ask) -> None:
        self._version = next((version for version in versions if version in ("v1", "v1beta1")), "v1")
        self._ask = ask

    async def convert(self, objects: Sequence[Object], wanted: str) -> list[Object]:
        """All of `objects`, which are of other versions, in the version wanted, by one call. Raises 500."""
        if not objects:
            return []
        first = objects[0]
        what = f"conversion webhook for {first['apiVersion']}, Kind={first['kind']}"
        uid = str(uuid.uuid4())
        api_version = f"{GROUP}/{self._version}"
        request = {"uid": uid, "desiredAPIVersion": wanted, "objects": objects}
        try:
            answer = await self._ask(orjson.dumps({"kind": "ConversionReview", "apiVersion": api_version, "request": request}))
            converted = _objects(answer, uid, api_version)
        except CallFailed as error:
            raise _failed(f"{what} failed: {error}") from None
        if len(converted) != len(objects):
            raise _failed(f"{what} returned {len(converted)} objects, expected {len(objects)}")
        return [_checked(what, index, old, new, wanted) for index, (old, new) in enumerate(zip(objects, converted, strict=True))]


def _failed(message: str) -> StatusError:
    return StatusError(500, "", message)


def _objects(answer: bytes, uid: str, api_version: str) -> list[Any]:
    """What an answer holds, if it is one to our question."""
    try:
        review = orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        raise CallFailed(str(error)) from None
    if not isinstance(review, dict) or (review.get("apiVersion"), review.get("kind")) != (api_version, "ConversionReview"):
        given = f"{review.get('apiVersion', '')}, Kind={review.get('kind', '')}" if isinstance(review, dict) else "/, Kind="
        raise CallFailed(f"expected webhook response of {api_version}, Kind=ConversionReview, got {given}")
    response = review.get("response")
    if not isinstance(response, dict):
        raise CallFailed("no response provided")
    if response.get("uid") != uid and api_version.endswith("/v1"):
        raise CallFailed(f'expected response.uid="{uid}", got "{response.get("uid") or ""}"')
    result = response.get("result") or {}
    if result.get("status") != "Success":
        raise CallFailed(result.get("message") or f"response.result.status was '{result.get('status') or ''}', not 'Success'")
    found: list[Any] = response.get("convertedObjects") or []
    return found


def _checked(what: str, index: int, old: Object, new: Any, wanted: str) -> Object:
    """A converted object with the original's metadata, of which a webhook may change labels and annotations alone."""
    begin = f"{what} returned invalid converted object at index {index}: "
    if not isinstance(new, dict):
        raise _failed(f"{begin}Object 'Kind' is missing")
    if new.get("apiVersion") != wanted:
        raise _failed(f"{begin}invalid groupVersion (expected {wanted}, received {new.get('apiVersion') or ''})")
    if new.get("kind") != old["kind"]:
        raise _failed(f"{begin}invalid kind (expected {old['kind']}, received {new.get('kind') or ''})")
    metadata, before = new.get("metadata"), old["metadata"]
    given = metadata if isinstance(metadata, dict) else {}
    for field, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        one, other = before.get(field) or "", given.get(field) or ""
        if one != other:
            raise _failed(f"{begin}must have the same {name}: {one} != {other}")
    try:
        return {**new, "metadata": _restored(before, metadata)}
    except _BadMetadata as error:
        raise _failed(f"{what} returned invalid metadata in object at index {index}: {error}") from None


def _restored(before: Mapping[str, Any], given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _BadMetadata("missing metadata in converted object")
    metadata = {name: value for name, value in before.items() if name not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        value = given.get(field)
        if value is None:
            continue
        if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
            raise _BadMetadata(f"metadata.{field}: Invalid value: must be a map of strings")
        if value:
            metadata[field] = value
    return metadata


# --- code that cannot wait ---


def _key(obj: Object, wanted: str) -> tuple[bytes, str]:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _VOLATILE}
    text = orjson.dumps({**obj, "metadata": metadata}, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).digest(), wanted


def known(obj: Object, wanted: str) -> Object:
    """The object in the version wanted, if this request has asked for it before. Raises NeedsConversion."""
    found = (_made.get() or {}).get(_key(obj, wanted))
    if found is None:
        raise NeedsConversion(obj, wanted)
    copy: Object = orjson.loads(orjson.dumps(found))
    metadata = {name: value for name, value in obj["metadata"].items() if name not in ("labels", "annotations")}
    chosen = {name: copy["metadata"][name] for name in ("labels", "annotations") if name in copy["metadata"]}
    return {**copy, "metadata": {**metadata, **chosen}}


async def in_rounds(converter: Answering, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do `work`; whenever it needs an object in another version, which it does before it writes, ask and do it again."""
    found: Made = {}
    token = _made.set(found)
    try:
        for _ in range(_ROUNDS):
            try:
                return await work()
            except NeedsConversion as need:
                (made,) = await converter.convert([need.obj], need.wanted)
                found[_key(need.obj, need.wanted)] = made
        raise _failed(f"conversion webhook: more than {_ROUNDS} versions are needed for one request")
    finally:
        _made.reset(token)
