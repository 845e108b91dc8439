"""Changes that a subresource makes to its object itself: admission has seen what was asked for, it does not see the change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from setpoint.api.machinery.schema.canonical import NOTHING
from setpoint.apiserver.generic_store import update as updating
from setpoint.apiserver.generic_store.store import GenericStore, NoAdmission, Outcome
from setpoint.registry.strategy import Context, Object, Strategy


class _Plain(Strategy):
    """Changes exactly what is to be changed: no hook of the object's own endpoint has a say."""

    def validate(self, context: Context, obj: Object) -> list[Any]:
        return []


_PLAIN = _Plain()


class _Unasked(GenericStore):
    """A store whose objects are written without admission."""

    def __init__(self, store: GenericStore) -> None:
        super().__init__(store.resource, store.store, store.clock, NoAdmission(), store.given_canonical)

    def finish(self, obj: Object, strategy: Strategy, old: Mapping[str, Any] = NOTHING) -> None:
        """What is made of a stored object and a few values is in stored form as it is."""


_UNASKED: WeakKeyDictionary[GenericStore, _Unasked] = WeakKeyDictionary()


def _unasked(store: GenericStore) -> _Unasked:
    """Made once for each store."""
    found = _UNASKED.get(store)
    if found is None:
        found = _UNASKED[store] = _Unasked(store)
    return found


async def change(store: GenericStore, context: Context, name: str, compute: Callable[[Object], Awaitable[Object]]) -> Outcome:
    """Write what `compute` makes of the object, again where another write came between. Raises what `compute` raises.

    It gets the object as it is stored and leaves it so; the metadata that it gives is always its own.
    """
    wanted = updating.Update(name=name, compute=compute, strategy=_PLAIN, patch=True, copies=True)
    return await updating.update(_unasked(store), context, wanted)
