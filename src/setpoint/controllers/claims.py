"""Who controls what: claiming by selector and owner reference, as Kubernetes' ControllerRefManager does.

The rule (`pkg/controller/controller_ref_manager.go`, ClaimObject): an object is a controller's own if its controller reference
has the controller's uid. An own object that the selector no longer matches is released; an orphan that it matches is adopted —
unless either of the two is being deleted. What another controller owns is left alone, whatever its labels.

`sort` decides without writing; `Claims` writes: before its first adoption it reads the controller afresh from the server, since a
cache may not yet know that the controller is being deleted or was replaced by a namesake, and then what it adopted would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from setpoint.api.machinery.resource import Resource
from setpoint.api.machinery.selectors import LabelSelector, from_object
from setpoint.api.machinery.status import StatusError
from setpoint.client.client import ClientProtocol
from setpoint.client.objects import HasMetadata
from setpoint.client.owners import controller_of, controller_reference
from setpoint.client.store import Store

T = TypeVar("T", bound=HasMetadata)
BY_CONTROLLER = "controller"


def by_controller(obj: Any) -> tuple[str, ...]:
    """Index function for BY_CONTROLLER: the uid of the controller; `orphans_of(namespace)` for an object without one."""
    ref = controller_of(obj.metadata)
    return (ref.uid if ref is not None else orphans_of(obj.metadata.namespace),)


def orphans_of(namespace: str) -> str:
    """The index value of a namespace's orphans (uids have no slash)."""
    return f"{namespace}/"


def own_and_orphans(objects: Store[T], owner: Any) -> list[T]:
    """What an owner of that metadata controls, and what it might adopt; the store has the index BY_CONTROLLER."""
    return [*objects.by_index(BY_CONTROLLER, owner.uid), *objects.by_index(BY_CONTROLLER, orphans_of(owner.namespace))]


@lru_cache(maxsize=4096)
def _compiled(encoded: bytes) -> LabelSelector:
    return from_object(msgspec.json.decode(encoded))


#: Structs and their matchers, by the Structs' `id`: they are frozen, and the same ones are asked about with every pod
_recent: dict[int, tuple[Any, LabelSelector]] = {}
_REMEMBERED = 4096


def selector_of(selector: Any) -> LabelSelector:
    """The matcher of a `metav1.LabelSelector` Struct; nothing matches where it is absent."""
    known = _recent.get(id(selector))
    if known is not None and known[0] is selector:
        return known[1]
    found = _compiled(msgspec.json.encode(selector, order="deterministic"))
    if len(_recent) >= _REMEMBERED:
        _recent.clear()
    _recent[id(selector)] = (selector, found)
    return found


def matches(selector: LabelSelector, obj: Any) -> bool:
    return selector.matches(obj.metadata.labels or {})


class Claim(Struct, Generic[T], frozen=True):
    """`owned` is what counts as the controller's own once `adopt` was adopted and `release` let go."""

    owned: tuple[T, ...]
    adopt: tuple[T, ...] = ()
    release: tuple[T, ...] = ()


def sort(owner: Any, selector: LabelSelector, objects: Iterable[T], member: Callable[[T], bool] = lambda _: True) -> Claim[T]:
    """Decide over each object in the owner's namespace; `member` is a condition beside the selector. Pure."""
    owned: list[T] = []
    adopt: list[T] = []
    release: list[T] = []
    dying = bool(owner.metadata.deletion_timestamp)
    for obj in objects:
        ref = controller_of(obj.metadata)
        matched = matches(selector, obj) and member(obj)
        if ref is not None:
            if ref.uid != owner.metadata.uid:
                continue
            if matched:
                owned.append(obj)
            elif not dying:
                release.append(obj)
        elif matched and not dying and not obj.metadata.deletion_timestamp:
            adopt.append(obj)
            owned.append(obj)
    return Claim(tuple(owned), tuple(adopt), tuple(release))


class Claims:
    """Writes the decisions of `sort` for objects of one resource on behalf of controllers of another.

    What is adopted gets the `finalizer`, if there is one, and what is released loses it.
    """

    def __init__(
        self, client: ClientProtocol, controllers: Resource[Any], objects: Resource[Any], *, finalizer: str = ""
    ) -> None:
        self._client = client
        self._finalizer = finalizer
        self._controllers = controllers
        self._objects = objects

    async def settle(self, owner: Any, adopt: Sequence[Any], release: Sequence[Any]) -> bool:
        """Adopt and release; tell whether all still were there. Raises StatusError for refusals that are to be retried."""
        if adopt:
            await self._may_adopt(owner)
        complete = True
        for obj in adopt:
            complete &= await self._adopt(owner, obj)
        for obj in release:
            complete &= await self._release(owner, obj)
        return complete

    async def _may_adopt(self, owner: Any) -> None:
        fresh = await self._client.get(self._controllers, owner.metadata.name, owner.metadata.namespace)
        if fresh.metadata.uid != owner.metadata.uid:
            raise StatusError(
                409,
                "Conflict",
                f"original {self._controllers.kind} {owner.metadata.namespace}/{owner.metadata.name} is gone: "
                f"got uid {fresh.metadata.uid}, wanted {owner.metadata.uid}",
            )
        if fresh.metadata.deletion_timestamp:
            raise StatusError(
                409,
                "Conflict",
                f"{owner.metadata.namespace}/{owner.metadata.name} has just been deleted at {fresh.metadata.deletion_timestamp}",
            )

    async def _adopt(self, owner: Any, obj: Any) -> bool:
        body = {"uid": obj.metadata.uid, "ownerReferences": [controller_reference(owner, self._controllers)]}
        if self._finalizer:
            body["finalizers"] = [self._finalizer]
        return await self._patch(obj, body)

    async def _release(self, owner: Any, obj: Any) -> bool:
        body = {"uid": obj.metadata.uid, "ownerReferences": [{"$patch": "delete", "uid": owner.metadata.uid}]}
        if self._finalizer:
            body["$deleteFromPrimitiveList/finalizers"] = [self._finalizer]
        try:
            return await self._patch(obj, body)
        except StatusError as error:
            if error.reason == "Invalid":  # no owner reference any more, or another object of this name
                return False
            raise

    async def _patch(self, obj: Any, metadata: dict[str, Any]) -> bool:
        try:
            await self._client.patch(
                self._objects, obj.metadata.name, {"metadata": metadata}, obj.metadata.namespace, kind="strategic"
            )
        except StatusError as error:
            if error.reason == "NotFound":
                return False
            raise
        return True
